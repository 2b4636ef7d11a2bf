"""Resolves the parent object that `--applyset` names."""

from __future__ import annotations

from applier.cluster import Cluster
from applier.prune.applyset import ApplySet
from applier.ref import Kind
from grove_cli.queries.tree_query import check_name, served_kinds
from grove_compiler.version import __version__

TOOLING = f"kubectl/grove-v{__version__}"
"""The tooling label of new ApplySets. kubectl accepts only those of the tool `kubectl`, with any version after the slash."""
SECRET = Kind("", "v1", "Secret")


async def named_set(cluster: Cluster, text: str, namespace: str) -> ApplySet:
    """Returns the ApplySet of a parent: `NAME` is a Secret, as with kubectl, and `KIND/NAME` an object of another kind.

    Raises `NoSuchObject`, `ClusterError`.
    """
    word, _, name = text.rpartition("/")
    check_name(name, text)
    if not word:
        return ApplySet(SECRET, namespace, name, TOOLING)
    [resource], _ = await served_kinds(cluster, word)
    return ApplySet(resource.kind, namespace if resource.namespaced else "", name, TOOLING)
