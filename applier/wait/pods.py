"""Why the pods of a workload are not ready: the part of the story that the workload's own status does not tell."""

from __future__ import annotations

from collections import Counter

from applier.cluster import Cluster
from applier.errors import ClusterError
from applier.readiness import readiness
from applier.ref import Kind, Manifest, Ref

WORKLOADS = frozenset({("apps", "Deployment"), ("apps", "ReplicaSet"), ("apps", "StatefulSet"), ("apps", "DaemonSet"), ("batch", "Job")})
MOST = 2  # reasons that are told


async def what_pods_say(workload: Manifest, cluster: Cluster) -> str:
    """The most frequent reasons of pods that are not ready, `2 pods: container main: ImagePullBackOff`; empty when there is nothing to say.

    One request. What cannot be read is not said: it only explains, and decides nothing.
    """
    ref = Ref.of(workload)
    labels = ((workload.get("spec") or {}).get("selector") or {}).get("matchLabels") if ref[:2] in WORKLOADS else None
    if not labels:
        return ""
    selector = ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
    try:
        pods = (await cluster.list(await cluster.resource(Kind("", "v1", "Pod")), ref.namespace, labels=selector)).items
    except ClusterError:
        return ""
    said = Counter(judged.reason for judged in map(readiness, pods) if not judged.is_ready)
    return "; ".join(f"{count} {'pod' if count == 1 else 'pods'}: {reason}" for reason, count in said.most_common(MOST))
