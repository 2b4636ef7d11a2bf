"""The root command, and where each of its commands is found."""

from __future__ import annotations

from typing import Any

import click

from grove_compiler.version import __version__

COMMANDS = {
    "compile": "compile.command",
    "lint": "lint.command",
    "crds": "crds",
    "fit": "fit.command",
    "graph": "graph",
    "explain": "explain.command",
    "impact": "impact.command",
    "rules": "rules.command",
    "test": "test",
    "diff": "cluster.diff.command",
    "plan": "cluster.plan.command",
    "apply": "cluster.apply.command",
    "delete": "cluster.delete.command",
    "adopt": "cluster.adopt",
    "get": "cluster.get.command",
    "why": "why.command",
    "install": "install",
    "operator": "operator.command",
    "preflight": "preflight.command",
    "initc": "initc",
    "completion": "completion",
}
"""The module of each command, below this package."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are asked for: `grove compile` does not pay for `grove crds`."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        module = COMMANDS.get(cmd_name)
        if module is None:
            return None
        command: Any = __import__(f"grove_operator.cli.{module}", fromlist=["command"]).command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            import difflib  # only for a mistake

            close = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f' Did you mean "{close[0]}"?' if close else ""
            ctx.fail(f"There is no command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Examples:
  grove compile workload.yaml                 every object, as YAML, in apply order
  grove compile workload.yaml -o summary      what it becomes, as a tree
  grove lint manifests/ --strict              checks only; warnings fail
  kubectl get pcs -o yaml | grove compile -   from standard input

\b
Exit codes: 0 fine, 1 findings, 2 misuse or unreadable input.""",
)
@click.version_option(__version__, prog_name="grove", message="%(prog)s %(version)s")
def grove() -> None:
    """Compile PodCliqueSets to every Kubernetes object that should exist, without a cluster."""
