"""`grove compile`: what PodCliqueSets become."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import click

from grove_operator.cli import output as outputs
from grove_operator.cli.compilation import Compilation, compile_files, declared
from grove_operator.cli.options import Context, input_options, max_objects_option, output_option, pods_option


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
@output_option("yaml", "json", "name", "summary", help="What to print: the objects, their names, or a summary for people.")
@pods_option
@max_objects_option
def command(
    files: tuple[str, ...],
    context: Context,
    output: str,
    pods: bool,
    max_objects: int,
) -> int:
    """Print every object that PodCliqueSets become, in apply order.

    FILE may be a manifest (YAML or JSON, any number of documents), a folder that is searched for *.yaml, *.yml and *.json, or
    - for standard input. Findings go to standard error; when there is an error, nothing is printed to standard output.
    """
    compiled = compile_files(files, context, pods=pods, max_objects=max_objects)
    if compiled is None:
        return 1
    compiled.report()
    if compiled.fails(context.strict):
        return 1
    outputs.write(_rendered(compiled, output))
    return 0


def _rendered(compiled: Compilation, output: str) -> Iterable[bytes]:
    nodes = compiled.result.graph.nodes
    if output == "yaml":
        return outputs.as_yaml(node.object for node in nodes)
    if output == "json":
        return outputs.as_json([node.object for node in nodes])
    if output == "name":
        return outputs.as_names(nodes)
    from grove_operator.cli.compile.summary import summarize
    from grove_operator.terminal import terminal_of

    return [outputs.encoded(summarize(compiled.result, dict(declared(compiled.inputs)), terminal_of(sys.stdout)))]
