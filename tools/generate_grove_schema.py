"""Writes the tables of grove_compiler/kube from the models of grove_compiler/api: `python tools/generate_grove_schema.py`."""

from __future__ import annotations

from pathlib import Path

from grove_compiler.api.tables import modules

FOLDER = Path(__file__).parent.parent / "grove_compiler" / "kube"

if __name__ == "__main__":
    for name, text in modules().items():
        (FOLDER / f"{name}.py").write_text(text, encoding="utf-8")
