"""Maintains the record of a set during a run: wider than needed while members are written and deleted, and exact again at the end.

The order makes it safe. The record names every kind and namespace before the first member is written there, and drops one only after the
last member there is gone. A run that stops in between leaves a record that names too much, never too little.
"""

from __future__ import annotations

from applier.cluster import Cluster, Resource, find
from applier.errors import WriteConflict
from applier.prune.applyset import (
    BUILT_IN_PARENTS,
    PARENT_TYPE,
    ApplySet,
    ApplySetError,
    ApplySetScope,
    Record,
    parent_manifest,
    read_record,
    tool_of,
)
from applier.ref import DEFINITION_KIND, GroupKind

TRIES = 5  # how often the record is read again after a conflict


class Keeper:
    """Maintains the record of one set. `before` is the scope of members that existed before the run; `record` is the latest record."""

    def __init__(self, applyset: ApplySet, cluster: Cluster, resource: Resource, record: Record) -> None:
        self.applyset, self.cluster, self.resource = applyset, cluster, resource
        self.record = record
        self.before = record.scope

    @classmethod
    async def open(cls, applyset: ApplySet, cluster: Cluster) -> Keeper:
        """Reads the record. Raises `ApplySetError` when the parent cannot be used, `ClusterError` when it cannot be read."""
        resource = await cluster.resource(applyset.kind)
        if resource.namespaced != bool(applyset.namespace):
            lacks = "needs a namespace" if resource.namespaced else "has no namespace"
            raise ApplySetError(f"{applyset.parent} cannot be the parent of an ApplySet: a {applyset.kind.kind} {lacks}")
        if applyset.kind not in BUILT_IN_PARENTS:
            await _check_definition(resource, cluster)
        keeper = cls(applyset, cluster, resource, Record())
        await keeper.read()
        return keeper

    async def read(self) -> None:
        """Reads the record again, and adds its scope to `before`."""
        parent = await find(self.cluster, self.resource, self.applyset.namespace, self.applyset.name)
        self.record = read_record(self.applyset, parent)
        if self.record.resources:
            self.record.scope |= await _kinds_of(self.record.resources, self.cluster)
        self.before |= self.record.scope

    async def widen(self, scope: ApplySetScope) -> None:
        """Adds kinds and namespaces to the record. Makes no request when it names them already."""
        for _ in range(TRIES + 1):
            if not self._has_to_be_written(self.record.scope | scope):
                return
            try:
                await self._write(self.record.scope | scope)
            except WriteConflict:
                # Another run of the set wrote it: its additions are read and kept. Otherwise later prunes would miss its members.
                await self.read()
            else:
                return
        raise ApplySetError(f"{self.applyset.parent} is constantly written by another client: is another run of this ApplySet in progress?")

    async def narrow(self, scope: ApplySetScope) -> bool:
        """Reduces the record to this scope. Returns False without a change after a conflict: members of the other run are unknown here."""
        # Not retried, unlike widening: a record that names too much costs a list, one that names too little loses objects.
        if not self._has_to_be_written(scope):
            return True
        try:
            await self._write(scope)
        except WriteConflict:
            return False
        return True

    def _has_to_be_written(self, scope: ApplySetScope) -> bool:
        record = self.record
        if not record.resource_version:
            return bool(scope.kinds)
        return bool(record.resources) or record.scope != scope | self._own

    @property
    def _own(self) -> ApplySetScope:
        return ApplySetScope(namespaces=frozenset({self.applyset.namespace} - {""}))

    async def _write(self, scope: ApplySetScope) -> None:
        """Writes the record over the version that was read last. Raises `WriteConflict` when it has changed since."""
        manifest = parent_manifest(self.applyset, scope)
        if self.record.resource_version:
            manifest["metadata"]["resourceVersion"] = self.record.resource_version
        manager = f"{tool_of(self.applyset.tooling)}-applyset"
        # The fields belong to the tool that manages the set. It was checked that this is ours, so force is right.
        written = await self.cluster.apply(self.resource, manifest, manager=manager, force=True)
        self.record = read_record(self.applyset, written)


async def _check_definition(resource: Resource, cluster: Cluster) -> None:
    """Raises `ApplySetError` unless the kind's definition allows its objects to be parents."""
    definition = await find(cluster, await cluster.resource(DEFINITION_KIND), "", resource.name) or {}
    if ((definition.get("metadata") or {}).get("labels") or {}).get(PARENT_TYPE) != "true":
        raise ApplySetError(
            f"a {resource.kind.group_kind} cannot be the parent of an ApplySet: "
            f"only a ConfigMap, a Secret, or a kind whose CustomResourceDefinition has the label {PARENT_TYPE}=true can"
        )


async def _kinds_of(resources: frozenset[str], cluster: Cluster) -> ApplySetScope:
    """Returns the kinds of group resources (`plural.group`), as the record of an old kubectl names them. Raises `ApplySetError`."""
    kinds: dict[str, GroupKind] = {}
    for fresh in (False, True):
        kinds = {served.name: (served.kind.group, served.kind.kind) for served in await cluster.resources(fresh=fresh)}
        if kinds.keys() >= resources:
            break
    if unknown := resources - kinds.keys():
        raise ApplySetError(f"the record of the ApplySet names resources that the server does not serve: {', '.join(sorted(unknown))}")
    return ApplySetScope(frozenset(kinds[resource] for resource in resources))
