"""Reads a PodCliqueSet by the name that a command line gives."""

from __future__ import annotations

from applier.cluster import Cluster, Resource
from applier.errors import ApplierError, NotFound
from applier.ref import Manifest
from grove_cli.queries.tree_query import NoSuchObject, NotThere, check_name, served_kinds
from grove_compiler.decoder import SET_KIND


async def read_set(cluster: Cluster, argument: str, namespace: str) -> tuple[Resource, Manifest]:
    """Reads the set `NAME` or `pcs/NAME`, and its resource. Raises `ClusterError`, `NoSuchObject`."""
    word, _, name = argument.rpartition("/")
    check_name(name, argument)
    [resource], _ = await served_kinds(cluster, word or SET_KIND)
    if resource.kind.kind != SET_KIND:
        raise NoSuchObject(f"{argument!r} is not a {SET_KIND}: expected its name")
    try:
        return resource, await cluster.get(resource, namespace, name)
    except NotFound:
        raise NotThere(f"there is no {SET_KIND} {name!r} in the namespace {namespace}") from None


def is_training(pcs: Manifest) -> bool:
    """Reports whether a set is a training workload."""
    return (pcs.get("spec") or {}).get("workloadType") == "Training"


class EditRefused(ApplierError):
    """An edit does not apply to the state of the set. The message has the alternative."""
