"""Completes in a shell what is in the cluster of the command line: names of objects, namespaces, revisions and cliques, as kubectl does.

Without a cluster that answers at once, or after a mistake, there are no completions; the command reports errors.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import fields
from typing import TYPE_CHECKING

import click

from grove_cli.cluster.target import ClusterFlags, take_target

if TYPE_CHECKING:
    from grove_cli.cluster.session import Session

PATIENCE = 2.0
"""Seconds for which somebody who has pressed Tab waits for a cluster."""

Complete = Callable[[click.Context, click.Parameter, str], list[str]]


def names_of(kind: str) -> Complete:
    """Returns a function that completes names of a kind, without those that are given already, and `KIND/NAME` where that may be given."""

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
        given = context.params.get(parameter.name or "") or ()
        word, slash, _ = incomplete.rpartition("/")
        if slash and "KIND/" not in str(parameter.metavar):
            return []

        async def names(session: Session) -> Iterable[str]:
            from grove_cli.queries.list_query import ListQuery, read_list

            found = await read_list(session.cluster, ListQuery(word or kind, session.namespace))
            return [f"{word}{slash}{each['metadata']['name']}" for each in found.objects]

        return [name for name in _in_cluster(context, names, incomplete) if not isinstance(given, tuple) or name not in given]

    return complete


def namespaces(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Returns the namespaces of the cluster."""

    async def names(session: Session) -> Iterable[str]:
        from applier.ref import NAMESPACE_KIND

        found = await session.cluster.list(await session.cluster.resource(NAMESPACE_KIND))
        return [each["metadata"]["name"] for each in found.items]

    return _in_cluster(context, names, incomplete)


def context_names(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Returns the contexts of the kubeconfig that the command line or the environment names."""
    import os

    from applier.transport.login.kubeconfig import locate, read

    with contextlib.suppress(Exception):
        found = read(locate(context.params.get("kubeconfig") or "", os.environ)).contexts
        return sorted(name for name in found if name.startswith(incomplete))
    return []


def revision_numbers(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Returns the numbers of the revisions of the set that is named."""

    async def numbers(session: Session) -> Iterable[str]:
        from grove_cli.queries.rollout.history import read_history
        from grove_cli.queries.tree_query import read_set

        _, pcs = await read_set(session.cluster, _name_in(context), session.namespace)
        return [str(each.number) for each in await read_history(session.cluster, pcs)]

    return _in_cluster(context, numbers, incomplete)


def clique_names(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Returns the cliques of the set that is named."""

    async def names(session: Session) -> Iterable[str]:
        from grove_cli.queries.tree_query import read_set

        _, pcs = await read_set(session.cluster, _name_in(context), session.namespace)
        return [clique["name"] for clique in pcs["spec"]["template"]["cliques"]]

    return _in_cluster(context, names, incomplete)


def _name_in(context: click.Context) -> str:
    """Returns the name on the command line; behind an option without its value, click has not assigned it yet."""
    return context.params.get("name") or next(iter(context.args), "")


def _in_cluster(context: click.Context, look: Callable[[Session], Awaitable[Iterable[str]]], incomplete: str) -> list[str]:
    """Returns what a look at the cluster of the command line finds, as far as it begins with `incomplete`."""
    import asyncio

    from grove_cli.cluster import session as sessions

    found: list[str] = []

    async def work(session: Session) -> int:
        async with asyncio.timeout(PATIENCE):
            found.extend(await look(session))
        return 0

    with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(Exception):
        target = take_target({each.name: context.params.get(each.name, each.default) for each in fields(ClusterFlags)})
        target.request_timeout = target.request_timeout or PATIENCE
        sessions.run(work, target)
    return sorted(name for name in found if name.startswith(incomplete))
