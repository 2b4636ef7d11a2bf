"""The text of expectations, from what came out. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from grove_compiler.graph.diagnostic import Diagnostic, has_errors
from grove_compiler.graph.node import Manifest
from grove_compiler.source.yaml_writer import write_yaml
from grove_operator.golden.case import EXPECTED, EXPECTED_FINDINGS
from grove_operator.golden.expected_findings import describe


def first_expectations(findings: Sequence[Diagnostic]) -> list[str]:
    """Returns the files that a case gets which has none: objects unless there are errors, findings if there are any."""
    names = [] if has_errors(list(findings)) else [EXPECTED]
    return [*names, EXPECTED_FINDINGS] if findings else names


def objects_text(objects: Sequence[Manifest], former: bytes = b"") -> bytes:
    """Returns `expected.yaml` for these objects, under the comments that the file began with."""
    return _head(former) + write_yaml(objects).encode("utf-8", "backslashreplace")


def findings_text(findings: Sequence[Diagnostic], former: bytes = b"") -> bytes:
    """Returns `expected-findings.yaml` for these findings, under the comments that the file began with."""
    return _head(former) + write_yaml([[describe(finding) for finding in findings]]).encode("utf-8", "backslashreplace")


def _head(former: bytes) -> bytes:
    """Returns the comments that a file begins with."""
    lines = []
    for line in former.splitlines(keepends=True):
        if not line.startswith(b"#"):
            break
        lines.append(line if line.endswith(b"\n") else line + b"\n")
    return b"".join(lines)
