"""Writes grove_compiler/kube/grove_schema.py from the models of grove_compiler/api: `python tools/generate_grove_schema.py`."""

from __future__ import annotations

from pathlib import Path

from grove_compiler.api.tables import render

MODULE = Path(__file__).parent.parent / "grove_compiler" / "kube" / "grove_schema.py"

if __name__ == "__main__":
    MODULE.write_text(render(), encoding="utf-8")
