"""Completes values in a shell: rule ids, objects of the files on the command line, and what a cluster has.

Invalid files and rules, and clusters that do not answer at once, have no completions; the command reports their errors.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import fields
from typing import TYPE_CHECKING

import click

from grove_operator.cli.options import Context
from grove_operator.reading.files import UnreadableInput

if TYPE_CHECKING:
    from grove_operator.cli.cluster.session import Session

WAITS_FOR_INPUT = "-"
PATIENCE = 3.0
"""Seconds for which somebody who has pressed Tab waits for a cluster."""


def rule_ids(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Returns the ids of rules with a prefix, including those of `--rules`."""
    from grove_operator.cli.program import Rules

    with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(UnreadableInput):
        program = Rules(context.params.get("rules") or ()).program()
        return sorted(rule.id for rule in program.rules if rule.id.startswith(incomplete)) if program else []
    return []


def object_names(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Returns the objects compiled from the files of `-f`, as `podgang/web-0`."""
    files = context.params.get("files") or ()
    if not files or WAITS_FOR_INPUT in files:
        return []
    from grove_operator.cli.compilation import compile_files

    given = Context(**{each.name: context.params[each.name] for each in fields(Context)})
    with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(UnreadableInput):
        compiled = compile_files(files, given, pods=True)
        nodes = compiled.result.graph.nodes if compiled else []
        names = (f"{node.object['kind'].lower()}/{node.object['metadata']['name']}" for node in nodes)
        return sorted(name for name in names if name.startswith(incomplete.lower()))
    return []


def formats(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Returns the formats of `grove get … -o`; those that take an expression end with `=`, as in kubectl."""
    from grove_operator.render.kubectl.formats import NAMES, WITH_EXPRESSION

    names = (f"{name}=" if name in WITH_EXPRESSION else name for name in NAMES)
    return [name for name in names if name.startswith(incomplete)]


def set_names(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Returns the PodCliqueSets of the namespace, without those that are named already."""
    given = context.params.get("names") or ()

    async def names(session: Session) -> Iterable[str]:
        from grove_compiler.decoder import SET_KIND
        from grove_operator.cluster.tree_query import find_kind

        resource = find_kind(await session.cluster.resources(), SET_KIND)._replace(metadata_only=True)
        return [each["metadata"]["name"] for each in (await session.cluster.list(resource, session.namespace)).items]

    return [name for name in _in_cluster(context, names, incomplete) if name not in given]


def revision_numbers(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Returns the numbers of the revisions of the set that is named."""

    async def numbers(session: Session) -> Iterable[str]:
        from grove_operator.cluster.one_set import read_set
        from grove_operator.cluster.rollout.history import read_history

        _, set = await read_set(session.cluster, _name_in(context), session.namespace)
        return [str(each.number) for each in await read_history(session.cluster, set)]

    return _in_cluster(context, numbers, incomplete)


def clique_names(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Returns the cliques of the set that is named."""

    async def names(session: Session) -> Iterable[str]:
        from grove_operator.cluster.one_set import read_set

        _, set = await read_set(session.cluster, _name_in(context), session.namespace)
        return [clique["name"] for clique in set["spec"]["template"]["cliques"]]

    return _in_cluster(context, names, incomplete)


def _name_in(context: click.Context) -> str:
    """Returns the name on the command line; behind an option without its value, click has not assigned it yet."""
    return context.params.get("name") or next(iter(context.args), "")


def _in_cluster(context: click.Context, look: Callable[[Session], Awaitable[Iterable[str]]], incomplete: str) -> list[str]:
    """Returns what a look at the cluster of the command line finds, as far as it begins with `incomplete`."""
    import asyncio

    from grove_operator.cli.cluster import session as sessions
    from grove_operator.cli.cluster.options import Target, take_target

    found: list[str] = []

    async def work(session: Session) -> int:
        async with asyncio.timeout(PATIENCE):
            found.extend(await look(session))
        return 0

    with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(Exception):
        target = take_target({each.name: context.params.get(each.name, each.default) for each in fields(Target)})
        target.request_timeout = target.request_timeout or PATIENCE
        sessions.run(work, target)
    return sorted(name for name in found if name.startswith(incomplete))
