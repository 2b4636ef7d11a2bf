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
  helm template web | grove compile - --pass-through    and all that is no set, in an order to apply
  grove compile - < pcs.yaml | kubectl diff -f -""",
)
@input_options
@output_option("yaml", "json", "name", "summary", help="What to print: the objects, their names, or a summary for people.")
@pods_option
@max_objects_option
@click.option("--pass-through", is_flag=True, help="Print manifests of other kinds, too, each where it can be applied.")
def command(
    files: tuple[str, ...],
    context: Context,
    output: str,
    pods: bool,
    max_objects: int,
    pass_through: bool,
) -> int:
    """Print every object that PodCliqueSets become, in apply order.

    FILE may be a manifest (YAML or JSON, any number of documents), a folder that is searched for *.yaml, *.yml and *.json, or
    - for standard input. Findings go to standard error; when there is an error, nothing is printed to standard output.
    """
    if pass_through and output not in ("yaml", "json"):
        raise click.UsageError(f"--pass-through prints manifests, and -o {output} prints none: use -o yaml or -o json.")
    compiled = compile_files(files, context, pods=pods, max_objects=max_objects, keep_others=pass_through)
    if compiled is None:
        return 1
    compiled.report()
    if compiled.fails(context.strict):
        return 1
    if pass_through:
        return _with_others(compiled, output)
    outputs.write(_rendered(compiled, output))
    return 0


def _with_others(compiled: Compilation, output: str) -> int:
    """Prints everything that was given or made, but for the sets; 1 when one object is asked for twice."""
    from applier.desired import Cycle, Twice
    from grove_operator.cli.compile.pass_through import in_apply_order

    try:
        manifests = in_apply_order(compiled.result.graph, compiled.others)
    except (Twice, Cycle) as error:
        click.echo(f"grove: {error}", err=True)
        return 1
    outputs.write(outputs.as_yaml(manifests) if output == "yaml" else outputs.as_json(manifests))
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
