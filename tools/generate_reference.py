"""Generates the second half of docs/rules-language.md from the engine's tables and docstrings: `python -m tools.generate_reference`."""

from __future__ import annotations

from pathlib import Path

from grove_cli import rulebook
from grove_compiler.compile import VOCABULARY
from tools.rules_reference import replace_reference

PAGE = Path(__file__).parent.parent / "docs" / "rules-language.md"

if __name__ == "__main__":
    rules = rulebook.read().program(VOCABULARY).rules
    PAGE.write_text(replace_reference(PAGE.read_text(encoding="utf-8"), VOCABULARY, rules), encoding="utf-8")
