"""Answers the compiler's questions about what exists from the applier's view of its cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from applier.cache import Query
from applier.errors import NotSynced
from applier.loop import View
from applier.ref import Kind, Manifest, Ref
from grove_compiler.graph.node import ObjectRef
from grove_compiler.model.inputs.snapshot import Changes, Unknown
from grove_operator.cluster.snapshot import DRIVER

T = TypeVar("T")

SET = ("grove.io", "PodCliqueSet")
NAMESPACE = Kind("", "v1", "Namespace")
COMPUTE_DOMAIN = Kind("resource.nvidia.com", "v1beta1", "ComputeDomain")
OURS = "app.kubernetes.io/managed-by=grove-operator"
WATCHED = (
    Query(Kind("grove.io", "v1alpha1", "PodCliqueSet")),
    Query(Kind("grove.io", "v1alpha1", "PodClique")),
    Query(Kind("grove.io", "v1alpha1", "PodCliqueScalingGroup")),
    Query(Kind("scheduler.grove.io", "v1alpha1", "PodGang")),
    Query(Kind("", "v1", "Pod"), managed=False, labels=OURS),
    Query(Kind("apps", "v1", "ControllerRevision"), labels=OURS),
    Query(Kind("grove.io", "v1alpha1", "ClusterTopology")),
    Query(Kind("grove.io", "v1alpha1", "ClusterTopologyBinding"), optional=True),
    Query(Kind("kai.scheduler", "v1alpha1", "Topology"), optional=True),
    Query(COMPUTE_DOMAIN, optional=True),
    Query(Kind("resource.k8s.io", "v1", "ResourceClaimTemplate"), optional=True),
    Query(Kind("resource.k8s.io", "v1", "ResourceClaim"), labels=OURS, optional=True),
    Query(Kind("scheduling.k8s.io", "v1", "PriorityClass"), optional=True),
    Query(Kind("", "v1", "Service"), labels=OURS),
    Query(Kind("", "v1", "Secret"), labels=OURS),
    Query(Kind("", "v1", "ServiceAccount"), labels=OURS),
    Query(Kind("rbac.authorization.k8s.io", "v1", "Role"), labels=OURS),
    Query(Kind("rbac.authorization.k8s.io", "v1", "RoleBinding"), labels=OURS),
    Query(Kind("autoscaling", "v2", "HorizontalPodAutoscaler")),  # whosever: none may scale a part of a training set (GREP-0285)
)
"""The kinds that every step may ask for, in their newest versions, and those that it makes: what is left over has to be seen to be deleted.

Schedulers' and drivers' kinds need not be installed: then there are no objects of theirs. Of Kubernetes' own kinds only what bears our
label is watched, for a cluster's other pods and Secrets are none of our business. No decision is made about fields of a Pod, so that
nobody needs to know who owns them, which is half of what a Pod weighs.
"""

CLUSTER_WIDE = frozenset({"ClusterTopology", "ClusterTopologyBinding", "Topology", "PriorityClass"})
"""Those of them that belong to no namespace."""

NO_DRIVER: Manifest = {**DRIVER, "spec": {"versions": []}}
"""What is said of the driver's kind where the server is known not to serve it."""


class LiveObjects:
    """Answers from a view (see `grove_compiler.model.inputs.snapshot.Objects`). Each question is one look into an index of the cache.

    `not_synced` is why the cache could not answer, if there was such a question.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self.not_synced: NotSynced | None = None

    def get(self, group: str, kind: str, namespace: str, name: str) -> Manifest | None:
        """See `Objects.get`."""
        if kind == DRIVER["kind"]:
            # Reading definitions may not be permitted; that the server serves the driver's kind, or does not, says as much.
            is_unserved = any(one[::2] == COMPUTE_DOMAIN[::2] for one in self._view.unserved())
            return NO_DRIVER if is_unserved else DRIVER
        if (group, kind) == SET:
            # Every step reads its set. To wake all replicas of a set whenever it counts another ready pod would cost what they all cost.
            return self._answer(lambda: self._view.peek(Ref(group, kind, namespace, name)))
        return self._answer(lambda: self._view.get(Ref(group, kind, namespace, name)))

    def by_owner(self, group: str, kind: str, owner: ObjectRef) -> list[Manifest]:
        """See `Objects.by_owner`. What has no UID does not exist, so it owns nothing."""
        return self._answer(lambda: self._view.by_owner(owner.uid, [(group, kind)])) if owner.uid else []

    def by_label(self, group: str, kind: str, key: str = "", value: str = "", namespace: str = "") -> list[Manifest]:
        """See `Objects.by_label`."""
        return self._answer(lambda: self._view.by_label(group, kind, f"{key}={value}" if key else "", namespace))

    def changes(self, group: str, kind: str, key: str, value: str, namespace: str, since: object = None) -> Changes | None:
        """See `Objects.changes`."""
        mark, refs = self._answer(lambda: self._view.changes(group, kind, key, value, namespace, since))
        return Changes(mark, None if refs is None else [ref.name for ref in refs])

    def _answer(self, question: Callable[[], T]) -> T:
        """The answer. Raises `Unknown` where there is none: the applier's `NotSynced` is a KeyError, which a rule may raise as well."""
        try:
            return question()
        except NotSynced as error:
            self.not_synced = error
            raise Unknown(str(error)) from error
