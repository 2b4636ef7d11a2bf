"""Formats findings for code scanning, as SARIF 2.1.0 (OASIS, sarif-schema-2.1.0), and for GitHub Actions, as workflow commands."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from grove_cli.output import encoded, json_report
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.version import __version__

if TYPE_CHECKING:
    from grove_cli.reading.silencers import Silenced

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
HOME = "https://github.com/ai-dynamo/grove"

TOPICS = {
    "graph": "Objects of a result must have unique names and must not wait for each other.",
    "input": "A manifest must have a kind that is compiled, and must be declared once.",
    "json": "The file must be JSON.",
    "limit": "A set must not generate more objects than allowed.",
    "rules": "Rules and templates must be valid, and must not fail.",
    "silence": "A silenced finding must exist, must be a warning, and must have a reason.",
    "schema": "Manifests must have the structure of their kind.",
    "snapshot": "Existing objects must have the form in which an API server stores them.",
    "source": "The file must be text.",
    "yaml": "The file must be unambiguous YAML.",
}
"""Descriptions of built-in checks that are not rules, by the first part of their code."""


def as_sarif(
    findings: Sequence[Diagnostic], docs: Mapping[str, str], file_names: Mapping[str, str], silenced: Sequence[Silenced] = ()
) -> bytes:
    """Returns one run. `docs` are the rules' documentation by id, `file_names` the paths of the files of findings.

    What is silenced is there as well, as suppressed: services show it apart, with its reason.
    """
    codes = list(dict.fromkeys(finding.code for finding in (*findings, *(entry.finding for entry in silenced))))
    driver = {
        "name": "grove",
        "version": __version__,
        "semanticVersion": __version__,
        "informationUri": HOME,
        "rules": [_rule(code, docs) for code in codes],
    }
    results = [_result(finding, codes.index(finding.code), file_names) for finding in findings]
    for entry in silenced:
        suppression = {"kind": "inSource" if entry.is_in_source else "external", "justification": entry.reason}
        results.append({**_result(entry.finding, codes.index(entry.finding.code), file_names), "suppressions": [suppression]})
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json_report(log)


def _rule(code: str, docs: Mapping[str, str]) -> dict[str, Any]:
    topic, _, name = code.partition("/")
    doc = docs.get(code) or TOPICS.get(topic) or "A check of grove."
    words = re.split("[^A-Za-z0-9]+", f"{topic} {name}")
    return {"id": code, "name": "".join(word.capitalize() for word in words), "shortDescription": {"text": doc}}


def _result(finding: Diagnostic, index: int, file_names: Mapping[str, str]) -> dict[str, Any]:
    message = {"text": message_of(finding)}
    result: dict[str, Any] = {"ruleId": finding.code, "ruleIndex": index, "level": finding.severity, "message": message}
    location: dict[str, Any] = {}
    if finding.file:
        location["physicalLocation"] = {"artifactLocation": {"uri": _uri(file_names.get(finding.file, finding.file))}}
        if finding.line:
            region = {"startLine": finding.line} | ({"startColumn": finding.column} if finding.column else {})
            location["physicalLocation"]["region"] = region
    if finding.path:
        location["logicalLocations"] = [{"fullyQualifiedName": finding.path, "kind": "member"}]
    if location:
        result["locations"] = [location]
    return result


def message_of(finding: Diagnostic) -> str:
    """Returns the message of a finding with its type, field and hint."""
    text = ": ".join(part for part in (finding.path, finding.type, finding.message) if part)
    if finding.nearest:
        text += f'; did you mean "{finding.nearest}"?'
    return f"{text} ({finding.hint})" if finding.hint else text


def _uri(name: str) -> str:
    """Returns a file name as a URI, relative if the name is."""
    path = quote(name.encode("utf-8", "surrogateescape").replace(b"\\", b"/"), safe="/-._~")
    return f"file://{path}" if path.startswith("/") else path.removeprefix("./")


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
