"""Skips files in folders that are not input: rules and templates, golden cases, and other YAML files.

Files that the user names explicitly are never skipped.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from grove_cli.reading.files import InputFile
from grove_cli.terminal import visible
from grove_compiler.source.document import Document
from kube_objects.words import listed

CASE_FILES = {"input.yaml", "expected.yaml"}, {"input.yaml", "expected-findings.yaml"}

Read = tuple[InputFile, list[Document]]


class Sorted(NamedTuple):
    """The input documents, the skipped files, and the files with ignored configurations."""

    documents: list[Document]
    skipped: list[str]
    configurations: list[str]

    def notice(self, config: str | None) -> str:
        """Returns a line for each kind of skipped files."""
        lines = []
        if self.skipped:
            lines.append(f"grove: skipped, since they are not manifests: {listed(map(visible, self.skipped))}\n")
        if self.configurations:
            others = listed(map(visible, self.configurations))
            lines.append(f"grove: using the configuration of {visible(config or '')}, not that of {others}\n")
        return "".join(lines)


def skip_others(read: Sequence[Read], config: str | None) -> Sorted:
    """Returns the input among files. With `config`, a separate file, configurations in folders are ignored."""
    rules = {
        _rules_folder(file.name) for file, documents in read if file.is_found and any(_is_rule(document.value) for document in documents)
    }
    cases = _cases(file.name for file, _ in read if file.is_found)
    result = Sorted([], [], [])
    for file, documents in read:
        folder = os.path.dirname(file.name)
        is_template = os.path.basename(folder) == "templates" and os.path.dirname(folder) in rules
        if not file.is_found:
            result.documents.extend(documents)
        elif is_template or folder in cases or (documents and not any(_is_manifest(document.value) for document in documents)):
            result.skipped.append(file.name)
        else:
            accepted = [document for document in documents if not (config and _is_configuration(document.value))]
            result.documents.extend(accepted)
            result.configurations.extend([file.name] if len(accepted) < len(documents) else [])
    return result


def _cases(names: Iterable[str]) -> set[str]:
    """Returns the folders of golden cases."""
    folders: dict[str, set[str]] = {}
    for name in names:
        folders.setdefault(os.path.dirname(name), set()).add(os.path.basename(name))
    return {folder for folder, files in folders.items() if any(case <= files for case in CASE_FILES)}


def _rules_folder(name: str) -> str:
    """Returns the folder that `--rules` would name for a rule file."""
    folder = os.path.dirname(name)
    return os.path.dirname(folder) if os.path.basename(folder) == "rules" else folder


def _is_rule(value: Any) -> bool:
    return isinstance(value, dict) and "rule" in value and "kind" not in value


def _is_manifest(value: Any) -> bool:
    """Reports whether a document looks like a manifest, which may be incomplete."""
    return isinstance(value, dict) and ("apiVersion" in value or "kind" in value)


def _is_configuration(value: Any) -> bool:
    return isinstance(value, dict) and value.get("kind") == "OperatorConfiguration"
