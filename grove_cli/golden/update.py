"""Writes expectations from actual results. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from grove_cli.golden.case import EXPECTED, EXPECTED_FINDINGS
from grove_cli.golden.expected_findings import describe
from grove_compiler.graph.diagnostic import Diagnostic, has_errors
from grove_compiler.graph.node import Manifest
from grove_compiler.source.yaml_writer import write_yaml


def first_expectations(findings: Sequence[Diagnostic]) -> list[str]:
    """Returns the files of a new case: objects unless there are errors, and findings if there are any."""
    names = [] if has_errors(list(findings)) else [EXPECTED]
    return [*names, EXPECTED_FINDINGS] if findings else names


def objects_text(objects: Sequence[Manifest], former: bytes = b"") -> bytes:
    """Returns `expected.yaml` for objects, with the leading comments of the old file."""
    return _head(former) + write_yaml(objects).encode("utf-8", "backslashreplace")


def findings_text(findings: Sequence[Diagnostic], former: bytes = b"") -> bytes:
    """Returns `expected-findings.yaml` for findings, with the leading comments of the old file."""
    return _head(former) + write_yaml([[describe(finding) for finding in findings]]).encode("utf-8", "backslashreplace")


def _head(former: bytes) -> bytes:
    """Returns the leading comments of a file."""
    lines = []
    for line in former.splitlines(keepends=True):
        if not line.startswith(b"#"):
            break
        lines.append(line if line.endswith(b"\n") else line + b"\n")
    return b"".join(lines)
