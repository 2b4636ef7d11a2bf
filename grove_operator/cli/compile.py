"""`grove compile`: what PodCliqueSets become."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import click

from grove_compiler.compile import Result
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.graph.diagnostic import has_errors
from grove_compiler.model.settings import Settings
from grove_operator.cli import output as outputs
from grove_operator.cli.inputs import InputReader
from grove_operator.cli.options import input_options, mnnvl_shape_option
from grove_operator.cli.program import Rules

DEFAULT_MOST_OBJECTS = 200_000


@click.command(
    "compile",
    epilog="""\b
Examples:
  grove compile workload.yaml                     every object, in apply order
  grove compile workload.yaml --pods -o name      just the names, Pods too
  grove compile manifests/ -o summary             counts, gangs, GPUs and the tree
  grove compile pcs.yaml --config operator.yaml   with the operator's own configuration
  grove compile pcs.yaml --snapshot now.yaml      given what exists in the cluster
  grove compile - < pcs.yaml | kubectl diff -f -""",
)
@input_options
@mnnvl_shape_option
@click.option(
    "-o",
    "--output",
    type=click.Choice(("yaml", "json", "name", "summary")),
    default="yaml",
    show_default=True,
    help="What to print: the objects, their names, or a summary for people.",
)
@click.option("--pods", is_flag=True, help="Print the Pods as well; in a cluster another controller may own them.")
@click.option(
    "--max-objects",
    metavar="N",
    type=click.IntRange(min=1),
    default=DEFAULT_MOST_OBJECTS,
    show_default=True,
    help="Refuse sets that would become more objects than this.",
)
def command(
    files: tuple[str, ...],
    namespace: str,
    config: str | None,
    snapshot: str | None,
    kube_version: str,
    rules: tuple[str, ...],
    strict: bool,
    mnnvl_shape: str | None,
    output: str,
    pods: bool,
    max_objects: int,
) -> int:
    """Print every object that PodCliqueSets become, in apply order.

    FILE may be a manifest (YAML or JSON, any number of documents), a folder that is searched for *.yaml, *.yml and *.json, or
    - for standard input. Findings go to standard error; when there is an error, nothing is printed to standard output.
    """
    settings = Settings(namespace=namespace, pods=pods, kube_version=kube_version, max_objects=max_objects, mnnvl_shape=mnnvl_shape)
    reader = InputReader()
    inputs = reader.read(files, settings, config=config, snapshot=snapshot)
    book = Rules(rules)
    program = book.program()
    if program is None:
        return 1
    result = compile_inputs(inputs, program)
    found = reader.problems + result.diagnostics
    if found:
        from grove_operator.cli import findings  # only when something is wrong

        findings.write(found, lambda name: reader.find_file(name) or book.find_file(name), sys.stderr)
        if strict or has_errors(found):
            return 1
    outputs.write(_rendered(result, output))
    return 0


def _rendered(result: Result, output: str) -> Iterable[bytes]:
    nodes = result.graph.nodes
    if output == "yaml":
        return outputs.as_yaml(node.object for node in nodes)
    if output == "json":
        return outputs.as_json([node.object for node in nodes])
    if output == "name":
        return outputs.as_names(nodes)
    from grove_operator.cli.summary import summarize
    from grove_operator.cli.terminal import terminal_of

    return [summarize(result, terminal_of(sys.stdout)).encode("utf-8", "backslashreplace")]
