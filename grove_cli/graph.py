"""Implements `grove graph`: draws the objects of PodCliqueSets."""

from __future__ import annotations

import sys

import click

from grove_cli import output as outputs
from grove_cli.compilation import Compilation, compile_files, declared
from grove_cli.exit_codes import EXIT_FINDINGS
from grove_cli.options import FILES, CompileOptions, input_options, max_objects_option, output_option, pods_option
from grove_cli.render.collapse import collapse
from grove_cli.render.input_lines import Lines
from grove_cli.render.picture import Picture, draw, simplify
from grove_compiler.compile import CompileResult, Inputs
from grove_compiler.graph.diagnostic import Diagnostic, has_errors
from grove_compiler.graph.order import GraphCycle


@click.command(
    "graph",
    epilog="""\b
Examples:
  grove graph workload.yaml                                 owners and what they own, as a tree
  grove graph workload.yaml --pods -o html --output-file graph.html
                                                            a self-contained page for a browser
  grove graph workload.yaml -o dot | dot -Tsvg              by Graphviz
  grove graph workload.yaml -o mermaid                      for Markdown
  grove graph workload.yaml -o json | jq '.nodes[].id'      for programs""",
)
@input_options
@output_option(
    "tree",
    "mermaid",
    "dot",
    "json",
    "html",
    help_text="Output format: a tree for the terminal, text for Mermaid or Graphviz, JSON, or a page for a browser.",
)
@click.option("--output-file", metavar="FILE", type=FILES, help="The file to write to, instead of standard output.")
@pods_option
@click.option("--all", "whole", is_flag=True, help="Draw repeated objects one by one; otherwise tree, mermaid and dot show their number.")
@click.option("--lines", is_flag=True, help="In the page, name the lines of the input behind each field; takes about 30 ms per object.")
@max_objects_option
def command(
    files: tuple[str, ...],
    context: CompileOptions,
    output: str,
    output_file: str | None,
    pods: bool,
    whole: bool,
    lines: bool,
    max_objects: int,
) -> int:
    """Draw the objects of PodCliqueSets: owners, gangs, topology levels, and packing constraints.

    FILE is as for `grove compile`. Findings are printed to standard error; after an error nothing is drawn.
    """
    if output == "html" and output_file is None and sys.stdout is not None and sys.stdout.isatty():
        raise click.UsageError("A page cannot be printed to a terminal: add --output-file graph.html, or redirect standard output.")
    if lines and output != "html":
        raise click.UsageError(f"--lines requires -o html, not -o {output}.")
    compiled = compile_files(files, context, pods=pods, max_objects=max_objects)
    picture = None if has_errors(compiled.findings) else _picture(compiled.result, compiled.inputs, compiled.findings)
    compiled.report()
    if picture is None or compiled.fails(context.strict):
        return EXIT_FINDINGS
    _write(outputs.encoded(_rendered(picture, output, whole, compiled, lines)), output_file)
    return 0


def _picture(result: CompileResult, inputs: Inputs, found: list[Diagnostic]) -> Picture | None:
    """Returns the picture; None after adding a finding about cyclic dependencies."""
    try:
        return draw(result.graph, dict(declared(inputs)))
    except GraphCycle as cycle:
        found.append(Diagnostic("graph/cycle", "error", str(cycle), hint="see `after` and `owner` of these objects' rules"))
        return None


def _rendered(picture: Picture, output: str, whole: bool, compiled: Compilation, lines: bool) -> str:
    """Renders the picture. Each format is imported when it is used."""
    if output == "json":
        from grove_cli.render.as_json import as_json

        return as_json(picture)
    if output == "html":
        from grove_cli.render.as_html import as_html
        from grove_cli.render.states import find_states
        from grove_compiler.model.inputs.snapshot import ObjectList

        docs = {rule.id: rule.doc for rule in compiled.program.rules}
        states = find_states(picture.vertices, ObjectList(compiled.inputs.snapshot))
        return as_html(simplify(picture), docs, states, _lines(compiled) if lines else None)
    if output == "tree":
        from grove_cli.render.as_tree import as_tree
        from grove_cli.terminal import terminal_of

        return as_tree(picture, terminal_of(sys.stdout), whole)
    shown = simplify(picture) if whole else collapse(simplify(picture))
    hidden = len(picture.vertices) - sum(not vertex.note for vertex in shown.vertices)
    if output == "mermaid":
        from grove_cli.render.as_mermaid import as_mermaid

        return as_mermaid(shown, hidden)
    from grove_cli.render.as_dot import as_dot

    return as_dot(shown, hidden)


def _lines(compiled: Compilation) -> dict[str, Lines]:
    """Returns the input lines of each field by the object's id. Shows its progress, as a large set takes a minute."""
    from grove_cli.render.input_lines import find_lines
    from grove_compiler.compile import VOCABULARY
    from grove_compiler.explain import Explainer

    explainer = Explainer(compiled.inputs, compiled.rules.book.traced(VOCABULARY), compiled.reader.snapshot_documents)
    nodes = compiled.result.graph.nodes
    shown = click.progressbar(find_lines(nodes, explainer), length=len(nodes), label="lines behind fields", file=sys.stderr)
    with shown as found:
        return dict(found)


def _write(data: bytes, path: str | None) -> None:
    if path is None:
        outputs.write([data])
    else:
        with open(path, "wb") as stream:
            stream.write(data)
