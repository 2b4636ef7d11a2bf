"""What people ask of a training workload: to be suspended, resumed, or begun anew. Each is one field, applied by a manager of its own."""

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
    """What is asked of a workload cannot be done, and the message says what can."""


class JobEdit(NamedTuple):
    """`fields` gives the spec to apply at a time; none where it is so already, as `word` says it. It raises `Refused`.

    `manager` owns what it applies, and nothing else: a field that it stops applying goes away.
    """

    word: str
    manager: str
    fields: Callable[[Manifest, float], Manifest | None]


def _suspended(set: Manifest, _: float) -> Manifest | None:
    _refuse_ended(set, "so that there is nothing to suspend")
    return None if set["spec"].get("suspend") else {"suspend": True}


def _resumed(set: Manifest, _: float) -> Manifest | None:
    _refuse_ended(set, "so that there is nothing to resume")
    return {"suspend": False} if set["spec"].get("suspend") else None


def _restarted(set: Manifest, now: float) -> Manifest | None:
    name, namespace = set["metadata"]["name"], set["metadata"].get("namespace")
    anew = f"kubectl get pcs {name} -n {namespace} -o yaml | kubectl replace --force -f -"
    _refuse_ended(set, f"what has ended is never run again. To make it anew, status and all: {anew}")
    if set["spec"].get("suspend"):
        raise Refused(f"PodCliqueSet {name!r} is suspended, and begins a new attempt when it is resumed: grove job resume {name}")
    return {"trainingSpec": {"restartedAt": timestamp(now)}}


EDITS = {
    "suspended": JobEdit("suspended", "grove-job-suspend", _suspended),
    "resumed": JobEdit("resumed", "grove-job-suspend", _resumed),
    "restarted": JobEdit("restarted", "grove-job-restart", _restarted),
}


async def carry_out(cluster: Cluster, edit: JobEdit, words: str, namespace: str, now: float, dry_run: str) -> str:
    """Applies an edit to the workload that `NAME` or `pcs/NAME` means, and says so. Raises `ClusterError`, `NoSuchObject`, `Refused`.

    `dry_run` is none, client or server. The UID goes with it: what was deleted meanwhile is not made, nor another one of its name changed.
    """
    resource, set = await read_set(cluster, words, namespace)
    metadata = set["metadata"]
    said = f"podcliqueset.grove.io/{metadata['name']} {edit.word}"
    fields = edit.fields(set, now)
    if fields is None:
        return f"{said} already"
    if dry_run != "client":
        about = {"name": metadata["name"], "namespace": metadata["namespace"], "uid": metadata["uid"]}
        manifest = {"apiVersion": set["apiVersion"], "kind": set["kind"], "metadata": about, "spec": fields}
        await cluster.apply(resource, manifest, manager=edit.manager, force=True, dry_run=dry_run == "server")
    return said


def _refuse_ended(set: Manifest, why: str) -> None:
    """Raises `Refused` for what has succeeded or failed, which is for ever."""
    phase = (set.get("status") or {}).get("phase")
    if phase in ENDS:
        raise Refused(f"PodCliqueSet {set['metadata']['name']!r} has {phase.lower()}, {why}")
