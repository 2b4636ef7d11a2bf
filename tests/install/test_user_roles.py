"""What people may do with sets in a namespace where somebody has bound `view` or `edit` of Kubernetes to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from applier.testing.control_plane import ControlPlane
from grove_operator.install.manifests import manifests
from grove_operator.install.user_values import load_values
from tests.controller.live.account import NAMESPACE

from .cluster import Cluster
from .test_rbac import OF_USERS

pytestmark = pytest.mark.cluster("kube-controller-manager")
READS = {
    f"list {resource}"
    for resource in (
        "podcliquesets.grove.io",
        "podcliques.grove.io",
        "podgangs.scheduler.grove.io",
        "computedomains.resource.nvidia.com",
        "podgroups.scheduling.run.ai",
    )
}
EDITS = {f"{verb} podcliquesets.grove.io" for verb in ("create", "patch", "delete")} | {
    f"patch {kind}.grove.io/scale" for kind in ("podcliquesets", "podcliques", "podcliquescalinggroups")
}
NOT_THEIRS = {"create podcliques.grove.io", "delete podgangs.scheduler.grove.io", "patch podcliques.grove.io/status"}
"""What a set becomes is the operator's."""
CLUSTER_WIDE = {"list clustertopologies.grove.io", "list topologies.kai.scheduler", "list priorityclasses.scheduling.k8s.io"}
VIEWERS = "userRoles.clusterViewers=[{kind: User, apiGroup: rbac.authorization.k8s.io, name: somebody}]"


class Users:
    """A cluster with the roles of an installation, and people with roles in a namespace of it."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.namespace = cluster, cluster.plane.create_namespace()
        made = manifests(load_values([], [VIEWERS]), NAMESPACE)
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
        cluster.apply(namespace, *(one for one in made if one["metadata"]["name"] in OF_USERS))

    def bind(self, role: str, user: str) -> None:
        self.cluster.kubectl("create", "rolebinding", user, f"--clusterrole={role}", f"--user={user}", "-n", self.namespace)

    def may(self, user: str, rights: set[str]) -> set[str]:
        """Which of these a user may do: `create podcliquesets.grove.io`."""
        return {right for right in rights if self._is_allowed(user, *right.split())}

    def _is_allowed(self, user: str, verb: str, what: str) -> bool:
        resource, _, subresource = what.partition("/")
        plural, _, group = resource.partition(".")
        place = {} if f"{verb} {what}" in CLUSTER_WIDE else {"namespace": self.namespace}
        attributes = {"verb": verb, "group": group, "resource": plural, "subresource": subresource, **place}
        spec: dict[str, Any] = {"user": user, "resourceAttributes": attributes}
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
        answer = self.cluster.plane.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
        return bool(answer["status"]["allowed"])


@pytest.fixture
def users(strict_plane: ControlPlane, tmp_path: Path) -> Users:
    return Users(Cluster(strict_plane, tmp_path))


@pytest.mark.parametrize(("role", "allowed"), [("view", READS), ("edit", READS | EDITS), ("admin", READS | EDITS)])
def test_the_roles_of_kubernetes_include_sets_and_what_they_become(users: Users, role: str, allowed: set[str]) -> None:
    users.bind(role, f"a-{role}")
    users.cluster.until(lambda: users.may(f"a-{role}", READS | EDITS | NOT_THEIRS | CLUSTER_WIDE), allowed)


def test_who_is_named_may_read_what_sets_depend_on_outside_of_namespaces(users: Users) -> None:
    users.cluster.until(lambda: users.may("somebody", CLUSTER_WIDE | READS | EDITS), CLUSTER_WIDE)
