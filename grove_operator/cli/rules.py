"""`grove rules`: which rules there are, what each is for, and where it comes from."""

from __future__ import annotations

import click

from grove_compiler.engine.program import RuleInfo
from grove_operator.cli.options import rules_option
from grove_operator.rulebook import SHIPPED


@click.command(
    "rules",
    epilog="""\b
Examples:
  grove rules                     what ships
  grove rules --rules my-rules/   with a folder of your own: added, replaced and disabled rules take effect""",
)
@rules_option
def command(rules: tuple[str, ...]) -> int:
    """List the rules in force, and what each is for.

    A line has the id, the verb, where the rule stands, and its documentation.
    """
    from grove_operator.cli.program import Rules
    from grove_operator.cli.terminal import visible

    program = Rules(rules).program()
    if program is None:
        return 1
    rows = [(rule.id, rule.verb, _place(rule), rule.doc) for rule in program.rules]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, [*widths, 0], strict=True)]
        click.echo(visible("  ".join(cells)))
    return 0


def _place(rule: RuleInfo) -> str:
    return f"{rule.file}:{rule.line}" if rule.origin == SHIPPED else f"{rule.origin}: {rule.file}:{rule.line}"
