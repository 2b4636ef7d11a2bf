"""Which files of a folder are no input: rules and their templates, golden cases, and whatever else is no manifest.

Who names a file means it, so all this is about files that were found in folders.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from grove_compiler.source.document import Document
from grove_operator.reading.files import InputFile
from grove_operator.terminal import visible

CASE_FILES = {"input.yaml", "expected.yaml"}, {"input.yaml", "expected-findings.yaml"}
MOST_NAMES = 3

Read = tuple[InputFile, list[Document]]


class Sorted(NamedTuple):
    """The documents that are input, the files that are none, and those with a configuration that does not count."""

    documents: list[Document]
    passed: list[str]
    configurations: list[str]

    def notice(self, config: str | None) -> str:
        """Returns what was passed over, a line each; empty when nothing was."""
        lines = []
        if self.passed:
            lines.append(f"grove: no manifests, so passed over: {_listed(self.passed)}\n")
        if self.configurations:
            lines.append(f"grove: the configuration of {visible(config or '')} counts, not that of {_listed(self.configurations)}\n")
        return "".join(lines)


def pass_over(read: Sequence[Read], config: str | None) -> Sorted:
    """Returns what of these files is input. With `config`, a file of its own, configurations in folders do not count."""
    rules = {_rules_folder(file.name) for file, documents in read if file.is_found and any(_is_rule(one.value) for one in documents)}
    cases = _cases(file.name for file, _ in read if file.is_found)
    result = Sorted([], [], [])
    for file, documents in read:
        folder = os.path.dirname(file.name)
        is_template = os.path.basename(folder) == "templates" and os.path.dirname(folder) in rules
        if not file.is_found:
            result.documents.extend(documents)
        elif is_template or folder in cases or (documents and not any(_is_manifest(one.value) for one in documents)):
            result.passed.append(file.name)
        else:
            wanted = [one for one in documents if not (config and _is_configuration(one.value))]
            result.documents.extend(wanted)
            result.configurations.extend([file.name] if len(wanted) < len(documents) else [])
    return result


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(visible, names[:MOST_NAMES])) + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")


def _cases(names: Iterable[str]) -> set[str]:
    """Returns the folders that are golden cases."""
    folders: dict[str, set[str]] = {}
    for name in names:
        folders.setdefault(os.path.dirname(name), set()).add(os.path.basename(name))
    return {folder for folder, files in folders.items() if any(case <= files for case in CASE_FILES)}


def _rules_folder(name: str) -> str:
    """Returns the folder that `--rules` would name for a file of rules."""
    folder = os.path.dirname(name)
    return os.path.dirname(folder) if os.path.basename(folder) == "rules" else folder


def _is_rule(value: Any) -> bool:
    return isinstance(value, dict) and "rule" in value and "kind" not in value


def _is_manifest(value: Any) -> bool:
    """Tells whether it is meant as one; half a manifest is."""
    return isinstance(value, dict) and ("apiVersion" in value or "kind" in value)


def _is_configuration(value: Any) -> bool:
    return isinstance(value, dict) and value.get("kind") == "OperatorConfiguration"
