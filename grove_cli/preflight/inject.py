"""Implements `grove preflight inject`: prints pods with injected checks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from grove_cli import findings
from grove_cli import output as outputs
from grove_cli.errors import UnreadableInput
from grove_cli.options import FILES, adding, files_arguments, output_option, preflight_values_option, rules_option, take_files
from grove_cli.preflight.values import values_of
from grove_cli.program import LoadedRules
from grove_cli.reading.inputs import InputReader
from grove_compiler.graph.diagnostic import Diagnostic, has_errors
from grove_compiler.graph.field_path import parse
from grove_compiler.graph.node import Manifest
from grove_compiler.kube.definitions import DEFINITIONS
from grove_compiler.kube.structure import check
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.preflight import Injection, inject
from grove_compiler.source.document import Document, objects_in


@click.command(
    "inject",
    epilog="""\b
Examples:
  grove preflight inject pod.yaml                          the pod, with its checks
  grove preflight inject pod.yaml -o patch                 the JSON Patch that admission answers with
  grove preflight inject pod.yaml --values values.yaml --snapshot now.yaml
  kubectl get pod a -o yaml | grove preflight inject -

\b
Exit codes: 0 success, also for pods that get no checks, 1 a pod would be rejected, 2 usage error or unreadable input.""",
)
@adding(*files_arguments)
@preflight_values_option("--values")
@click.option("--snapshot", metavar="FILE", type=FILES, help="Existing objects: claims, their templates, device classes, gangs.")
@click.option("-n", "--namespace", default="default", show_default=True, help="Namespace of pods that name none.")
@rules_option
@output_option("yaml", "json", "patch", help_text="Output format: the pods, or the JSON Patch of a single pod.")
def command(values: str | None, snapshot: str | None, namespace: str, rules: tuple[str, ...], output: str, **options: Any) -> int:
    """Print pods with the checks that admission injects.

    FILE contains pods; other objects, such as ResourceClaims, are treated as existing. No cluster is accessed.
    """
    reader, book = InputReader(), LoadedRules(rules)
    documents = reader.documents(take_files(options))
    existing = reader.snapshot(snapshot) if snapshot else []
    preflight = values_of(values, reader)
    given = [
        (document, at, manifest) for document in documents for at, manifest in objects_in(document.value) if isinstance(manifest, dict)
    ]
    pods = [each for each in given if each[2].get("kind") == "Pod"]
    if not pods or (output == "patch" and len(pods) > 1):
        sets = any(manifest.get("kind") == "PodCliqueSet" for _, _, manifest in given)
        hint = "; for the pods of a PodCliqueSet use `grove compile --preflight`" if sets else ""
        raise UnreadableInput([f"expected {'one Pod' if output == 'patch' else 'Pods'} in the input, found {len(pods) or 'none'}{hint}"])
    program = book.program()
    for document, at, manifest in pods:
        reader.problems += structural(document, at, manifest)
    if has_errors(reader.problems):
        findings.report(reader.problems, reader.find_file)
    view = ObjectList([*existing, *(manifest for _, _, manifest in given if manifest.get("kind") != "Pod")])
    results = [inject(manifest, view, preflight, program, namespace) for _, _, manifest in pods]
    problems = list(reader.problems)
    for (document, at, _), result in zip(pods, results, strict=True):
        problems += _located(result.findings, document, at)
    findings.report(problems, reader.find_file, book.find_file)
    outputs.write(_printed(results, output))
    return 0


def structural(document: Document, at: tuple[str | int, ...], manifest: Manifest) -> Iterator[Diagnostic]:
    """Yields findings about pods that an API server could not decode; unknown fields are allowed, as they may be newer."""
    for path, finding in check(manifest, {"ref": "core/v1.Pod"}, DEFINITIONS):
        if finding.code != "schema/unknown-field":
            finding.file = document.file
            finding.line, finding.column = document.place((*at, *path))
            yield finding


def _located(problems: Sequence[Diagnostic], document: Document, at: tuple[str | int, ...]) -> Iterator[Diagnostic]:
    for finding in problems:
        if not finding.file:  # a failed rule has its own
            finding.file = document.file
            finding.line, finding.column = document.place((*at, *parse(finding.path)))
        yield finding


def _printed(results: Sequence[Injection], output: str) -> Iterator[bytes]:
    if output == "patch":
        yield outputs.json_report(results[0].patch)
        return
    pods: list[Manifest] = [result.injected for result in results]
    yield from outputs.WRITERS[output](pods)
