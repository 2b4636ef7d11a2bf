"""Generates the tables of Grove's kinds from the models of grove_compiler/api: `python -m tools.generate_grove_schema`."""

from __future__ import annotations

from grove_compiler.api.tables import documents
from tools.generate_kubernetes_schemas import write

if __name__ == "__main__":
    for group, table in documents().items():
        write(group, table)
