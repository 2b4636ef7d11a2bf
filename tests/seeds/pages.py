"""The designs as they were handed to us: their YAML and their tables, read from the folder beside the checkout at test time."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

FOLDER = Path(os.environ.get("GROVE_SEEDS") or Path(__file__).parents[2] / "../shared/seeds")
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^(#{1,6}) (.+)$", re.MULTILINE)

Manifest = dict[str, Any]


@dataclass
class Section:
    """A heading, those above it, and the text up to the next one."""

    title: str
    above: tuple[str, ...]
    text: str

    @property
    def manifests(self) -> list[Manifest]:
        """The documents of its YAML blocks."""
        blocks = [body for language, body in _FENCE.findall(self.text) if language == "yaml"]
        return [document for block in blocks for document in yaml.load_all(block, yaml.CSafeLoader)]

    @property
    def rows(self) -> list[list[str]]:
        """The rows of its tables, without their heads: the cells as they are written."""
        text = _FENCE.sub("", self.text)
        lines = [line.strip() for line in text.splitlines()]
        rows = []
        for number, line in enumerate(lines):
            below = lines[number + 1] if number + 1 < len(lines) else ""
            if line.startswith("|") and not _is_rule(line) and not _is_rule(below):
                rows.append([cell.strip() for cell in line.strip("|").split("|")])
        return rows


def read_page(name: str) -> list[Section]:
    """The sections of a design; skips the module's tests, in one line, when it is not there."""
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"no design {name} in {FOLDER}; GROVE_SEEDS names the folder", allow_module_level=True)
    text = path.read_text()
    fenced = [match.span() for match in _FENCE.finditer(text)]
    found = [match for match in _HEADING.finditer(text) if not any(start < match.start() < end for start, end in fenced)]
    sections: list[Section] = []
    stack: list[tuple[int, str]] = []
    for number, match in enumerate(found):
        level, title = len(match[1]), match[2]
        stack = [entry for entry in stack if entry[0] < level]
        end = found[number + 1].start() if number + 1 < len(found) else len(text)
        sections.append(Section(title, tuple(entry[1] for entry in stack), text[match.end() : end]))
        stack.append((level, title))
    return sections


def not_shown_alike(shown: Any, ours: Any, path: str = "") -> list[str]:
    """Where an object that is printed differs from ours, in the fields that are printed. Lists are printed whole."""
    if isinstance(shown, dict) and isinstance(ours, dict):
        missing = [f"{path}.{key}: not in ours" for key in shown if key not in ours]
        return missing + [line for key in shown if key in ours for line in not_shown_alike(shown[key], ours[key], f"{path}.{key}")]
    if isinstance(shown, list) and isinstance(ours, list) and len(shown) == len(ours):
        return [line for index in range(len(shown)) for line in not_shown_alike(shown[index], ours[index], f"{path}[{index}]")]
    return [] if shown == ours else [f"{path}: printed {shown!r}, ours {ours!r}"]


def _is_rule(line: str) -> bool:
    """Whether a line is the one between a table's head and its rows."""
    return line.startswith("|") and set(line) <= set("|-: ")
