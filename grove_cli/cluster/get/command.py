"""Defines `grove get`: trees, and lists of sets, jobs, gangs and pods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from grove_cli import output as outputs
from grove_cli.cluster import session as sessions
from grove_cli.cluster.completed_names import names_of
from grove_cli.cluster.optional_values import OptionalValues
from grove_cli.cluster.options import all_namespaces_option, query_options, selector_option, text_option
from grove_cli.cluster.session import Session, program_of
from grove_cli.cluster.target import take_target
from grove_cli.commands import Group
from grove_cli.options import adding, rules_option, text_or_json_option

if TYPE_CHECKING:
    from grove_cli.cluster.get.watch import Read


ALIASES = {
    "sets": ("set", "pcs", "podcliqueset", "podcliquesets"),
    "jobs": ("job",),
    "gangs": ("gang", "pg", "podgang", "podgangs"),
    "pods": ("pod", "po"),
}
"""kubectl's names of the kinds."""
EXIT_CODES = "\n\n\b\nExit codes: 0 shown, 1 a NAME was not found, 2 an error."

watch_option = click.option("-w", "--watch", is_flag=True, help="Redraw on every change, until interrupted.")


class WithAliases(Group):
    """A group whose lists may be called as kubectl calls their kinds."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        kind = cmd_name.lower().partition(".")[0]
        known = next((name for name, aliases in ALIASES.items() if kind in aliases), cmd_name)
        return super().get_command(ctx, known)


def _format(_: click.Context, __: click.Parameter, value: str) -> str:
    return value.removeprefix("=")  # click passes `-o=json` as `=json`


def _label_columns(_: click.Context, __: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(label for each in value for label in each.split(",") if label)


def _formats(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Completes the formats; those that take an expression end with `=`, as in kubectl."""
    from grove_cli.render.kubectl.formats import NAMES, WITH_EXPRESSION

    names = (f"{name}=" if name in WITH_EXPRESSION else name for name in NAMES)
    return [name for name in names if name.startswith(incomplete)]


_options = adding(
    query_options,
    all_namespaces_option,
    selector_option,
    text_option(
        "-o",
        "--output",
        metavar="FORMAT",
        callback=_format,
        shell_complete=_formats,
        help="As in kubectl: wide, name, json, yaml, jsonpath=TEMPLATE, jsonpath-as-json=TEMPLATE or custom-columns=HEADER:PATH,…",
    ),
    text_option("--sort-by", metavar="PATH", help="Sort by a field: .metadata.creationTimestamp."),
    text_option(
        "-L",
        "--label-columns",
        multiple=True,
        metavar="LABEL",
        callback=_label_columns,
        help="Add a column for a label; repeatable, or separated by commas.",
    ),
    click.option("--show-labels", is_flag=True, help="Add a column with all labels."),
    click.option("--no-headers", is_flag=True, help="Do not print column headers."),
    click.option("--ignore-not-found", is_flag=True, help="Do not treat a NAME that does not exist as an error."),
    watch_option,
)


def _listing(name: str, kind: str, help_text: str, *examples: str) -> click.Command:
    """Returns the command that lists a kind, whose view has its name."""

    @click.argument("names", metavar="[NAME]…", nargs=-1, shell_complete=names_of(kind))
    @_options
    def show(**given: Any) -> int:
        target = take_target(given)
        from grove_cli.cluster.get import views
        from grove_cli.cluster.get.listing import ListOptions, ViewListing

        listing = ViewListing(getattr(views, name.upper()), ListOptions(**given))
        return sessions.run(listing.show, target, long=given["watch"])

    epilog = "\b\nExamples:\n" + "\n".join(f"  {example}" for example in examples) + EXIT_CODES
    return click.command(name, cls=OptionalValues, epilog=epilog, help=help_text)(show)


