"""The root command, and where each of its commands is found."""

from __future__ import annotations

from typing import Any, NamedTuple

import click

from grove_compiler.version import __version__


class Entry(NamedTuple):
    """Where a command is found, below this package, and what the list of all says of it: one line, for which nothing is imported."""

    module: str
    says: str


SECTIONS = {
    "Without a cluster": {
        "compile": Entry("compile.command", "Print every object that PodCliqueSets become"),
        "lint": Entry("lint.command", "Print everything that is wrong with manifests"),
        "explain": Entry("explain.command", "Say why an object or a field is as it is"),
        "graph": Entry("graph", "Draw what PodCliqueSets become"),
        "fit": Entry("fit.command", "Say whether every gang can be placed on given nodes"),
        "impact": Entry("impact.command", "Say what an edit, or a change of rules, does to what runs"),
        "crds": Entry("crds", "Print our CustomResourceDefinitions"),
    },
    "In a cluster": {
        "get": Entry("cluster.get.command", "Show sets, and trees of what they own"),
        "why": Entry("why.command", "Say what an object waits for, down to the last cause"),
        "events": Entry("events.command", "List what the operator told, in order"),
        "serve": Entry("serve.command", "Show sets in a browser, with states and reasons, as they change"),
        "job": Entry("job.command", "Tell what happened to training jobs, suspend and restart them"),
        "diff": Entry("cluster.diff.command", "Show how manifests differ from what is there"),
        "plan": Entry("cluster.plan.command", "Print what an apply would do, and keep it"),
        "apply": Entry("cluster.apply.command", "Make the cluster equal to manifests"),
        "delete": Entry("cluster.delete.command", "Delete the objects of manifests, and what we made of them"),
        "adopt": Entry("cluster.adopt", "Take over the fields that another manager owns"),
    },
    "The operator": {
        "install": Entry("install", "Print what makes a cluster have the operator"),
        "operator": Entry("operator.command", "Keep a cluster's PodCliqueSets as the rules say"),
        "replay": Entry("replay.command", "Take a step of the operator again, from a bundle that it kept"),
        "preflight": Entry("preflight.command", "Test GPUs, links and collectives before a workload starts"),
        "initc": Entry("initc", "Wait, inside a pod, for the cliques that start before it"),
    },
    "Your own rules": {
        "rules": Entry("rules.command", "List rules, show one, check your own, begin a new one"),
        "test": Entry("test", "Compile cases and compare with what is expected"),
    },
    "Other": {
        "completion": Entry("completion", "Print a completion script for bash, zsh or fish"),
    },
}
COMMANDS = {name: entry.module for section in SECTIONS.values() for name, entry in section.items()}
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

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        for section, entries in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl([(name, entry.says) for name, entry in entries.items()])

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
    """Compile PodCliqueSets to every Kubernetes object that should exist, and keep a cluster so."""
