"""Completes values in a shell: ids of rules, and objects of the files on the command line.

Invalid files and rules have no completions; the command reports their errors.
"""

from __future__ import annotations

import contextlib
import io
from dataclasses import fields

import click

from grove_cli.errors import Reported, UnreadableInput
from grove_cli.options import CompileOptions

WAITS_FOR_INPUT = "-"


def rule_ids(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Returns the ids of rules with a prefix, including those of `--rules`."""
    from grove_cli.program import LoadedRules

    with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(UnreadableInput, Reported):
        program = LoadedRules(context.params.get("rules") or ()).program()
        return sorted(rule.id for rule in program.rules if rule.id.startswith(incomplete))
    return []


def object_names(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Returns the objects compiled from the files of `-f`, as `podgang/web-0`."""
    files = context.params.get("files") or ()
    if not files or WAITS_FOR_INPUT in files:
        return []
    from grove_cli.compilation import compile_files

    given = CompileOptions(**{each.name: context.params[each.name] for each in fields(CompileOptions)})
    with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(UnreadableInput, Reported):
        compiled = compile_files(files, given, pods=True)
        nodes = compiled.result.graph.nodes
        names = (f"{node.object['kind'].lower()}/{node.object['metadata']['name']}" for node in nodes)
        return sorted(name for name in names if name.startswith(incomplete.lower()))
    return []
