"""Answers AdmissionReviews about sets and topologies, with the defaults and the findings of `grove lint`.

It reads existing objects from a cache and sends no requests, so that a review takes a few milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

from grove_compiler.accepted_findings import accept, errors_in
from grove_compiler.compile import Inputs, lint_manifests
from grove_compiler.graph.diagnostic import Diagnostic, has_errors
from grove_compiler.graph.node import Manifest
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ObjectReader, Snapshot
from grove_compiler.old_states import as_recorded
from grove_compiler.record import record
from grove_compiler.source.document import Document
from grove_compiler.step import StepContext
from grove_compiler.unknown import Unknown
from grove_operator.webhooks.effects import EffectsPreview
from grove_operator.wording import wording
from kube_objects import json_pointer
from kube_objects.manifest import group_of, section
from kube_objects.words import shortened

API_VERSION = "admission.k8s.io/v1"
UNPROCESSABLE = 422
MAX_WARNING_LENGTH, MAX_WARNINGS_LENGTH = 256, 4096
"""Characters of one warning and of all, beyond which an API server truncates or drops them (KEP-1693)."""
MAX_ERRORS = 100
"""Errors in one response; a set may have thousands."""
VALIDATED = ("spec", "labels", "annotations")
"""The parts of an object that validation rules read. An edit of other parts, such as finalizers, is always allowed."""


class NoReview(ValueError):
    """A body is not an AdmissionReview that can be answered. The message is one line, for the status 400."""


@record
class AdmissionRequest:
    """A request of an API server to admit `object` in place of `old`; each is empty when there is none.

    `resource` is the plural of the kind, as in URLs, and `user` the name of the requester.
    """

    uid: str
    operation: str
    namespace: str
    object: Manifest
    old: Manifest
    name: str = ""
    resource: str = ""
    user: str = ""
    is_dry_run: bool = False

    def names(self) -> Manifest:
        """Returns what a status calls the object: its name, group and kind, each if there is one."""
        one = self.object or self.old
        group, name = str(one.get("apiVersion", "")).rpartition("/")[0], (one.get("metadata") or {}).get("name")
        return {key: value for key, value in (("name", self.name or name), ("group", group), ("kind", one.get("kind"))) if value}

    @property
    def is_validated(self) -> bool:
        """Whether validation rules apply: not to objects being deleted, and not to an edit of parts that they do not read."""
        if self.operation not in ("CREATE", "UPDATE") or (self.old.get("metadata") or {}).get("deletionTimestamp"):
            return False
        return not self.old or _validated_parts(self.object) != _validated_parts(self.old)


@record
class Reviewer:
    """Reviews requests by rules, configuration and existing objects.

    `view` has the existing objects; while `frozen` is entered it shows those of then, also to another thread. With `preview` the warnings
    include the effects of an edit. `operator` is the user name of the operator itself.
    """

    context: StepContext
    view: ObjectReader | None = None
    preview: EffectsPreview | None = None
    operator: str = ""
    frozen: Callable[[], AbstractContextManager[object]] = nullcontext

    def validate(self, review: Any) -> Manifest:
        """Validates an AdmissionReview, and reports all errors and warnings at once. Raises `NoReview`."""
        request = read_request(review)
        return self.conclude(request, self.findings(request) if request.is_validated else [])

    def conclude(self, request: AdmissionRequest, findings: list[Diagnostic]) -> Manifest:
        """Returns the response for findings, with the effects of the edit as warnings."""
        return answer(request, findings, effects=self._effects(request) if request.is_validated and not has_errors(findings) else [])

    def default(self, review: Any) -> Manifest:
        """Returns a JSON Patch that adds the defaults, for the mutating webhook. Raises `NoReview`.

        An update keeps `minAvailable` of a clique where it names none. An invalid object is not changed: the validating webhook, which is
        called next, reports all of its errors.
        """
        request = read_request(review)
        former = as_recorded(request.old, Snapshot((), self.view))
        decoded = self.context.decode(request.object, former) if request.operation in ("CREATE", "UPDATE") else None
        if decoded is None or has_errors(decoded.findings) or decoded.manifest == request.object:
            return answer(request, [])
        # Only this webhook sees the values that defaults replace; the validating one reports everything else.
        replaced = [finding for finding in decoded.findings if finding.code.startswith("default/")]
        return answer(request, replaced, list(_operations(request.object, decoded.manifest, "")))

    def findings(self, request: AdmissionRequest) -> list[Diagnostic]:
        """Returns the findings about a request's object, or the update to it, as `grove lint` does.

        Findings about the configuration are not included: they were logged at the start, and do not concern the author of a set. An error
        that the stored object has as well is a warning, and so is a change that repairs it: a release that validates more must not lock
        what an earlier one, or the shipped operator, has let pass (grove #767; decisions §10).
        """
        findings = self._lint(request.object, request.old, request)
        if not request.old or not has_errors(findings):
            return findings
        return accept(findings, errors_in(self._lint(request.old, request.old, request)), self.context.program.about_updates)

    def _lint(self, manifest: Manifest, old: Manifest, request: AdmissionRequest) -> list[Diagnostic]:
        view = _Without(self.view, request.object) if self.view is not None else None
        olds = [Document(old)] if old else []
        inputs = Inputs([Document(manifest)], old=olds, config=self.context.document, settings=self.settings(request), view=view)
        return lint_manifests(inputs, self.context.program)

    def _effects(self, request: AdmissionRequest) -> list[str]:
        if self.preview is None or not request.old:
            return []
        try:
            return self.preview.lines(request.old, request.object, self.view, self.context, self.settings(request))
        except Unknown as error:  # a right that is missing, say, must not keep anybody from an edit
            return [f"the effects of this edit are not known: {error}"]
        except Exception as error:  # a bug in the preview of effects must not block the edit
            return [f"the effects of this edit could not be computed: {type(error).__name__}"]

    def settings(self, request: AdmissionRequest) -> Settings:
        """Returns the settings for an object of the request's namespace."""
        settings = self.context.settings
        return replace(settings, namespace=request.namespace or settings.namespace)


class _Without:
    """An `ObjectReader` without the reviewed object: its old state is in the request, and may differ from that of the cache."""

    def __init__(self, view: ObjectReader, manifest: Manifest) -> None:
        self._view = view
        metadata = manifest.get("metadata") or {}
        self._name = group_of(manifest["apiVersion"]), manifest["kind"], metadata.get("namespace") or "", metadata.get("name") or ""
        self.by_owner, self.by_label, self.changes = view.by_owner, view.by_label, view.changes
        self.deleted, self.deleted_names = view.deleted, view.deleted_names

    def get(self, group: str, kind: str, namespace: str, name: str) -> Manifest | None:
        return None if (group, kind, namespace, name) == self._name else self._view.get(group, kind, namespace, name)


def read_request(review: Any) -> AdmissionRequest:
    """Returns the request of an AdmissionReview. Raises `NoReview` if it is malformed."""
    if not isinstance(review, Mapping) or review.get("kind") != "AdmissionReview":
        raise NoReview("the body is not an AdmissionReview")
    if review.get("apiVersion") != API_VERSION:
        raise NoReview(f"the AdmissionReview is of {review.get('apiVersion')!r}; only {API_VERSION} is supported")
    request = review.get("request")
    if not isinstance(request, Mapping):
        raise NoReview("the AdmissionReview has no request")
    texts = {key: request.get(key) or "" for key in ("uid", "operation", "namespace", "name")}
    wrong = [key for key, value in texts.items() if not isinstance(value, str)]
    objects = {key: request.get(key) or {} for key in ("object", "oldObject")}
    wrong += [key for key, value in objects.items() if value and not _is_manifest(value)]
    if wrong or not texts["uid"] or not texts["operation"]:
        raise NoReview(f"the request's {wrong[0] if wrong else 'uid or operation'} is missing or has the wrong type")
    if texts["operation"] in ("CREATE", "UPDATE") and not (objects["object"] and (objects["oldObject"] or texts["operation"] == "CREATE")):
        raise NoReview(f"a request to {texts['operation']} needs the new object, and an UPDATE also the old one")
    old = objects["oldObject"] if texts["operation"] in ("UPDATE", "DELETE") else {}
    resource, user = _text_in(request, "resource", "resource"), _text_in(request, "userInfo", "username")
    is_dry_run = request.get("dryRun") is True
    return AdmissionRequest(
        texts["uid"], texts["operation"], texts["namespace"], objects["object"], old, texts["name"], resource, user, is_dry_run
    )


def answer(
    request: AdmissionRequest,
    findings: list[Diagnostic],
    patch: Sequence[Manifest] = (),
    effects: Sequence[str] = (),
    refusal: tuple[int, str] = (UNPROCESSABLE, "Invalid"),
) -> Manifest:
    """Returns the AdmissionReview for findings: denied for errors, with the code and reason of `refusal`.

    The `patch` has operations of a JSON Patch. The `effects` precede the other warnings.
    """
    wrong = [finding for finding in findings if finding.severity == "error"]
    more = [f"and {len(wrong) - MAX_ERRORS:,} more, which grove lint reports"] if len(wrong) > MAX_ERRORS else []
    errors = [*dict.fromkeys(map(sentence, wrong[:MAX_ERRORS])), *more]
    response: Manifest = {"uid": request.uid, "allowed": not errors}
    if errors:
        # kubectl prints the kind and the name, and one line for each cause; other clients print the message.
        causes = [{"message": _without_field(error), "field": error.path} for error in wrong[:MAX_ERRORS]]
        causes += [{"message": text, "field": wrong[MAX_ERRORS].path} for text in more]
        code, reason = refusal
        status = {"code": code, "reason": reason, "message": _message(errors), "details": {**request.names(), "causes": causes}}
        response["status"] = {"apiVersion": "v1", "kind": "Status", "status": "Failure", **status}
    if patch:
        import base64
        import json

        text = json.dumps(patch, separators=(",", ":"))
        response |= {"patchType": "JSONPatch", "patch": base64.b64encode(text.encode()).decode()}
    warnings = _warnings([*effects, *dict.fromkeys(sentence(finding) for finding in findings if finding.severity != "error")])
    if warnings:
        response["warnings"] = warnings
    return {"apiVersion": API_VERSION, "kind": "AdmissionReview", "response": response}


def sentence(finding: Diagnostic) -> str:
    """Returns a finding as one sentence: the path, the error, and a hint."""
    return f"{finding.path}: {_without_field(finding)}" if finding.path else _without_field(finding)


def _without_field(finding: Diagnostic) -> str:
    text = wording(finding)
    if finding.nearest:
        text += f'; did you mean "{finding.nearest}"?'
    return f"{text} ({finding.hint})" if finding.hint else text


def _message(errors: list[str]) -> str:
    """Returns a single error unchanged, and several as lines, as kubectl prints the message without changes."""
    return errors[0] if len(errors) == 1 else f"{len(errors)} errors:\n" + "\n".join(f"  {error}" for error in errors)


def _warnings(texts: list[str]) -> list[str]:
    short = [shortened(text, MAX_WARNING_LENGTH) for text in texts]
    most = MAX_WARNINGS_LENGTH // MAX_WARNING_LENGTH
    return short if len(short) <= most else [*short[: most - 1], f"and {len(short) - most + 1} more warnings, which grove lint reports"]


def _operations(before: Any, after: Any, path: str) -> Iterator[Manifest]:
    """Yields the JSON Patch operations (RFC 6902) between two values. Lists of equal length are compared item by item.

    Shared values, nearly all, are skipped by identity: a library that compares all values took longer than the defaulting itself.
    """
    if before is after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before:
            if key not in after:
                yield {"op": "remove", "path": json_pointer.join((key,), path)}
        for key, value in after.items():
            if key not in before:
                yield {"op": "add", "path": json_pointer.join((key,), path), "value": value}
            else:
                yield from _operations(before[key], value, json_pointer.join((key,), path))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _operations(old, new, f"{path}/{index}")
    elif type(before) is not type(after) or before != after:
        yield {"op": "replace", "path": path, "value": after}


def _validated_parts(manifest: Manifest) -> list[Any]:
    return [(manifest if part == "spec" else manifest.get("metadata") or {}).get(part) for part in VALIDATED]


def _text_in(request: Mapping[str, Any], part: str, key: str) -> str:
    text = section(request, part).get(key)
    return text if isinstance(text, str) else ""


def _is_manifest(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("metadata") or {}, dict):
        return False
    return all(isinstance(value.get(key), str) for key in ("apiVersion", "kind"))
