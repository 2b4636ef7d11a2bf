"""Gives operators that tests start the rights of an installed one, and no others: what they lack, a test fails for."""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path

from applier.testing.control_plane import ControlPlane
from grove_operator.install.manifests import manifests
from grove_operator.install.user_values import load_values

NAMESPACE = "grove-system"
ACCOUNT = f"system:serviceaccount:{NAMESPACE}:grove-operator"
EVERYTHING = (
    "config.network.autoMNNVLEnabled=true",
    "config.scheduler.profiles=[{name: default-scheduler}, {name: kai-scheduler}, {name: volcano}]",
)
"""Values of an installation for clusters with all schedulers and drivers."""
RIGHTS = ("ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")


@functools.cache
def token_of(plane: ControlPlane) -> str:
    """A token of the operator's account, once the control plane has it with its roles, however often it gets them."""
    values = load_values([], [*EVERYTHING, "config.topologyAwareScheduling.enabled=true"])
    granted = [one for one in manifests(values, NAMESPACE) if one["kind"] in RIGHTS]
    plane.objects.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}, *granted])
    return plane.kubectl("create", "token", "grove-operator", "-n", NAMESPACE, "--duration", "3h").stdout.strip()


@functools.cache
def account_of(plane: ControlPlane) -> Path:
    """A kubeconfig of the operator's account."""
    config = json.loads(plane.kubeconfig.read_text())
    for user in config["users"]:
        user["user"] = {"token": token_of(plane)}
    path = plane.kubeconfig.parent / f"grove-operator-{os.getpid()}.kubeconfig"
    path.write_text(json.dumps(config))
    return path
