"""The kinds of clusters that a control plane can be: plain, or one whose admission is as strict as that of guarded clusters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

QUOTA = "limits"
"""The name of the quota in namespaces of the kind `restricted`."""
AMPLE = {"limits.cpu": "1M", "limits.memory": "1Pi"}
"""More than tests use: what matters is that each container has to have limits."""
HARMLESS = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}
"""A container's security context that each Pod Security Standard admits."""
WITHOUT_LIMITS = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "without-limits"},
    "spec": {"containers": [{"name": "box", "image": "none", "securityContext": HARMLESS}]},
}
"""A pod that nothing but a quota on limits refuses."""


@dataclass(frozen=True, slots=True)
class ClusterKind:
    """Represents a kind of cluster: flags of its API server, and labels and quota (`hard`) of the namespaces that tests get."""

    name: str
    api_server_flags: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    hard: Mapping[str, str] = field(default_factory=dict)

    def quota(self) -> dict[str, Any]:
        """Returns the quota of a namespace, with the status that its controller would write: without one it would not count yet."""
        hard = dict(self.hard)
        status = {"hard": hard, "used": dict.fromkeys(hard, "0")}
        return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": QUOTA}, "spec": {"hard": hard}, "status": status}


PLAIN = ClusterKind("plain")
RESTRICTED = ClusterKind(
    "restricted",
    # As in OpenShift: who writes owner references needs rights on the owners, too.
    api_server_flags=("--enable-admission-plugins=OwnerReferencesPermissionEnforcement",),
    labels={"pod-security.kubernetes.io/enforce": "restricted"},
    hard=AMPLE,
)
KINDS = {kind.name: kind for kind in (PLAIN, RESTRICTED)}
