"""Finds the state of inputs before an update: given with them, else from the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from grove_compiler.decoder import SET_KIND, Decoded, Decoder, InputRules
from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.kube import conditions
from grove_compiler.model.decisions import DecisionRules
from grove_compiler.model.expanded.last_valid_spec import as_it_was, before_the_edit, with_recorded_minimums
from grove_compiler.model.expanded.recorded_templates import revisions_of
from grove_compiler.model.inputs.snapshot import Snapshot
from grove_compiler.model.spec.podcliqueset import API_VERSION, PodCliqueSet
from grove_compiler.model.spec.topology import Topology
from grove_compiler.source.document import Document, objects_in
from grove_compiler.unknown import Unknown
from kube_objects.manifest import section

Key = tuple[str, str, str]


def as_recorded(stored: Any, snapshot: Snapshot) -> Any:
    """Returns an old state with what cannot change as it is recorded, if it is of a set whose revisions are known (decisions §10).

    What has been changed while no webhook was there holds the set until it is put back, which nobody may be kept from.
    """
    if (ref := _stored_set(stored)) is None:
        return stored
    try:
        revisions = revisions_of(snapshot, ref)
        return before_the_edit(stored, revisions) or with_recorded_minimums(stored, revisions)
    except Unknown:  # without the right to read revisions, say
        return stored


def all_as_recorded(documents: Iterable[Document], snapshot: Snapshot) -> list[Document]:
    """Returns old states as `as_recorded` does, a document for each object."""
    return [Document(as_recorded(value, snapshot)) for document in documents for _, value in objects_in(document.value)]


def all_as_followed(documents: Iterable[Document], snapshot: Snapshot) -> list[Document]:
    """Returns sets of the cluster as its operator follows them: those of which an edit is held as they were last valid.

    Only a document of a set whose status says so is replaced; the others keep their places.
    """
    found: list[Document] = []
    for document in documents:
        values = [value for _, value in objects_in(document.value)]
        followed = [_as_followed(value, snapshot) for value in values]
        is_held = any(one is not None for one in followed)
        found += [Document(one or value) for one, value in zip(followed, values, strict=True)] if is_held else [document]
    return found


def _as_followed(value: Any, snapshot: Snapshot) -> Manifest | None:
    """Returns a set as it was last valid if an edit of it is held; None for anything else, and where nobody knows."""
    if (ref := _stored_set(value)) is None:
        return None
    live = snapshot.live(ref)
    if not conditions.is_held(live) or section(live, "metadata").get("uid") != ref.uid:
        return None
    newest = next(reversed(revisions_of(snapshot, ref)), None)
    is_followed = newest is not None and conditions.status_of(live).get("currentGenerationHash") == newest.generation_hash
    return as_it_was(value, newest) if newest is not None and is_followed else None


def _stored_set(value: Any) -> ObjectRef | None:
    """Returns the reference of a set that an API server has stored; None for anything else."""
    metadata = section(value, "metadata")
    if section(value).get("kind") != SET_KIND or not metadata.get("uid") or not metadata.get("name"):
        return None
    return ObjectRef.of(value)


class OldStates:
    """Looks up the old state of an input, which is not validated itself: among what was given, `old`, else in the snapshot.

    A set without a template, or an object that is being deleted, does not count.
    """

    def __init__(self, program: InputRules, scope: Mapping[str, Any], old: Sequence[Decoded], snapshot: Snapshot) -> None:
        self._program = program
        self._scope = scope
        self._decisions = DecisionRules(program.decisions)
        self._snapshot = snapshot
        self._given = {entry.key: entry.manifest for entry in old if entry.is_defaulted}

    def set(self, entry: Decoded, namespace: str) -> PodCliqueSet | None:
        """Returns the old set, given or in the snapshot; None if there is none. `namespace` is that of manifests without one.

        A set of the cluster has the API server's defaults, and both sides get ours, which are the same: defaults cause no differences.
        """
        kind, named, name = entry.key
        places = [namespace, ""] if named in ("", namespace) else [named]
        given = next((self._given[key] for place in places if (key := (kind, place, name)) in self._given), None)
        manifest = given if given is not None else self._in_snapshot(kind, named or namespace, name)
        is_set = manifest is not None and (manifest.get("spec") or {}).get("template")
        return PodCliqueSet(manifest, namespace, self._decisions) if manifest is not None and is_set else None

    def topology(self, entry: Decoded | None) -> Topology | None:
        """Returns the old topology, given or in the snapshot; None if there is none, or for a topology that is not in the input."""
        if entry is None:
            return None
        manifest = self._given.get(entry.key) or self._in_snapshot(*entry.key)
        return Topology(manifest) if manifest is not None else None

    def _in_snapshot(self, kind: str, namespace: str, name: str) -> Manifest | None:
        live = self._snapshot.live(ObjectRef(API_VERSION, kind, namespace, name)) if self._snapshot else None
        if live is None or not live.get("spec"):
            return None
        decoded = Decoder(self._program, self._scope).take([Document(as_recorded(live, self._snapshot))])
        return next((entry.manifest for entry in decoded if entry.is_defaulted), None)
