"""Pod templates that a set ran before: the ControllerRevisions in which a cluster keeps them, and the hashes that they were given there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.model.inputs.snapshot import Snapshot, is_terminating
from grove_compiler.model.lazy import lazy
from grove_compiler.model.spec.declared import declared
from grove_compiler.model.spec.templates import CliqueTemplate
from grove_compiler.record import record

POD_HASH_LABEL = "grove.io/pod-template-hash"

Hashes = tuple[list[str], str]
"""The hash of each clique's pod template, in the order of the set, and that of all together."""


@record(slots=False)
class Revision:
    """A generation of a set's pod templates, as it was recorded: `data` is written once and never changes, `number` says which is newer."""

    manifest: Manifest

    name = declared(str, "metadata.name")
    uid = declared(str, "metadata.uid")
    number = declared(int, "revision", "Of two revisions the one with the higher number is newer.")
    data = declared(Manifest, "data")
    generation_hash = declared(str, "data.generationHash")
    _priority_class = declared(str, "data.priorityClassName")
    _cliques = declared(list[Manifest], "data.cliques")

    @lazy
    def hashes(self) -> dict[str, str]:
        """The pod-template hash of each clique, by the clique's name."""
        return {name: entry.get("hash") or "" for name, entry in self._by_name.items()}

    @lazy
    def _by_name(self) -> dict[str, Manifest]:
        return {entry.get("name") or "": entry for entry in self._cliques}

    def template(self, name: str) -> Manifest | None:
        """Returns what pods of a clique were made from: its `labels`, `annotations` and `podSpec`; none for a clique that was not there."""
        entry = self._by_name.get(name)
        return None if entry is None else entry.get("template") or {}

    def has_template(self, clique: CliqueTemplate, priority_class: str) -> bool:
        """Tells whether pods of a clique as it is declared now would mean the same as those of this revision."""
        recorded = self.template(clique.name)
        if recorded is None:
            return False
        then = clique.with_pods_of(recorded).hashed_template(self._priority_class)
        now = clique.hashed_template(priority_class)
        if then == now:
            return True
        from grove_compiler.kube.semantic_difference import pod_template_differences  # brings many tables, so only for other spellings

        return not pod_template_differences(then, now)


def revisions_of(snapshot: Snapshot, owner: ObjectRef) -> list[Revision]:
    """Returns the revisions that a set has, the oldest first; none offline, for nothing is recorded there."""
    manifests = snapshot.owned("ControllerRevision", owner, "apps") if snapshot and owner.uid else []
    return sorted((Revision(one) for one in manifests if not is_terminating(one)), key=lambda one: (one.number, one.name))


def effective_hashes(
    cliques: Sequence[CliqueTemplate], priority_class: str, revisions: Sequence[Revision], computed: Callable[[], Hashes]
) -> Hashes:
    """Returns the hashes by which pods are told to be up to date: those that were recorded wherever nothing has changed in meaning.

    So neither another spelling of a template nor another version of the hash function, or of Kubernetes' types that go into it, makes
    pods look old (grove #709). What is new, and a set of which nothing is recorded, has the `computed` ones.
    """
    hashes = [_recorded_hash(clique, priority_class, revisions) for clique in cliques] if revisions else []
    if not all(hashes) or not hashes:
        new, generation = computed()
        hashes = [known or fresh for known, fresh in zip(hashes, new, strict=True)] if hashes else new
    else:
        generation = ""
    by_name = {clique.name: hash for clique, hash in zip(cliques, hashes, strict=True)}
    recorded = next((one.generation_hash for one in reversed(revisions) if one.hashes == by_name), "")
    return hashes, recorded or generation or computed()[1]


def _recorded_hash(clique: CliqueTemplate, priority_class: str, revisions: Sequence[Revision]) -> str:
    return next((one.hashes[clique.name] for one in reversed(revisions) if one.has_template(clique, priority_class)), "")
