"""Completes the words of `grove rules` in a shell: ids of rules, and behind `lives` those of lives."""

from __future__ import annotations

import contextlib
import io

import click

from grove_cli.completed_values import rule_ids
from grove_cli.reading.files import UnreadableInput


def words(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Returns the ids with a prefix, including those of `--rules`; none with rules that are wrong."""
    if (context.params.get("words") or ())[:1] != ("lives",):
        return rule_ids(context, parameter, incomplete)
    from grove_cli.program import LoadedRules
    from grove_cli.rules.lives import lives_of

    with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(UnreadableInput):
        rules = LoadedRules(context.params.get("rules") or ())
        if rules.program() is not None:
            return [life_id for life_id in lives_of(rules.book.sources()) if life_id.startswith(incomplete)]
    return []
