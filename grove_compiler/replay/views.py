"""Records what a step reads of a cluster, and replays the answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.model.inputs.snapshot import ChangedNames, ObjectReader
from grove_compiler.unknown import Unknown

T = TypeVar("T")
Question = tuple[str, ...]
"""The name of a method of `ObjectReader`, and its arguments."""


class Recording:
    """Forwards reads to a view, and records the answers.

    `before_changes` is called before a read of changes, which updates a tally. A view does not change during a step, so each read is
    recorded once.
    """

    __slots__ = ("answers", "before_changes", "view")

    def __init__(self, view: ObjectReader, before_changes: Callable[[], None] = lambda: None) -> None:
        self.view, self.before_changes = view, before_changes
        self.answers: dict[Question, Any] = {}

    def get(self, group: str, kind: str, namespace: str, name: str) -> Manifest | None:
        question = "get", group, kind, namespace, name
        manifest: Manifest | None = self.answers.get(question)
        if manifest is None or isinstance(manifest, Unknown):  # most are asked for several times
            manifest = self._recorded(question, lambda: self.view.get(group, kind, namespace, name))
        return manifest

    def by_owner(self, group: str, kind: str, owner: ObjectRef) -> list[Manifest]:
        return self._recorded(("by_owner", group, kind, *owner), lambda: self.view.by_owner(group, kind, owner))

    def deleted(self, group: str, kind: str, owner: ObjectRef) -> list[Manifest]:
        return self._recorded(("deleted", group, kind, *owner), lambda: self.view.deleted(group, kind, owner))

    def deleted_names(self, group: str, kind: str, owner: ObjectRef) -> list[str]:
        return self._recorded(("deleted_names", group, kind, *owner), lambda: self.view.deleted_names(group, kind, owner))

    def by_label(self, group: str, kind: str, key: str = "", value: str = "", namespace: str = "") -> list[Manifest]:
        arguments = group, kind, key, value, namespace
        return self._recorded(("by_label", *arguments), lambda: self.view.by_label(*arguments))

    def changes(self, group: str, kind: str, key: str, value: str, namespace: str, since: object = None) -> ChangedNames | None:
        self.before_changes()
        arguments = group, kind, key, value, namespace
        return self._recorded(("changes", *arguments), lambda: self.view.changes(*arguments, since))

    def _recorded(self, question: Question, read: Callable[[], T]) -> T:
        try:
            answer = read()
        except Unknown as unknown:
            self.answers[question] = unknown
            raise
        self.answers[question] = answer
        return answer


class RecordedAnswers:
    """Answers reads from a recording. `missing` collects the reads that it has no answer for."""

    def __init__(self, answers: Mapping[Question, Any]) -> None:
        self._answers = answers
        self.missing: list[Question] = []

    def get(self, group: str, kind: str, namespace: str, name: str) -> Manifest | None:
        manifest: Manifest | None = self._answer("get", group, kind, namespace, name)
        return manifest

    def by_owner(self, group: str, kind: str, owner: ObjectRef) -> list[Manifest]:
        return [*self._answer("by_owner", group, kind, *owner)]

    def deleted(self, group: str, kind: str, owner: ObjectRef) -> list[Manifest]:
        return [*self._answer("deleted", group, kind, *owner)]

    def deleted_names(self, group: str, kind: str, owner: ObjectRef) -> list[str]:
        return [*self._answer("deleted_names", group, kind, *owner)]

    def by_label(self, group: str, kind: str, key: str = "", value: str = "", namespace: str = "") -> list[Manifest]:
        return [*self._answer("by_label", group, kind, key, value, namespace)]

    def changes(self, group: str, kind: str, key: str, value: str, namespace: str, since: object = None) -> ChangedNames | None:  # noqa: ARG002
        changes: ChangedNames | None = self._answer("changes", group, kind, key, value, namespace)
        return changes

    def _answer(self, *question: str) -> Any:
        if question not in self._answers:
            self.missing.append(question)
            raise Unknown(f"not recorded: {in_words(question)}")
        answer = self._answers[question]
        if isinstance(answer, Unknown):
            raise answer
        return answer


def in_words(question: Question) -> str:
    """Describes a read in words: `Pod team-a/chat-0`, `Pod of PodClique team-a/chat-0-web`."""
    method, group, kind, *rest = question
    of = f"{kind}.{group}" if group else kind
    if method in ("by_owner", "deleted", "deleted_names"):
        what = {"by_owner": "", "deleted": "deleted ", "deleted_names": "names of deleted "}[method]
        return f"{what}{of} of {ObjectRef(*rest).id}"
    if method == "get":
        return f"{of} {'/'.join(filter(None, rest))}"
    key, value, namespace = rest
    selected = f"{of} with {key}={value}" if key else f"every {of}"
    return ("changes among " if method == "changes" else "") + selected + (f" in {namespace}" if namespace else "")
