"""Reads the pod templates that a set has run, and their hashes, from the ControllerRevisions in which they are recorded.

The shipped operator records no templates, and its hashes change with the version of Kubernetes' types that it was built with. Comparing
them with ours would restart every pod once (grove #709). But while a set has not been edited since that operator, or another release of
this one, last observed it, its statuses and labels tell which hashes belong to the current spec.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.kube.conditions import status_of
from grove_compiler.labels import GROUP_LABEL, MEMBER_LABEL, PART_OF, POD_HASH_LABEL, REPLICA_LABEL
from grove_compiler.model.declared import declared
from grove_compiler.model.inputs.snapshot import Snapshot
from grove_compiler.model.lazy import lazy
from grove_compiler.model.names import part_of
from grove_compiler.model.spec.templates import CliqueTemplate
from grove_compiler.record import record
from kube_objects.manifest import is_terminating

ACCEPTED_FINDINGS = "grove.io/accepted-findings"
DEFAULT_SCHEDULER = "grove.io/default-scheduler"
"""The annotation of a set's revisions with the scheduler of its pods that name none."""
LAST_VALID_SPEC = "grove.io/last-valid-spec"
"""The annotation of a set's newest revision with the spec that it was last valid with, but for the pods."""

LAST_NUMBER = 2**53
"""The highest number of a revision that counts as one of ours: the next one has to be a number, too."""

Hashes = tuple[list[str], str]
"""The hash of each clique's pod template, in the order of the set, and the generation hash over all of them."""


@record(slots=False)
class Revision:
    """A recorded generation of a set's pod templates. `data` is immutable; the revision with the higher `number` is newer."""

    manifest: Manifest

    name = declared(str, "metadata.name")
    uid = declared(str, "metadata.uid")
    number = declared(int, "revision", "Of two revisions the one with the higher number is newer.")
    data = declared(Manifest, "data")
    generation_hash = declared(str, "data.generationHash")
    _priority_class = declared(str, "data.priorityClassName")
    _cliques = declared(list[Manifest], "data.cliques")
    _annotations = declared(dict[str, str], "metadata.annotations")

    @lazy
    def accepted_findings(self) -> frozenset[tuple[str, str]]:
        """The errors, each by its rule and path, that the set had when it was taken over from another operator, and has not lost since."""
        lines = (self._annotations.get(ACCEPTED_FINDINGS) or "").splitlines()
        return frozenset((code, path) for code, _, path in (line.partition(" ") for line in lines))

    @property
    def default_scheduler(self) -> str:
        """The scheduler of the set's pods that name none, of whatever generation; empty in a revision of an earlier release."""
        return self._annotations.get(DEFAULT_SCHEDULER) or ""

    @property
    def last_valid_spec(self) -> str:
        """The spec with which the set was last valid, as text; empty in a revision of an earlier release."""
        text = self._annotations.get(LAST_VALID_SPEC)
        return text if isinstance(text, str) else ""

    @lazy
    def hashes(self) -> dict[str, str]:
        """The pod-template hash of each clique, by the clique's name."""
        return {name: entry.get("hash") or "" for name, entry in self._by_name.items()}

    @lazy
    def _by_name(self) -> dict[str, Manifest]:
        return {entry.get("name") or "": entry for entry in self._cliques}

    def template(self, name: str) -> Manifest | None:
        """Returns a clique's recorded `labels`, `annotations` and `podSpec`; none for a clique that did not exist then."""
        entry = self._by_name.get(name)
        return None if entry is None else entry.get("template") or {}

    def replicas(self, name: str) -> int | None:
        """Returns the declared number of pods of a clique; none if the revision does not record the clique, or its number."""
        return (self._by_name.get(name) or {}).get("replicas")

    def has_template(self, clique: CliqueTemplate, priority_class: str) -> bool:
        """Reports whether the recorded pod template of a clique means the same as the declared one, however they are written."""
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
    """Returns the live revisions of a set, the oldest first; empty offline.

    Without those that record nothing: somebody has made them by hand, and they are pruned, or made again where their name is needed.
    """
    manifests = snapshot.owned("ControllerRevision", owner, "apps") if snapshot and owner.uid else []
    revisions = [Revision(manifest) for manifest in manifests if not is_terminating(manifest) and _is_record(manifest)]
    return sorted(revisions, key=lambda revision: (revision.number, revision.name))