LISTINGS = (
    _listing(
        "sets",
        "PodCliqueSet",
        "List PodCliqueSets: ready replicas and pods, gates, updates, GPUs in use, and what a set waits for.",
        "grove get sets                       the PodCliqueSets of a namespace: ready, gated, updated, and what they wait for",
        "grove get sets -A --watch            of all namespaces, redrawn on every change",
        "grove get sets qwen chat -o wide     two of them, with their type and revision",
        "grove get sets -l team=ml -o json    the objects, as kubectl prints them",
        "grove get sets -L team               with a column for a label",
        "grove get sets -o jsonpath='{.items[*].metadata.name}'",
        "grove get sets -A --sort-by .metadata.creationTimestamp -o custom-columns=NAME:.metadata.name,REPLICAS:.spec.replicas",
    ),
    _listing(
        "jobs",
        "PodCliqueSet",
        "List training workloads: phase, attempt, restarts, pods and GPUs in use, and what a workload waits for.",
        "grove get jobs                       the training workloads of a namespace",
        "grove get jobs -A -o wide            of all namespaces, with their deadlines",
        "grove get jobs sft -o name           podcliqueset.grove.io/sft",
    ),
    _listing(
        "gangs",
        "PodGang",
        "List PodGangs: phase, ready, scheduled and required pods, GPUs in use, and what a gang waits for.",
        "grove get gangs                      the gangs of a namespace",
        "grove get gangs -l app.kubernetes.io/part-of=qwen -o wide",
        "grove get gangs -o custom-columns=NAME:.metadata.name,PHASE:.status.phase",
    ),
    _listing(
        "pods",
        "Pod",
        "List the pods of PodCliqueSets with kubectl's columns, and with -o wide their gangs, GPUs and nodes.",
        "grove get pods                       the pods of all sets of a namespace",
        "grove get pods -l app.kubernetes.io/part-of=qwen --sort-by .spec.nodeName -o wide",
        'grove get pods -A -o jsonpath=\'{range .items[*]}{.metadata.name}{"\\t"}{.spec.nodeName}{"\\n"}{end}\'',
    ),
)


@click.group("get", cls=WithAliases)
def command() -> None:
    """Show what is in a cluster."""


@command.command(
    "tree",
    cls=OptionalValues,
    epilog="""\b
Examples:
  grove get tree qwen                  a PodCliqueSet, everything it owns, and why it is not ready
  grove get tree deploy/web -n shop    any other object
  grove get tree qwen --watch          redraw on every change
  grove get tree qwen -o json | jq '.. | select(.gates?) | .name'

\b
Exit codes: 0 shown, 2 not found, or an error.""",
)
@click.argument("name", metavar="[KIND/]NAME", shell_complete=names_of("PodCliqueSet"))
@query_options
@watch_option
@click.option("--ignore-not-found", is_flag=True, help="Show nothing and succeed if the object does not exist.")
@rules_option
@text_or_json_option
def tree(name: str, watch: bool, ignore_not_found: bool, rules: tuple[str, ...], output: str, **given: Any) -> int:
    """Draw an object with everything that it owns: readiness, gates, nodes, and reasons.

    NAME is a PodCliqueSet unless it has the prefix KIND/, with kinds as in kubectl.
    """
    target = take_target(given)

    async def work(session: Session) -> int:
        from grove_cli.cluster.get.output import drawn_tree
        from grove_cli.cluster.get.watch import Drawing
        from grove_cli.queries.live_states import readiness_check
        from grove_cli.queries.tree_query import NotThere, read_tree

        check = readiness_check(program_of(rules))

        async def read() -> Drawing:
            return drawn_tree(await read_tree(session.cluster, name, session.namespace), output, check)

        try:
            return await _shown(session, read, output, watch)
        except NotThere:
            if ignore_not_found and not watch:
                return 0
            raise

    return sessions.run(work, target, long=watch)


async def _shown(session: Session, read: Read, output: str, watch: bool) -> int:
    if watch:
        from grove_cli.cluster.get.watch import watch as draw_again

        return await draw_again(session, read, session.namespace, output)
    outputs.write([(await read()).text])
    return 0


for _listing in LISTINGS:
    command.add_command(_listing)
