"""Defines the root command, and the modules of its subcommands."""

from __future__ import annotations

from typing import Any, NamedTuple

import click

from grove_compiler.version import __version__

WHOLE = 400
"""Characters, more than any first sentence has. click's default truncates it to 45."""


class CommandEntry(NamedTuple):
    """The module of a command below this package, and its line in the list of commands, for which nothing is imported."""

    module: str
    help: str


SECTIONS = {
    "Without a cluster": {
        "compile": CommandEntry("compile.command", "Print the objects that PodCliqueSets compile to"),
        "lint": CommandEntry("lint.command", "Validate manifests, and print all findings"),
        "explain": CommandEntry("explain.command", "Explain the origin of an object or a field"),
        "graph": CommandEntry("graph", "Draw the objects of PodCliqueSets"),
        "fit": CommandEntry("fit.command", "Check whether every gang fits on given nodes"),
        "impact": CommandEntry("impact.command", "Show the effects of an edit or a rule change on running pods"),
        "crds": CommandEntry("crds", "Print Grove's CustomResourceDefinitions"),
    },
    "In a cluster": {
        "get": CommandEntry("cluster.get.command", "Show sets, and trees of owned objects"),
        "describe": CommandEntry("describe.command", "Describe a set or a part of it on one page"),
        "why": CommandEntry("why.command", "Show what an object or every set waits for, down to the root cause"),
        "top": CommandEntry("top.command", "Show the pods, GPUs and memory of a set by gang and domain"),
        "logs": CommandEntry("logs.command", "Print the logs of a set's pods side by side"),
        "rollout": CommandEntry("rollout.command", "Follow, list, start, pause and undo rollouts"),
        "events": CommandEntry("events.command", "List the operator's events by time"),
        "timeline": CommandEntry("timeline.command", "Show what happened to a set over time, with a bar for each pod"),
        "serve": CommandEntry("serve.command", "Show sets in a browser, with live states and reasons"),
        "job": CommandEntry("job.command", "Suspend, resume and restart training jobs"),
        "diff": CommandEntry("cluster.diff.command", "Show differences between manifests and the cluster"),
        "plan": CommandEntry("cluster.plan.command", "Print what an apply would do, and save it"),
        "apply": CommandEntry("cluster.apply.command", "Apply manifests to the cluster"),
        "delete": CommandEntry("cluster.delete.command", "Delete the objects of manifests, and those generated from them"),
        "adopt": CommandEntry("cluster.adopt", "Take over fields from another field manager"),
    },
    "The operator": {
        "install": CommandEntry("install", "Print the manifests of an installation"),
        "operator": CommandEntry("operator.command", "Run the operator, or its webhooks, in a cluster"),
        "replay": CommandEntry("replay.command", "Replay a step of the operator from a recorded bundle"),
        "preflight": CommandEntry("preflight.command", "Test GPUs, links and collectives before a workload starts"),
        "initc": CommandEntry("initc", "Wait, inside a pod, for the cliques that it starts after"),
    },
    "Your own rules": {
        "rules": CommandEntry("rules.command", "List and show rules, check your own, create new ones"),
        "test": CommandEntry("test", "Compile test cases and compare with expected results"),
    },
    "Other": {
        "dev": CommandEntry("dev.command", "Run a local cluster with simulated nodes"),
        "version": CommandEntry("version.command", "Print the versions of the program, operator and definitions"),
        "completion": CommandEntry("completion", "Print a completion script for bash, zsh or fish"),
    },
}
COMMANDS = {name: entry.module for section in SECTIONS.values() for name, entry in section.items()}
"""The module of each command, below this package."""


class LazyGroup(click.Group):
    """A group that imports its commands when they are called, so that `grove compile` does not import `grove crds`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Takes `grove help COMMAND` for `grove COMMAND --help`, as kubectl, Helm and git do."""
        return super().parse_args(ctx, [*args[1:], "--help"] if args[:1] == ["help"] else args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        module = COMMANDS.get(cmd_name)
        if module is None:
            return None
        command: Any = __import__(f"grove_cli.{module}", fromlist=["command"]).command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        for section, entries in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl([(name, entry.help) for name, entry in entries.items()])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in COMMANDS and not ctx.resilient_parsing:
            import difflib  # only for a mistake

            close = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f' Did you mean "{close[0]}"?' if close else ""
            ctx.fail(f"Unknown command {args[0]!r}.{hint}")
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
Exit codes: 0 success, 1 findings, 2 usage error or unreadable input.""",
)
@click.version_option(__version__, prog_name="grove", message="%(prog)s %(version)s")
def grove() -> None:
    """Compile PodCliqueSets to Kubernetes objects, apply them, and run the operator."""


class Group(click.Group):
    """Lists commands with the whole first sentence of their help."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        commands = {name: command for name in self.list_commands(ctx) if (command := self.get_command(ctx, name)) is not None}
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(WHOLE)) for name, command in commands.items()])
