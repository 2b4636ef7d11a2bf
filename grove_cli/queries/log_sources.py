"""Selects the containers of a set's pods whose logs are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from applier.ref import Manifest
from grove_cli.queries.tree_query import NoSuchObject
from grove_compiler.labels import CLIQUE_LABEL, GROUP_LABEL, MEMBER_LABEL, PART_OF, REPLICA_LABEL
from grove_compiler.record import record
from kube_objects.manifest import labels_of


class LogSource(NamedTuple):
    """A container of a pod, in one of its lives, which `id` tells apart. `label` stands before its lines.

    `waits` says why there is no log yet; empty once it has started. `runs` until it has ended, `was_restarted` if it ran before.
    """

    pod: str
    container: str
    id: str
    label: str
    waits: str
    runs: bool
    was_restarted: bool


@record
class LogSelection:
    """Which logs of a set are read: of a clique and a replica, or all if these are empty, and of one container or all."""

    set: str
    clique: str = ""
    replica: int | None = None
    container: str = ""

    @property
    def labels(self) -> str:
        """The label selector of the pods, without the clique: its PodCliques have several names."""
        return f"{PART_OF}={self.set}" + ("" if self.replica is None else f",{REPLICA_LABEL}={self.replica}")

    def sources(self, pods: Iterable[Manifest]) -> list[LogSource]:
        """Returns the selected containers of these pods, by pod."""
        chosen = (pod for pod in pods if not self.clique or clique_of(pod) == self.clique)
        by_name = sorted(chosen, key=lambda pod: str(pod["metadata"]["name"]))
        return [source for pod in by_name for source in _sources(pod, self.container)]


def check_clique(pcs: Manifest, clique: str) -> None:
    """Raises `NoSuchObject` if a set has no clique of this name."""
    names = [each.get("name") for each in pcs["spec"]["template"].get("cliques") or []]
    if clique and clique not in names:
        raise NoSuchObject(f"PodCliqueSet {pcs['metadata']['name']!r} has no clique {clique!r}: it has {', '.join(map(str, names))}")


def check_container(pods: Sequence[Manifest], container: str) -> None:
    """Raises `NoSuchObject` if there are pods, and none of them has a container of this name."""
    names = list(dict.fromkeys(name for pod in pods for name in _all_containers(pod)))
    if container and pods and container not in names:
        raise NoSuchObject(f"no pod has a container {container!r}: there are {', '.join(names)}")


def clique_of(pod: Manifest) -> str:
    """Returns the name that a pod's clique has in the set's template: the PodClique's without those of the replicas that it is in."""
    labels = labels_of(pod)
    owner, index = (GROUP_LABEL, MEMBER_LABEL) if labels.get(GROUP_LABEL) else (PART_OF, REPLICA_LABEL)
    return str(labels.get(CLIQUE_LABEL) or "").removeprefix(f"{labels.get(owner)}-{labels.get(index)}-")


def _all_containers(pod: Manifest) -> Iterator[str]:
    for key in ("containers", "initContainers", "ephemeralContainers"):
        yield from (each["name"] for each in pod["spec"].get(key) or [])


def _sources(pod: Manifest, container: str) -> Iterator[LogSource]:
    metadata, status = pod["metadata"], pod.get("status") or {}
    keys = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
    statuses = {each["name"]: each for key in keys for each in status.get(key) or []}
    main = [each["name"] for each in pod["spec"].get("containers") or []]
    names = [container] if container in _all_containers(pod) else [] if container else main
    for name in names:
        there = statuses.get(name) or {}
        state = there.get("state") or {}
        restarts = there.get("restartCount") or 0
        label = metadata["name"] if len(main) == 1 and not container else f"{metadata['name']}/{name}"
        has_begun = "running" in state or "terminated" in state or bool((there.get("lastState") or {}).get("terminated"))
        reason = (state.get("waiting") or {}).get("reason") or status.get("phase") or "Pending"
        yield LogSource(
            metadata["name"],
            name,
            f"{metadata.get('uid')}/{name}/{there.get('containerID') or restarts}",
            label,
            waits="" if has_begun else str(reason),
            runs="running" in state,
            was_restarted=restarts > 0,
        )
