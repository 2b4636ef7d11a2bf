"""Defines `grove compile`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

import click

from grove_cli import output as outputs
from grove_cli.compilation import Compilation, compile_files, declared
from grove_cli.exit_codes import EXIT_FINDINGS
from grove_cli.options import CompileOptions, input_options, max_objects_option, pods_option, preflight_values_option
from grove_compiler.graph.node import Manifest

FORMATS = ("yaml", "kubectl", "json", "name", "summary")
WITH_MANIFESTS = FORMATS[:3]


@click.command(
    "compile",
    epilog="""\b
Examples:
  grove compile workload.yaml                     every object, in apply order
  grove compile workload.yaml --pods -o name      just the names, Pods too
  grove compile manifests/ -o summary             counts, gangs, GPUs and the tree
  grove compile pcs.yaml --config operator.yaml   with the operator's own configuration
  grove compile pcs.yaml --snapshot now.yaml      considering what exists in the cluster
  grove compile pcs.yaml | kubectl apply -f -     without owners that kubectl cannot apply
  helm template web | grove compile - --pass-through | kubectl apply -f -""",
)
@input_options
@click.option(
    "-o",
    "--output",
    type=click.Choice(FORMATS),
    help="What to print. yaml, json: the objects. kubectl: the same YAML without owners whose UID nobody knows yet, which an API server "
    "refuses. name, summary: for people. By default yaml on a terminal, and kubectl into a file or a pipe.",
)
@pods_option
@max_objects_option
@click.option("--pass-through", is_flag=True, help="Also print manifests of other kinds, in apply order.")
@click.option(
    "--preflight",
    is_flag=True,
    help="Include the Pods with the checks that admission injects where preflight is installed; implies --pods.",
)
@preflight_values_option("--preflight-values")
def command(
    files: tuple[str, ...],
    context: CompileOptions,
    output: str | None,
    pods: bool,
    max_objects: int,
    pass_through: bool,
    preflight: bool,
    values: str | None,
) -> int:
    """Print all objects generated from PodCliqueSets, in apply order.

    FILE may be a manifest (YAML or JSON, any number of documents), a directory that is searched for *.yaml, *.yml and *.json, or
    - for standard input. Findings go to standard error; when there is an error, nothing is printed to standard output.
    """
    if pass_through and output not in (None, *WITH_MANIFESTS):
        raise click.UsageError(f"--pass-through requires -o yaml or -o json: -o {output} prints no manifests.")
    if values and not preflight:
        raise click.UsageError("--preflight-values requires --preflight.")
    compiled = compile_files(files, context, pods=pods or preflight, max_objects=max_objects, keep_others=pass_through)
    if preflight:
        _inject_checks(compiled, values)
    compiled.report()
    if compiled.fails(context.strict):
        return EXIT_FINDINGS
    if pass_through:
        return _with_others(compiled, output)
    if output == "summary":
        outputs.write(_summary(compiled))
    else:
        _write([node.object for node in compiled.result.graph.nodes], output)
    return 0


def _inject_checks(compiled: Compilation, values: str | None) -> None:
    """Applies the admission of preflight checks to compiled pods; adds its findings to those of the compilation.

    What exists is the snapshot, and what else stands in the input.
    """
    from grove_cli.preflight.values import values_of
    from grove_compiler.preflight import inject_compiled
    from grove_compiler.source.document import objects_in

    known = len(compiled.reader.problems)
    preflight = values_of(values, compiled.reader)
    given = [manifest for document in compiled.inputs.documents for _, manifest in objects_in(document.value) if isinstance(manifest, dict)]
    problems = compiled.reader.problems[known:]
    for subject in compiled.result.subjects:
        subject.nodes, findings = inject_compiled(subject.nodes, [*compiled.inputs.snapshot, *given], preflight, compiled.program)
        problems += findings
    vars(compiled.result).pop("graph", None)  # a cached property, computed from the unchanged pods
    compiled.findings += problems


def _write(objects: Sequence[Manifest], output: str | None) -> None:
    """Prints objects in a format; None selects it by the reader of standard output."""
    # A pipe or a file mostly leads to kubectl, and an API server rejects owner references without a UID. A terminal shows them, as the
    # designs do; `-o yaml` keeps them everywhere, and a message says so.
    if output is not None or not outputs.is_redirected():
        outputs.write(outputs.WRITERS[output or "yaml"](objects))
        return
    fewer = [outputs.without_unknown_owners(manifest) for manifest in objects]
    left_out = sum(one is not other for one, other in zip(objects, fewer, strict=True))
    outputs.write(outputs.as_yaml(fewer))
    if left_out:
        print(f"omitted the owners of {left_out} objects, which have no UID yet; -o yaml prints them", file=sys.stderr)


def _with_others(compiled: Compilation, output: str | None) -> int:
    """Prints all other and compiled manifests, without the sets, in the order in which `grove apply` would write them.

    Returns 1 for an object with two sources.
    """
    from applier.desired import Cycle, DuplicateObject
    from applier.plan.order import order
    from applier.ref import Ref
    from grove_operator.cluster.desired import Sources, desired_graph

    objects = [*(item.manifest for item in compiled.others), *(node.object for node in compiled.result.graph.nodes)]
    by_ref = {Ref.of(manifest): manifest for manifest in objects}
    try:
        waves = order(desired_graph(Sources(compiled.result.graph, compiled.others))).waves
    except (DuplicateObject, Cycle) as error:
        click.echo(f"grove: {error}", err=True)
        return EXIT_FINDINGS
    _write([by_ref[ref] for wave in waves for ref in wave], output)
    return 0


def _summary(compiled: Compilation) -> Iterable[bytes]:
    from grove_cli.compile.summary import summarize
    from grove_cli.terminal import terminal_of

    return [outputs.encoded(summarize(compiled.result, dict(declared(compiled.inputs)), terminal_of(sys.stdout)))]
