"""Carries out an edit of a set, unless a tool owns the fields that it changes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from applier.cluster import Cluster
from applier.errors import Invalid, WriteConflict
from applier.ref import Manifest, resource_version_of
from grove_cli.queries.rollout.edits import SetEdit, refuse_training
from grove_cli.queries.rollout.field_owners import OwningTool, Tool, later_replacers, owners_of_changes
from grove_cli.queries.tree_query import read_set
from grove_compiler.record import record
from grove_operator import field_managers
from kube_objects.manifest import resource_name

Plan = Callable[[Cluster, Manifest], Awaitable[SetEdit]]
"""Returns the edit of a set; one without changes if there is nothing to do. Raises `EditRefused`, `ClusterError`."""
TRIES = 5


@record
class Done:
    """What came of an edit of `set`. With `owners` it was not carried out; `later` are tools that take it back when they run next."""

    set: Manifest
    edit: SetEdit
    owners: Sequence[OwningTool] = ()
    later: Sequence[Tool] = ()

    @property
    def name(self) -> str:
        """The set as kubectl names it."""
        return resource_name(self.set)


async def carry_out(cluster: Cluster, plan: Plan, argument: str, namespace: str, *, dry_run: str, force: bool) -> Done:
    """Plans an edit for the set `NAME` or `pcs/NAME`, and carries it out. Raises `ClusterError`, `NoSuchObject`, `EditRefused`.

    `dry_run` is `none`, `client` or `server`. With `force` fields of tools are changed as well. A set that changes in between, as during a
    rollout its status does all the time, is read again.
    """
    for remaining in reversed(range(TRIES)):
        resource, pcs = await read_set(cluster, argument, namespace)
        refuse_training(pcs)
        edit = await plan(cluster, pcs)
        if not edit.changes:
            return Done(pcs, edit)
        wanted = edit.applied_to(pcs)
        owners = [] if force else owners_of_changes(pcs, wanted)
        if owners:
            return Done(pcs, edit, owners)
        metadata, version = pcs["metadata"], resource_version_of(pcs)
        if dry_run != "client":
            try:
                patch = edit.patch(version)
                target = resource, metadata["namespace"], metadata["name"]
                await cluster.patch(*target, patch, manager=field_managers.ROLLOUT, dry_run=dry_run == "server")
            except (Invalid, WriteConflict):
                _, now = await read_set(cluster, argument, namespace)
                if not remaining or resource_version_of(now) == version:
                    raise
                continue
        return Done(pcs, edit, later=[] if force else later_replacers(pcs, wanted))
    raise AssertionError("the last try ends the loop")
