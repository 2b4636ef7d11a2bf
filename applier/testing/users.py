"""Creates the users of a control plane: a token and a kubeconfig for each."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

MASTERS = "system:masters"
SERVERS = ("system:kube-controller-manager", "system:kube-scheduler", "system:kwok")
"""The users of the control plane's own servers. Their requests are not in the audit log."""

DEFAULT = {"admin": (MASTERS,), "viewer": ("applier:viewers",), "nobody": ()}
"""`admin` may do everything, `viewer` may read everything, `nobody` nothing until something is granted."""

VIEW_EVERYTHING = {
    "role": {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "applier:viewers"},
        "rules": [
            {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]},
            {"nonResourceURLs": ["*"], "verbs": ["get"]},
        ],
    },
    "binding": {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "applier:viewers"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "applier:viewers"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "applier:viewers"}],
    },
}


class User(NamedTuple):
    """Represents a user. `kubeconfig` is a file with one context, in the namespace `default`."""

    name: str
    token: str
    kubeconfig: Path


def create(folder: Path, extra: Mapping[str, Iterable[str]]) -> dict[str, User]:
    """Creates users with new tokens: the default ones, those of the servers, and `extra`, by name with groups. Writes the token file."""
    groups: dict[str, tuple[str, ...]] = {**DEFAULT, **dict.fromkeys(SERVERS, (MASTERS,))}
    groups |= {name: tuple(members) for name, members in extra.items()}
    users = {name: User(name, secrets.token_urlsafe(24), folder / "kubeconfigs" / f"{name.replace(':', '-')}.json") for name in groups}
    lines = [f'{user.token},"{name}","{name}"' + (f',"{",".join(groups[name])}"' if groups[name] else "") for name, user in users.items()]
    _write_private(folder / "tokens.csv", "\n".join(lines) + "\n")
    return users


def write_kubeconfig(user: User, url: str, certificate_authority: Path | None) -> None:
    """Writes a kubeconfig as JSON, which is YAML, too."""
    cluster: dict[str, Any] = {"server": url}
    if certificate_authority:
        cluster["certificate-authority"] = str(certificate_authority)
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": user.name,
        "clusters": [{"name": "test", "cluster": cluster}],
        "users": [{"name": user.name, "user": {"token": user.token}}],
        "contexts": [{"name": user.name, "context": {"cluster": "test", "user": user.name, "namespace": "default"}}],
    }
    _write_private(user.kubeconfig, json.dumps(config, indent=2))


def _write_private(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.write_text(text, "utf-8")
