"""Suspends, resumes and restarts training workloads. Each edit applies one field, by a field manager of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from applier.cluster import Cluster
from applier.errors import ApplierError
from applier.ref import Manifest
from grove_compiler.kube.timestamp import timestamp
from grove_operator.cluster.job_query import read_set

ENDS = ("Succeeded", "Failed")


class Refused(ApplierError):
    """An edit does not apply to the state of the workload. The message has the alternative."""


class JobEdit(NamedTuple):
    """An edit of a set. `fields` returns the spec to apply at a time, none if it is in effect already, and raises `Refused`.

    `word` is the past participle in messages. `manager` owns the applied fields only, since those that it stops applying are removed.
    """

    word: str
    manager: str
    fields: Callable[[Manifest, float], Manifest | None]


def _suspended(set: Manifest, _: float) -> Manifest | None:
    _refuse_ended(set, "so there is nothing to suspend")
    return None if set["spec"].get("suspend") else {"suspend": True}


def _resumed(set: Manifest, _: float) -> Manifest | None:
    _refuse_ended(set, "so there is nothing to resume")
    return {"suspend": False} if set["spec"].get("suspend") else None


def _restarted(set: Manifest, now: float) -> Manifest | None:
    name, namespace = set["metadata"]["name"], set["metadata"].get("namespace")
    recreate = f"kubectl get pcs {name} -n {namespace} -o yaml | kubectl replace --force -f -"
    _refuse_ended(set, f"a workload that has ended never runs again. To recreate it, including its status: {recreate}")
    if set["spec"].get("suspend"):
        raise Refused(f"PodCliqueSet {name!r} is suspended; it begins a new attempt when it is resumed: grove job resume {name}")
    return {"trainingSpec": {"restartedAt": timestamp(now)}}


EDITS = {
    "suspended": JobEdit("suspended", "grove-job-suspend", _suspended),
    "resumed": JobEdit("resumed", "grove-job-suspend", _resumed),
    "restarted": JobEdit("restarted", "grove-job-restart", _restarted),
}


async def carry_out(cluster: Cluster, edit: JobEdit, argument: str, namespace: str, now: float, dry_run: str) -> str:
    """Applies an edit to the workload `NAME` or `pcs/NAME`, and returns a message. Raises `ClusterError`, `NoSuchObject`, `Refused`.

    `dry_run` is `none`, `client` or `server`. The UID is sent along, so that a set that was deleted meanwhile is not created again.
    """
    resource, set = await read_set(cluster, argument, namespace)
    metadata = set["metadata"]
    message = f"podcliqueset.grove.io/{metadata['name']} {edit.word}"
    fields = edit.fields(set, now)
    if fields is None:
        return f"podcliqueset.grove.io/{metadata['name']} already {edit.word}"
    if dry_run != "client":
        identity = {"name": metadata["name"], "namespace": metadata["namespace"], "uid": metadata["uid"]}
        manifest = {"apiVersion": set["apiVersion"], "kind": set["kind"], "metadata": identity, "spec": fields}
        await cluster.apply(resource, manifest, manager=edit.manager, force=True, dry_run=dry_run == "server")
    return message


def _refuse_ended(set: Manifest, why: str) -> None:
    """Raises `Refused` for a workload that has succeeded or failed, which is final."""
    phase = (set.get("status") or {}).get("phase")
    if phase in ENDS:
        raise Refused(f"PodCliqueSet {set['metadata']['name']!r} has {phase.lower()}, {why}")
