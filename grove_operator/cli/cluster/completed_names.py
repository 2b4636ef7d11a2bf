"""Completes names of objects in a shell by those that are in the cluster, as kubectl does."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING

import click

from grove_operator.cli.cluster.options import Target

if TYPE_CHECKING:
    from grove_operator.cli.cluster.session import Session

SECONDS = 2.0
"""How long a shell waits for names; later it has none."""

Complete = Callable[[click.Context, click.Parameter, str], list[str]]


def names_of(kind: str, labels: str = "") -> Complete:
    """Returns a function that completes names of a kind; without a cluster, or after a mistake, there are none."""

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
        given = context.params.get(parameter.name or "") or ()
        taken = set(given) if isinstance(given, tuple) else set()
        with contextlib.redirect_stderr(io.StringIO()):
            return [name for name in _read(context, kind, labels) if name.startswith(incomplete) and name not in taken]

    return complete


def _read(context: click.Context, kind: str, labels: str) -> list[str]:
    from grove_operator.cli.cluster import session as sessions

    values = {each.name: value for each in fields(Target) if (value := context.params.get(each.name))}
    target = Target(**{**values, "request_timeout": SECONDS, "verbosity": 0})
    names: list[str] = []

    async def work(session: Session) -> int:
        from grove_operator.cluster.list_query import ListQuery, read_list

        found = await read_list(session.cluster, ListQuery(kind, session.namespace, labels=labels))
        names.extend(each["metadata"]["name"] for each in found.objects)
        return 0

    sessions.run(work, target)
    return names
