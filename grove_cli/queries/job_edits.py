"""Suspends, resumes and restarts training workloads. Each edit applies one field, by a field manager of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from applier.cluster import Cluster
from applier.ref import Manifest
from grove_cli.queries.sets_query import held_note
from grove_cli.queries.tree_query import EditRefused, NoSuchObject, is_training, read_set
from grove_compiler.decoder import SET_KIND
from grove_compiler.kube.timestamp import timestamp
from kube_objects.manifest import resource_name

ENDS = ("Succeeded", "Failed")


class JobEdit(NamedTuple):
    """An edit of a set. `fields` returns the spec to apply at a time, none if it is in effect already, and raises `EditRefused`.

    `word` is the past participle in messages. `manager` owns the applied fields only, since those that it stops applying are removed.
    """

    word: str
    manager: str
    fields: Callable[[Manifest, float], Manifest | None]


class JobEditResult(NamedTuple):
    """What came of an edit, as a line, and a note about it, which may be empty."""

    message: str
    note: str


def _suspended(pcs: Manifest, _: float) -> Manifest | None:
    _refuse_ended(pcs, "so there is nothing to suspend")
    return None if pcs["spec"].get("suspend") else {"suspend": True}


def _resumed(pcs: Manifest, _: float) -> Manifest | None:
    _refuse_ended(pcs, "so there is nothing to resume")
    return {"suspend": False} if pcs["spec"].get("suspend") else None


def _restarted(pcs: Manifest, now: float) -> Manifest | None:
    name, namespace = pcs["metadata"]["name"], pcs["metadata"].get("namespace")
    recreate = f"kubectl get pcs {name} -n {namespace} -o yaml | kubectl replace --force -f -"
    _refuse_ended(pcs, f"a workload that has ended never runs again. To recreate it, including its status: {recreate}")
    if pcs["spec"].get("suspend"):
        raise EditRefused(f"PodCliqueSet {name!r} is suspended; it begins a new attempt when it is resumed: grove job resume {name}")
    return {"trainingSpec": {"restartedAt": timestamp(now)}}


EDITS = {
    "suspended": JobEdit("suspended", "grove-job-suspend", _suspended),
    "resumed": JobEdit("resumed", "grove-job-suspend", _resumed),
    "restarted": JobEdit("restarted", "grove-job-restart", _restarted),
}


async def carry_out(cluster: Cluster, edit: JobEdit, argument: str, namespace: str, now: float, dry_run: str) -> JobEditResult:
    """Applies an edit to the workload `NAME` or `pcs/NAME`. Raises `ClusterError`, `NoSuchObject`, `EditRefused`.

    `dry_run` is `none`, `client` or `server`. The UID is sent along, so that a set that was deleted meanwhile is not created again.
    """
    resource, pcs = await read_set(cluster, argument, namespace)
    if not is_training(pcs):
        raise NoSuchObject(f"{SET_KIND} {pcs['metadata']['name']!r} is not a training workload: its workloadType is not Training")
    metadata = pcs["metadata"]
    fields = edit.fields(pcs, now)
    note = f"{resource_name(pcs)}: {text}" if (text := held_note(pcs)) else ""
    if fields is None:
        return JobEditResult(f"{resource_name(pcs)} already {edit.word}", note)
    if dry_run != "client":
        identity = {"name": metadata["name"], "namespace": metadata["namespace"], "uid": metadata["uid"]}
        manifest = {"apiVersion": pcs["apiVersion"], "kind": pcs["kind"], "metadata": identity, "spec": fields}
        await cluster.apply(resource, manifest, manager=edit.manager, force=True, dry_run=dry_run == "server")
    return JobEditResult(f"{resource_name(pcs)} {edit.word}", note)


def _refuse_ended(pcs: Manifest, why: str) -> None:
    """Raises `EditRefused` for a workload that has succeeded or failed, which is final."""
    phase = (pcs.get("status") or {}).get("phase")
    if phase in ENDS:
        raise EditRefused(f"PodCliqueSet {pcs['metadata']['name']!r} has {phase.lower()}, {why}")
