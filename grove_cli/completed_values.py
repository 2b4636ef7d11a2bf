"""Completes values in a shell: ids of rules, and objects of the files on the command line."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields

import click

from grove_cli.errors import Reported, UnreadableInput
from grove_cli.options import CompileOptions

WAITS_FOR_INPUT = "-"


def beginning_with(incomplete: str, values: Callable[[], Iterable[str]]) -> list[str]:
    """Returns the values with a prefix, sorted; none where files or rules are invalid: the command reports their errors."""
    with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(UnreadableInput, Reported):
        return sorted(value for value in values() if value.startswith(incomplete))
    return []


def rule_ids(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Returns the ids of rules with a prefix, including those of `--rules`."""
    from grove_cli.program import LoadedRules

    return beginning_with(incomplete, lambda: (rule.id for rule in LoadedRules(context.params.get("rules") or ()).program().rules))


def object_names(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Returns the objects compiled from the files of `-f`, as `podgang/web-0`."""
    files = context.params.get("files") or ()
    if not files or WAITS_FOR_INPUT in files:
        return []
    given = CompileOptions(**{each.name: context.params[each.name] for each in fields(CompileOptions)})

    def names() -> Iterator[str]:
        from grove_cli.compilation import compile_files

        for node in compile_files(files, given, pods=True).result.graph.nodes:
            yield f"{node.object['kind'].lower()}/{node.object['metadata']['name']}"

    return beginning_with(incomplete.lower(), names)
