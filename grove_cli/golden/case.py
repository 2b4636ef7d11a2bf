"""Finds and reads test cases: folders with an input, its options, and expected results.

| file | holds |
|---|---|
| `input.yaml` | what is compiled, as for `grove compile` |
| `config.yaml`, `snapshot.yaml`, `old.yaml` | an OperatorConfiguration, what exists already, the same sets before an update |
| `options.yaml` | see `options` |
| `rules/` | rules and templates of this case alone |
| `expected.yaml` | all generated objects |
| `expected-findings.yaml` | every finding |
| `asserts.yaml` | parts of what comes out: a field, a count, an absence; see `asserts` |
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from grove_cli.errors import UnreadableInput, os_reason
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.nearest import nearest
from grove_compiler.record import record

INPUT = "input.yaml"
EXPECTED = "expected.yaml"
EXPECTED_FINDINGS = "expected-findings.yaml"
ASSERTS = "asserts.yaml"
OPTIONS = "options.yaml"
RULES = "rules"
INPUTS = {"config": "config.yaml", "snapshot": "snapshot.yaml", "old": "old.yaml"}
FILES = (INPUT, *INPUTS.values(), OPTIONS, EXPECTED, EXPECTED_FINDINGS, ASSERTS)
MARKS = {INPUT, EXPECTED, EXPECTED_FINDINGS, ASSERTS}
"""Each of these makes a folder a case, so that a case without its input is an error and not ignored."""


@record
class Case:
    """The folder of a case, by its path, with the names of its files."""

    name: str
    files: frozenset[str]

    def path(self, file: str) -> str:
        """Returns the path of a file of the case."""
        return os.path.join(self.name, file)

    def has(self, file: str) -> bool:
        return file in self.files

    @property
    def problems(self) -> list[Diagnostic]:
        """Errors of the folder itself."""
        result = [] if self.has(INPUT) else [self._problem("case/no-input", f"{INPUT}, the manifests to compile, is missing", "")]
        for file in sorted(self.files):
            if file.endswith((".yaml", ".yml", ".json")) and file not in FILES:
                message = f"{file} is not a file of a case; the files are {', '.join(FILES)} and the folder {RULES}/"
                result.append(self._problem("case/unknown-file", message, nearest(file, FILES)))
        return result

    def _problem(self, code: str, message: str, suggestion: str) -> Diagnostic:
        return Diagnostic(code, "error", message, file=self.name, nearest=suggestion)


def find_cases(folders: Sequence[str]) -> list[Case]:
    """Returns the cases in folders and their subfolders, each once, sorted by name within a folder.

    A case holds no other cases. Hidden folders are left out. Raises `UnreadableInput` for a folder that cannot be read and for
    one without any case.
    """
    result: dict[str, Case] = {}
    problems = []
    for folder in folders:
        try:
            cases = list(_walk(os.path.normpath(folder)))
        except OSError as error:
            problems.append(f"{folder}: {os_reason(error)}")
            continue
        if not cases:
            problems.append(f"{folder}: no cases here: a case is a folder with an {INPUT}")
        for case in cases:
            result.setdefault(os.path.realpath(case.name), case)
    if problems:
        raise UnreadableInput(problems)
    return list(result.values())


def _walk(folder: str) -> Iterator[Case]:
    """Does not follow links below the folder itself, as they may form a cycle."""
    with os.scandir(folder) as scanned:
        entries = sorted(scanned, key=lambda entry: entry.name)
    names = frozenset(entry.name for entry in entries)
    if names & MARKS:
        yield Case(folder, names)
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False) and entry.name[0] != ".":
            yield from _walk(os.path.join(folder, entry.name))
