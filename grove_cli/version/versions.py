"""Reads the versions of what is installed in a cluster, and formats them as text and as a value for programs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from applier.errors import Forbidden
from grove_cli.queries.installed import Definition, InstalledOperator, read_definitions, read_operators, reported_status
from grove_cli.queries.tree_query import NoSuchObject, served_kinds
from grove_cli.terminal import visible
from grove_compiler.decoder import SET_KIND
from grove_compiler.record import record
from grove_compiler.version import __version__

if TYPE_CHECKING:
    from grove_cli.cluster.session import Session

INSTALL = "grove crds | kubectl apply --server-side -f -"


@record
class Versions:
    """What a cluster has; an empty `server`, the `major.minor` of Kubernetes, stands for no cluster.

    `operators` are None if they may not be seen. Where there are none, `reported` may tell what one has reported that runs elsewhere.
    """

    server: str = ""
    operators: Sequence[InstalledOperator] | None = None
    definitions: Sequence[Definition] = field(default_factory=list)
    reported: str = ""


async def read_versions(session: Session) -> Versions:
    """Reads the versions. Raises `ClusterError`."""
    from grove_compiler.api.crd import crds  # imports pydantic

    server = await session.version()
    operators, definitions = await asyncio.gather(read_operators(session.cluster), read_definitions(session.cluster, crds()))
    return Versions(server, operators, definitions, "" if operators else await _reported(session))


async def _reported(session: Session) -> str:
    """Returns which set has a status that an operator has written, wherever it ran; empty if none, or if sets may not be read."""
    try:
        [resource], _ = await served_kinds(session.cluster, SET_KIND)
        sets = await session.cluster.list(resource)
    except (Forbidden, NoSuchObject):
        return ""
    return reported_status(sets.items)


def versions_text(versions: Versions) -> str:
    """Returns a line for each part, and for each definition that is not ours."""
    lines = [f"Client Version: v{__version__}"]
    if versions.server:
        absent = "unknown: no permission to list Deployments and Leases" if versions.operators is None else "not found"
        if versions.reported:
            where = "" if versions.operators is None else " in the cluster"
            absent += f"{where}; one that runs elsewhere, or did, has reported the {versions.reported}"
        lines += [f"Operator Version: {told}" for told in map(_operator, versions.operators or ())] or [f"Operator Version: {absent}"]
        lines += [*_definitions(versions.definitions), f"Kubernetes Version: v{versions.server}"]
    return "".join(f"{visible(line)}\n" for line in lines)


def versions_value(versions: Versions) -> dict[str, Any]:
    """Returns the versions as a value without empty fields; what is not known is absent."""
    value: dict[str, Any] = {"clientVersion": {"version": f"v{__version__}"}}
    if not versions.server:
        return value
    known = {} if versions.operators is None else {"operators": [_operator_value(each) for each in versions.operators]}
    return (
        value
        | known
        | {
            "definitions": [_definition_value(each) for each in versions.definitions],
            "serverVersion": {"version": f"v{versions.server}"},
        }
    )


def _operator(operator: InstalledOperator) -> str:
    if operator.holder:
        return f"unknown; {operator.holder} holds the lease in the namespace {operator.namespace}"
    version = f"v{operator.version}" if operator.version[:1].isdecimal() else operator.version or "unknown"
    where = f"deployment {operator.namespace}/{operator.name}, {operator.ready}/{operator.replicas} ready"
    return f"{version} ({where}, image {operator.image})"


def _definitions(definitions: Sequence[Definition]) -> Iterator[str]:
    missing = [each for each in definitions if not each.served]
    others = [each for each in definitions if each.served and each.matches is not True]
    versions = ", ".join(dict.fromkeys(each.version for each in definitions))
    if len(missing) == len(definitions):
        yield f"Definitions: not found; install them: {INSTALL}"
    elif not missing and not others:
        yield f"Definitions: {len(definitions)}, the same as this program's ({versions})"
    elif all(each.matches is None for each in definitions):
        yield f"Definitions: {len(definitions)} served ({versions}); whether they are ours is unknown: no permission to read them"
    else:
        yield f"Definitions: {len(definitions) - len(missing) - len(others)} of {len(definitions)} the same as this program's"
        yield from (f"  {each.name}: {_state(each)}" for each in definitions if each.matches is not True)


def _state(definition: Definition) -> str:
    if not definition.served:
        return "not found"
    if definition.version not in definition.served:
        return f"serves {', '.join(definition.served)}, not {definition.version}"
    if definition.difference is None:
        return f"serves {definition.version}; the rest is unknown: no permission to read definitions"
    return f"serves {definition.version}, which differs at {definition.difference}"


def _operator_value(operator: InstalledOperator) -> dict[str, Any]:
    if operator.holder:
        return {"namespace": operator.namespace, "leaseHolder": operator.holder}
    version = {"version": f"v{operator.version}"} if operator.version else {}
    counts = {"readyReplicas": operator.ready, "replicas": operator.replicas}
    return {"namespace": operator.namespace, "deployment": operator.name, **version, "image": operator.image, **counts}


def _definition_value(definition: Definition) -> dict[str, Any]:
    value = {"name": definition.name, "version": definition.version, "served": list(definition.served)}
    known = {} if definition.matches is None else {"matches": definition.matches}
    return value | known | ({"difference": definition.difference} if definition.served and definition.difference else {})
