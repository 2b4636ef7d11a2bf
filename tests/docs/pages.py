"""Pages whose examples are run.

A fenced block whose first line is a comment with a file's name is that file: `# rules/x.yaml`, `# templates/x.yaml`, `# input.yaml`,
`# old.yaml`. All rules and templates of a section (from one `##` to the next) are in force together. `# becomes` holds objects that
come out, or the parts of them that matter; `# finds` holds all findings. After `# mistake: rules/x.yaml` comes a block with what is said
about it. An input that stands in a section of its own is that of all sections after it.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from grove_cli.rulebook import Rulebook, RulebookFile
from grove_cli.rulebook import read as read_rulebook
from grove_compiler.compile import VOCABULARY, CompileResult, Inputs
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.engine.runtime.program import Program
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.source.reader import read_text

DOCS = Path(__file__).resolve().parents[2] / "docs"
_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEAD = re.compile(r"# (rules/[\w-]+\.yaml|templates/[\w/-]+\.yaml|input\.yaml|old\.yaml|becomes|finds|mistake: rules/[\w-]+\.yaml)\n")


@dataclass
class Section:
    """One section's blocks, by what they are."""

    page: str
    title: str
    files: dict[str, str] = field(default_factory=dict)
    input: str = ""
    becomes: list[str] = field(default_factory=list)
    finds: list[str] = field(default_factory=list)
    mistakes: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.page}: {self.title}"

    def program(self) -> Program:
        """The shipped rules with the section's."""
        return program_of(self.files)

    def compiled(self) -> CompileResult:
        documents, problems = read_text(self.input, "input.yaml")
        assert not problems
        return compile_inputs(Inputs(documents, settings=Settings(pods=True)), self.program())


def program_of(files: dict[str, str]) -> Program:
    """The shipped rules with some files more."""
    mine = [RulebookFile(name, name, "page", text.encode()) for name, text in files.items()]
    return Rulebook((*read_rulebook().files, *mine)).build(VOCABULARY)


def sections(page: str) -> list[Section]:
    """The sections of a page that have an example."""
    text = (DOCS / page).read_text()
    starts = [0, *(match.start() for match in _SECTION.finditer(text)), len(text)]
    found: list[Section] = []
    input = ""
    for start, end in itertools.pairwise(starts):
        section = _section(page, text[start:end])
        input = section.input = section.input or input
        found.append(section)
    return [section for section in found if section.files or section.becomes or section.finds or section.mistakes]


def _section(page: str, text: str) -> Section:
    section = Section(page, text.partition("\n")[0].lstrip("# "))
    blocks = [(match.group(1), match.group(2)) for match in _BLOCK.finditer(text)]
    for number, (_, body) in enumerate(blocks):
        head = _HEAD.match(body)
        if head is None:
            continue
        word = head.group(1)
        if word == "becomes":
            section.becomes.append(body)
        elif word == "finds":
            section.finds.append(body)
        elif word == "input.yaml":
            section.input = body
        elif word.startswith("mistake: "):
            section.mistakes.append((word.removeprefix("mistake: "), body, blocks[number + 1][1].strip()))
        else:
            section.files[word] = body
    return section


def objects_in(texts: list[str]) -> list[dict[str, Any]]:
    """The documents of some blocks."""
    return [document for text in texts for document in yaml.load_all(text, yaml.CSafeLoader)]


def is_part(part: Any, whole: Any) -> bool:
    """Whether everything that a page shows of a value is in it: keys of maps, items of lists in their order."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and is_part(value, whole[key]) for key, value in part.items())
    if isinstance(part, list):
        rest = iter(whole) if isinstance(whole, list) else iter(())
        return all(any(is_part(item, other) for other in rest) for item in part)
    return type(part) is type(whole) and bool(part == whole)
