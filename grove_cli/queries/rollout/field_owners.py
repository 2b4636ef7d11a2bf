"""Finds the tools that own fields of a set, and put back what is changed there: Flux, Argo CD, Helm, `kubectl apply`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from applier.decision.fields import Fields, read_step
from applier.decision.managers import BadManagedFields, Identity, managers_of
from applier.outcome import ABSENT, ItemKey, Path, dotted
from applier.ref import Manifest
from kube_objects import json_pointer

CLIQUES = ("spec", "template", "cliques")


class Tool(NamedTuple):
    """A tool that applies manifests. `reaction` says what it does about a change of others, and when.

    `replaces_lists`: of a custom resource it writes whole lists, so that it takes away what others add to an item.
    """

    name: str
    reaction: str
    replaces_lists: bool = False
    is_steady: bool = False


SYNCS = "restores its own values on its next sync"
NEXT = "restores its own values on its next run"
UPDATERS = {
    "kubectl-client-side-apply": Tool("kubectl apply", NEXT, replaces_lists=True),
    "helm": Tool("Helm", NEXT, replaces_lists=True),
    "argocd-controller": Tool("Argo CD", SYNCS, replaces_lists=True, is_steady=True),
    "argocd-application-controller": Tool("Argo CD", SYNCS, replaces_lists=True, is_steady=True),
    "helm-controller": Tool("Flux", SYNCS, replaces_lists=True),
}
"""Tools that write with updates and patches, by field manager."""
APPLIERS = {
    "kustomize-controller": Tool("Flux", SYNCS, is_steady=True),
    "helm-controller": Tool("Flux", SYNCS, is_steady=True),
    "argocd-controller": Tool("Argo CD", SYNCS, is_steady=True),
    "helm": Tool("Helm", NEXT),
    "kubectl": Tool("kubectl apply", "restores its own values, or fails with a conflict, on its next run"),
    "grove": Tool("grove apply", "fails with a conflict on its next run"),
}
"""Tools that use server-side apply. Any other manager that does so declares its fields as well, and is called by its name."""


class OwningTool(NamedTuple):
    """A tool, and the changed fields that it owns."""

    tool: Tool
    paths: Sequence[Path]

    @property
    def fields(self) -> str:
        """The first of the fields, and how many more there are."""
        more = len(self.paths) - 1
        return dotted(self.paths[0]) + (f" and {more} more field{'s' * (more > 1)}" if more else "")


def owners_of_changes(live: Manifest, wanted: Manifest) -> list[OwningTool]:
    """Returns the tools that own fields in which `wanted` differs from the live object, and put them back.

    A tool that syncs steadily and replaces lists counts as the owner of all cliques. Unparsable managedFields count as none.
    """
    owners = [OwningTool(tool, tuple(owned_changes(fields, live, wanted))) for tool, fields in _tools(live)]
    steady = {owner.tool.name for owner in owners if owner.tool in _replacing(live, wanted) and owner.tool.is_steady}
    return [OwningTool(tool, paths or (CLIQUES,)) for tool, paths in owners if paths or tool.name in steady]


def later_replacers(live: Manifest, wanted: Manifest) -> list[Tool]:
    """Returns the tools that own none of the changed fields, but take away what is added to a clique when somebody runs them next."""
    owning = {owner.tool for owner in owners_of_changes(live, wanted)}
    return [tool for tool in _replacing(live, wanted) if tool not in owning]


def _replacing(live: Manifest, wanted: Manifest) -> list[Tool]:
    if json_pointer.at(live, json_pointer.join(CLIQUES)) == json_pointer.at(wanted, json_pointer.join(CLIQUES)):
        return []
    owned = json_pointer.join(f"f:{name}" for name in CLIQUES)
    return [tool for tool, fields in _tools(live) if tool.replaces_lists and json_pointer.at(fields, owned) is not None]


def _tools(live: Manifest) -> Iterator[tuple[Tool, Fields]]:
    try:
        managers = managers_of(live)
    except BadManagedFields:
        return
    for identity, entry in managers.items():
        if (tool := _tool(identity)) is not None:
            yield tool, entry.fields


def _tool(identity: Identity) -> Tool | None:
    if identity.subresource or identity.manager.startswith("grove-"):
        return None
    if identity.operation == "Apply":
        return APPLIERS.get(identity.manager) or Tool(identity.manager, NEXT)
    return UPDATERS.get(identity.manager)


def owned_changes(fields: Fields, before: Any, after: Any, path: Path = ()) -> Iterator[Path]:
    """Yields the deepest fields of a set of `managedFields` in which two values differ."""
    if before is after or before == after:
        return
    if not fields:
        yield path
        return
    found = False
    for step, below in fields.items():
        if step != ".":
            element = read_step(step)
            for each in owned_changes(below, _member(before, element), _member(after, element), (*path, element)):
                found = True
                yield each
    if not found and "." in fields and (before is ABSENT) != (after is ABSENT):
        yield path


def _member(value: Any, element: str | int | ItemKey) -> Any:
    if isinstance(element, str):
        return value.get(element, ABSENT) if isinstance(value, dict) else ABSENT
    if not isinstance(value, list):
        return ABSENT
    if isinstance(element, int):
        return value[element] if element < len(value) else ABSENT
    if element.fields[0][0] == "":
        return element.fields[0][1] if element.fields[0][1] in value else ABSENT
    # An absent key has its default, such as the protocol of a port.
    items = (item for item in value if isinstance(item, dict) and all(item.get(key, wanted) == wanted for key, wanted in element.fields))
    return next(items, ABSENT)
