"""The set that `--applyset` names."""

from __future__ import annotations

from applier.cluster import Cluster
from applier.prune.applyset import ApplySet
from applier.ref import Kind
from grove_compiler.version import __version__
from grove_operator.cluster.tree_query import check_name, find_kind

TOOLING = f"kubectl/grove-v{__version__}"
"""How new sets are marked. kubectl refuses those of any tool but `kubectl`; what is behind the slash is free, and says who it was."""
SECRET = Kind("", "v1", "Secret")


async def named_set(cluster: Cluster, text: str, namespace: str) -> ApplySet:
    """Returns the set of a parent: `NAME` is a Secret, as with kubectl, and `KIND/NAME` any other.

    Raises `NoSuchObject`, `ClusterError`.
    """
    word, _, name = text.rpartition("/")
    check_name(name, text)
    if not word:
        return ApplySet(SECRET, namespace, name, TOOLING)
    resource = find_kind(await cluster.resources(), word)
    return ApplySet(resource.kind, namespace if resource.namespaced else "", name, TOOLING)
