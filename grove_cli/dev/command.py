"""Defines `grove dev`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable

import click

from grove_cli.cluster.session import attempt, say
from grove_cli.commands import Group
from grove_cli.exit_codes import EXIT_ERROR, EXIT_FINDINGS
from grove_cli.options import FILES
from grove_cli.terminal import visible

folder_option = click.option(
    "--folder", metavar="DIR", type=FILES, help="Directory of the cluster ($XDG_STATE_HOME/grove/dev or ~/.local/state/grove/dev)."
)


@click.group("dev", cls=Group)
def command() -> None:
    """Run a local Kubernetes cluster with simulated nodes and GPUs, and the operator.

    It needs neither containers nor root. Pods are scheduled and become ready, but run no programs.
    """


@command.command(
    epilog="""\b
Examples:
  grove dev up                              16 nodes with 8 GPUs each, and the operator
  eval "$(grove dev up)"                    the same, and point $KUBECONFIG of this shell to it
  grove dev up --nodes 4 --gpus 4           a smaller one
  grove dev up --no-operator                to run `grove operator run` yourself
  grove dev up --build                      builds etcd, kube-apiserver and the rest first, once

\b
Exit codes: 0 running, 2 not running.""",
)
@click.option("--nodes", default=16, show_default=True, type=click.IntRange(1, 1000), metavar="N", help="Number of nodes, four per rack.")
@click.option("--gpus", default=8, show_default=True, type=click.IntRange(0, 64), metavar="N", help="Number of GPUs per node.")
@click.option("--no-operator", is_flag=True, help="Do not start the operator.")
@click.option("--build", is_flag=True, help="Build the programs of the control plane if they are missing (about 10 minutes).")
@folder_option
def up(nodes: int, gpus: int, no_operator: bool, build: bool, folder: str | None) -> int:
    """Start the cluster in the background, or show that it is running.

    Standard output has the commands that point a shell to the cluster, for `eval`. `grove dev down` deletes all its data.
    """

    def work() -> int:
        from grove_cli.dev import words
        from grove_cli.dev.folder import Folder
        from grove_cli.dev.start import Wish, ensure

        here, wish = Folder.chosen(folder), Wish(nodes, gpus, not no_operator)
        state, started = ensure(here, wish, builds=build)
        _tell(words.after_up(here, state, wish, started=started))
        print("\n".join(words.exports(here)))
        return 0

    return _with_testing(work)


@command.command(
    epilog="""\b
Examples:
  grove dev down

\b
Exit codes: 0 stopped, 2 still running.""",
)
@folder_option
def down(folder: str | None) -> int:
    """Stop the cluster with all its processes, and delete its data."""

    def work() -> int:
        from grove_cli.dev import words
        from grove_cli.dev.folder import Folder
        from grove_cli.dev.start import end

        here = Folder.chosen(folder)
        ran = end(here)
        here.forget()
        print(words.after_down(here) if ran else f"no cluster is running in {visible(str(here.path))}")
        return 0

    return _with_testing(work)


@command.command(
    epilog="""\b
Examples:
  grove dev status

\b
Exit codes: 0 running, 1 not running, or only in part.""",
)
@folder_option
def status(folder: str | None) -> int:
    """Show whether the cluster is running, and where its logs are."""
    from grove_cli.dev import words
    from grove_cli.dev.folder import Folder

    here = Folder.chosen(folder)
    state = here.running()
    print("\n".join(words.status(here, state)))
    return 0 if state is not None and not state.ended else EXIT_FINDINGS


def _tell(lines: Iterable[str]) -> None:
    """Prints lines beside those that a shell evaluates."""
    for line in lines:
        print(line, file=sys.stderr)


def _with_testing(work: Callable[[], int]) -> int:
    """Runs a command's work; says how to install `applier.testing`, which most installations are without."""
    try:
        return attempt(work)
    except ModuleNotFoundError as error:
        if not str(error.name).startswith("applier.testing"):
            raise
        from grove_cli import extras

        say(extras.missing("a cluster on this machine needs", error, "cluster", "testing"))
        return EXIT_ERROR
