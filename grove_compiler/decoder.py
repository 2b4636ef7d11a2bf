"""Decodes documents into manifests that rules can read: sorted by kind, checked against their schemas, and defaulted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from types import SimpleNamespace
from typing import Any, Protocol

from grove_compiler.engine.runtime.failure import RuleFailure
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.field_path import FieldPath, parse, reindex
from grove_compiler.graph.nearest import nearest
from grove_compiler.graph.node import Manifest
from grove_compiler.kube.defaults import apply_defaults
from grove_compiler.kube.definitions import DEFINITIONS, KINDS
from grove_compiler.kube.schema_completer import SchemaCompleter
from grove_compiler.kube.structure import FaultTree, Finding, check_and_prune, fault_tree, original_path
from grove_compiler.model.spec.minimums import with_former_minimums
from grove_compiler.record import record
from grove_compiler.source.document import Document, objects_in
from kube_objects.manifest import group_of

SET_KIND = "PodCliqueSet"
CONFIGURATION_KIND = "OperatorConfiguration"
CLAIM_TEMPLATE_KIND = "ResourceClaimTemplate"
AUTOSCALER_KIND = "HorizontalPodAutoscaler"
TOPOLOGY_KINDS = ("ClusterTopology", "ClusterTopologyBinding")
COMPLETER = SchemaCompleter(DEFINITIONS)
NONE: Mapping[tuple[str, str, str], Manifest] = {}
UNKNOWN_FIELD = "schema/unknown-field"
"""The code of a finding about a field that this release does not know."""


@record(slots=False)
class Decoded:
    """A manifest after the check of its structure and defaulting, without its invalid parts.

    `at` is its path in the document (not the root for an item of a `List`), `structural` the findings about its structure, `findings` all
    findings so far. `is_defaulted` is false where a `default` rule failed.
    """

    manifest: Manifest
    document: Document
    at: FieldPath
    structural: list[Finding] = field(default_factory=list)
    findings: list[Diagnostic] = field(default_factory=list)
    is_defaulted: bool = True

    @cached_property
    def faults(self) -> list[FieldPath]:
        """The paths that were dropped for an invalid value, in contrast to unknown fields."""
        return [path for path, finding in self.structural if finding.severity == "error" and finding.code != UNKNOWN_FIELD]

    @property
    def kind(self) -> str:
        return str(self.manifest.get("kind"))

    @property
    def key(self) -> tuple[str, str, str]:
        """Kind, namespace and name."""
        metadata = self.manifest.get("metadata") or {}
        return self.kind, str(metadata.get("namespace") or ""), str(metadata.get("name") or "")

    @cached_property
    def _fault_tree(self) -> FaultTree | None:
        return fault_tree(self.structural)

    def locate(self, finding: Diagnostic) -> Diagnostic:
        """Sets the file, line and column of a finding by its path; returns it."""
        finding.file = self.document.file
        finding.line, finding.column = self.document.place((*self.at, *parse(finding.at or finding.path)))
        return finding

    def restore(self, finding: Diagnostic) -> Diagnostic:
        """Converts a finding about `manifest` to one about the document, where dropped parts still count as list items; returns it."""
        if self.structural:
            finding.path, finding.at = self._original(finding.path), self._original(finding.at)
        return self.locate(finding)

    def _original(self, path: str) -> str:
        return reindex(path, original_path(parse(path), self._fault_tree))


class InputRules(Protocol):
    """What reading inputs needs of rules: a `Program`, or in an explanation what tracks the inputs instead of validating them."""

    @property
    def decisions(self) -> SimpleNamespace:
        """The functions of `decide` rules, by their names."""

    def default(self, kind: str, manifest: Manifest, scope: Mapping[str, Any], report: Callable[[Diagnostic], None], /) -> Manifest:
        """Returns the manifest with its defaults; `report` gets a warning for each value that a rule replaces."""

    def validate(self, scope: Mapping[str, Any], operation: str, about: str, /, *, errors_only: bool = False) -> list[Diagnostic]:
        """Returns the findings of the `validate` rules for a kind and an operation."""


def _head(manifest: Manifest) -> Manifest:
    """Returns only what identifies an object: apiVersion, kind, name and namespace, as far as they are text."""
    metadata = manifest.get("metadata")
    present = metadata if isinstance(metadata, dict) else {}
    names = {key: present[key] for key in ("name", "namespace") if isinstance(present.get(key), str)}
    return {"apiVersion": manifest["apiVersion"], "kind": manifest["kind"], "metadata": names}


class Decoder:
    """Decodes documents one by one into `decoded`. `findings` holds all findings, in the order of the documents.

    `others` are the objects of foreign kinds, which are not compiled. `is_complete` becomes false when a part of the input cannot be
    assigned to an object: an object that is missing may then only be unreadable. `former` has the states before an update, defaulted, by
    kind, namespace and name (see `model.spec.minimums`).
    """

    def __init__(self, program: InputRules, scope: Mapping[str, Any], former: Mapping[tuple[str, str, str], Manifest] = NONE) -> None:
        self.program = program
        self.scope = scope
        self._former = former
        self.decoded: list[Decoded] = []
        self.others: list[Manifest] = []
        self.findings: list[Diagnostic] = []
        self.is_complete = True
        self._ignored_kinds: dict[str, tuple[Diagnostic, int]] = {}

    def of_kind(self, *kinds: str) -> list[Decoded]:
        """Returns the decoded objects of these kinds, in order."""
        return [entry for entry in self.decoded if entry.kind in kinds]

    def take(self, documents: list[Document]) -> list[Decoded]:
        """Decodes documents; the items of lists count as documents of their own. Returns all that were decoded so far."""
        for document in documents:
            for at, value in objects_in(document.value):
                self._object(document, at, value)
        self._report_duplicates()
        return self.decoded

    def _object(self, document: Document, at: FieldPath, value: Any) -> None:
        if not isinstance(value, dict):
            self._add(document, at, "input/not-an-object", "a manifest must be a map with `apiVersion`, `kind`, `metadata` and `spec`")
            return
        missing = [key for key in ("apiVersion", "kind") if not isinstance(value.get(key), str) or not value[key]]
        if missing:
            for key in missing:
                self._add(document, (*at, key), "input/not-an-object", f"`{key}` is missing or not text", type="Required value")
            return
        schema = KINDS.get((value["apiVersion"], value["kind"]))
        if schema is not None:
            self._known(document, at, value, schema)
        else:
            self._unknown(document, at, value)

    def _known(self, document: Document, at: FieldPath, value: Manifest, schema: Mapping[str, Any]) -> None:
        complete = COMPLETER.completed(value, schema["ref"])
        structural: list[Finding] = []
        is_readable = complete is not None
        if complete is None:
            structural, cleaned = check_and_prune(value, dict(schema), DEFINITIONS)
            is_readable = cleaned is not None  # None when the root is invalid, or checking stopped at the limit of findings
            complete = apply_defaults(cleaned if is_readable else _head(value), dict(schema), DEFINITIONS)
        entry = Decoded(complete, document, at, structural)
        for path, finding in structural:
            if path[:1] == ("status",):  # a dump of a cluster has it, and operators of other releases write other fields
                finding.severity = "warning"
            self.report(entry.locate(finding), entry)
        if not is_readable:
            entry.is_defaulted = False
            self.decoded.append(entry)
            return

        def warn(finding: Diagnostic) -> None:
            self.report(entry.restore(finding), entry)

        if (former := self._former.get(entry.key)) is not None:
            entry.manifest = with_former_minimums(entry.manifest, former)
        try:
            entry.manifest = self.program.default(value["kind"], entry.manifest, self.scope, warn)
        except RuleFailure as failure:
            entry.is_defaulted = False  # still decoded: a missing set would count as deleted, and be pruned
            self.report(failure.diagnostic, entry)
        self.decoded.append(entry)

    def _unknown(self, document: Document, at: FieldPath, value: Manifest) -> None:
        group = group_of(value["apiVersion"])
        kinds = [kind for known, kind in KINDS if known == value["apiVersion"]]
        if kinds:
            likely = nearest(value["kind"], kinds)
            self._add(
                document,
                (*at, "kind"),
                "input/unknown-kind",
                f"{value['apiVersion']} has no kind {value['kind']!r}; the kinds are {', '.join(kinds)}",
                nearest=likely,
            )
            return
        versions = [known for known, kind in KINDS if kind == value["kind"]]
        if versions or group.endswith("grove.io"):
            likely = versions[0] if versions else nearest(value["apiVersion"], [known for known, _ in KINDS])
            message = f"unknown apiVersion {value['apiVersion']!r} for the kind {value['kind']!r}"
            self._add(document, (*at, "apiVersion"), "input/unknown-version", message, nearest=likely)
            return
        self.others.append(value)
        self._report_ignored(document, at, f"{value['kind']} ({value['apiVersion']})", value["kind"])

    def _report_ignored(self, document: Document, at: FieldPath, what: str, kind: str) -> None:
        """Reports an object that is not compiled, once for each kind: a dump of a cluster would give hundreds of lines about Nodes."""
        finding, count = self._ignored_kinds.get(what, (None, 0))
        if finding is None:
            likely = nearest(kind, [known for _, known in KINDS])
            message = f"{what} is not compiled and does not affect the result"
            finding = self._add(document, (*at, "kind"), "input/ignored", message, severity="warning", nearest=likely)
        else:
            finding.message = f"{count + 1} objects of the kind {what} are not compiled and do not affect the result; this is the first"
        self._ignored_kinds[what] = finding, count + 1

    def _report_duplicates(self) -> None:
        first: dict[tuple[str, str, str], Decoded] = {}
        for entry in self.decoded:
            other = first.setdefault(entry.key, entry)
            if other is not entry and entry.key[2]:
                place = f"{other.document.file}:{other.document.place((*other.at, 'metadata', 'name'))[0]}"
                where = f" of the namespace {entry.key[1]!r}" if entry.key[1] else ""
                message = f"the {entry.kind} {entry.key[2]!r}{where} is already declared in {place}"
                path = (*entry.at, "metadata", "name")
                self._add(entry.document, path, "input/declared-twice", message, (entry, other), type="Duplicate value")

    def _add(self, document: Document, path: FieldPath, code: str, message: str, about: Sequence[Decoded] = (), **more: Any) -> Diagnostic:
        finding = document.finding(code, message, path, **more)
        self.report(finding, *about)
        return finding

    def report(self, finding: Diagnostic, *about: Decoded) -> None:
        """Records a finding about these objects; an error about no object makes the input incomplete (`is_complete`)."""
        self.findings.append(finding)
        for entry in about:
            entry.findings.append(finding)
        if not about and finding.severity == "error":
            self.is_complete = False