def _is_record(manifest: Manifest) -> bool:
    """Reports whether a revision has the form in which templates are recorded. Kubernetes takes any `data` in one."""
    number, data = manifest.get("revision"), manifest.get("data")
    if not isinstance(number, int) or not 0 <= number <= LAST_NUMBER or not isinstance(data, dict):
        return False
    cliques = data.get("cliques")
    return _is_text(data.get("generationHash")) and isinstance(cliques, list) and all(map(_is_entry, cliques))


def _is_entry(entry: object) -> bool:
    if not isinstance(entry, dict) or not isinstance(entry.get("replicas", 0), int):
        return False
    template = entry.get("template")
    return _is_text(entry.get("name")) and _is_text(entry.get("hash")) and isinstance(template, dict) and _has_pods(template)


def _has_pods(template: Manifest) -> bool:
    maps = (template.get(key) or {} for key in ("labels", "annotations"))
    return isinstance(template.get("podSpec"), dict) and all(isinstance(one, dict) for one in maps)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def effective_hashes(
    cliques: Sequence[CliqueTemplate], priority_class: str, revisions: Sequence[Revision], computed: Callable[[], Hashes]
) -> Hashes:
    """Returns the hashes that tell whether pods are up to date: the recorded ones wherever the template means the same.

    So neither another spelling of a template nor another version of the hash function, or of Kubernetes' types in it, makes pods look
    outdated (grove #709; design §6: roll on meaning, not on hashes). New templates, and sets without records, get the `computed` ones.
    """
    hashes = [_recorded_hash(clique, priority_class, revisions) for clique in cliques]
    if not all(hashes):
        hashes = [known or new for known, new in zip(hashes, computed()[0], strict=True)]
    by_name = {clique.name: template_hash for clique, template_hash in zip(cliques, hashes, strict=True)}
    recorded = next((revision.generation_hash for revision in reversed(revisions) if revision.hashes == by_name), "")
    return hashes, recorded or computed()[1]


def _recorded_hash(clique: CliqueTemplate, priority_class: str, revisions: Sequence[Revision]) -> str:
    same = (revision for revision in reversed(revisions) if revision.has_template(clique, priority_class))
    return next((revision.hashes[clique.name] for revision in same), "")


def knows_hashes(live: Manifest, generation: int | None) -> bool:
    """Reports whether a set's status holds the hash of this generation."""
    status = status_of(live)
    return bool(status.get("currentGenerationHash")) and generation is not None and status.get("observedGeneration") == generation


def inherited_hashes(
    cliques: Sequence[CliqueTemplate], live: Manifest, pod_cliques: Callable[[], Iterable[Manifest]], computed: Hashes
) -> Hashes | None:
    """Returns the hashes in the statuses and labels of a set for which `knows_hashes` holds; none where they equal the `computed` ones.

    A clique without a PodClique that is known to be up to date gets its computed hash: no pod of it has another one.
    """
    status = live["status"]
    generation = status["currentGenerationHash"]
    if generation == computed[1]:
        return None
    progress = status.get("updateProgress") or {}
    is_rolling = bool(progress.get("updateStartedAt")) and not progress.get("updateEndedAt")
    inherited = {}
    for pod_clique in pod_cliques():
        template_hash = "" if is_terminating(pod_clique) else _declared_hash(pod_clique, generation, is_rolling)
        if template_hash:
            inherited[pod_clique["metadata"]["name"].removeprefix(_place(pod_clique))] = template_hash
    return [inherited.get(clique.name, template_hash) for clique, template_hash in zip(cliques, computed[0], strict=True)], generation


def _declared_hash(pod_clique: Manifest, generation: str, is_rolling: bool) -> str:
    """Returns the hash of the current template by a PodClique; empty if it does not know, as in a group that waits for its update."""
    labels, status = pod_clique["metadata"].get("labels") or {}, status_of(pod_clique)
    if status.get("currentPodCliqueSetGenerationHash") == generation:
        return status.get("currentPodTemplateHash") or ""
    return "" if is_rolling and GROUP_LABEL in labels else labels.get(POD_HASH_LABEL) or ""


def _place(pod_clique: Manifest) -> str:
    """Returns the prefix of a PodClique's name before the name of its clique."""
    labels = pod_clique["metadata"].get("labels") or {}
    names = (GROUP_LABEL, MEMBER_LABEL) if GROUP_LABEL in labels else (PART_OF, REPLICA_LABEL)
    owner, index = map(labels.get, names)
    return part_of(part_of(owner or "", index or ""), "")
