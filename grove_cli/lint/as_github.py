"""Formats findings as workflow commands, which GitHub Actions shows beside the lines of a pull request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grove_cli.lint.as_sarif import message_of
from grove_cli.output import encoded
from grove_compiler.graph.diagnostic import Diagnostic


def as_github(findings: Sequence[Diagnostic], file_names: Mapping[str, str]) -> bytes:
    """Returns an `::error` or `::warning` for each finding. `file_names` are the paths of the files of findings."""
    return encoded("".join(_command(finding, file_names) + "\n" for finding in findings))


def _command(finding: Diagnostic, file_names: Mapping[str, str]) -> str:
    properties: dict[str, str] = {}
    if finding.file:
        properties["file"] = file_names.get(finding.file, finding.file)
        if finding.line:
            properties["line"] = str(finding.line)
        if finding.line and finding.column:
            properties["col"] = str(finding.column)
    properties["title"] = finding.code
    labels = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{finding.severity} {labels}::{_data(message_of(finding))}"


def _data(text: str) -> str:
    """Escapes a message as the runner requires, for which a line break ends the command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
