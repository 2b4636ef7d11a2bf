"""Reads the revisions of a set: the pod templates that it has had, and what each of them changed."""

from __future__ import annotations

from collections.abc import Sequence

from applier.cluster import Cluster
from applier.ref import Kind, Manifest
from grove_cli.queries.rollout.changes import changes_between
from grove_compiler.kube.timestamp import time
from grove_compiler.labels import PART_OF
from grove_compiler.model.expanded.recorded_templates import Revision
from grove_compiler.model.spec.templates import templates_in
from grove_compiler.record import record
from kube_objects.manifest import is_terminating

REVISION = Kind("apps", "v1", "ControllerRevision")


@record
class RecordedRevision:
    """A revision, created at a time in seconds since the epoch. `changes` are those since the revision before, a line each."""

    revision: Revision
    is_current: bool
    created: float | None
    changes: Sequence[str]

    @property
    def number(self) -> int:
        """The number of the revision."""
        return self.revision.number


async def read_history(cluster: Cluster, pcs: Manifest) -> list[RecordedRevision]:
    """Returns the revisions of a set, the oldest first. Raises `ClusterError`."""
    metadata = pcs["metadata"]
    labels = f"{PART_OF}={metadata['name']}"
    listing = await cluster.list(await cluster.resource(REVISION), metadata["namespace"], labels=labels)
    return history_of(pcs, listing.items)


def history_of(pcs: Manifest, manifests: Sequence[Manifest]) -> list[RecordedRevision]:
    """Returns the revisions among these objects that belong to a set, the oldest first."""
    uid = pcs["metadata"].get("uid")
    owned = [each for each in manifests if each["kind"] == REVISION.kind and uid in _owners(each) and not is_terminating(each)]
    revisions = sorted(map(Revision, owned), key=lambda revision: (revision.number, revision.name))
    current = (pcs.get("status") or {}).get("currentGenerationHash")
    known = any(revision.generation_hash == current for revision in revisions)
    history: list[RecordedRevision] = []
    for index, revision in enumerate(revisions):
        is_current = revision.generation_hash == current if known else revision is revisions[-1]
        changes = changes_between(revisions[index - 1].data, revision.data) if index else []
        history.append(RecordedRevision(revision, is_current, time(revision.manifest["metadata"].get("creationTimestamp")), changes))
    return history


def matches(revision: Revision, pcs: Manifest) -> bool:
    """Reports whether the pod templates of a set mean the same as those of a revision."""
    template = pcs["spec"]["template"]
    priority_class = template.get("priorityClassName") or ""
    if priority_class != (revision.data.get("priorityClassName") or ""):
        return False
    return all(revision.has_template(clique, priority_class) for clique in templates_in(template).cliques)


def _owners(manifest: Manifest) -> list[str]:
    return [reference.get("uid") for reference in manifest["metadata"].get("ownerReferences") or []]
