"""Defines `grove explain`."""

from __future__ import annotations

import sys

import click

from grove_cli import output as outputs
from grove_cli.compilation import compile_files
from grove_cli.completed_values import object_names
from grove_cli.exit_codes import EXIT_FINDINGS
from grove_cli.explain.target import NoSuchField, ObjectTarget, TargetNotFound, find_object, parse_target, resolve_path
from grove_cli.explain.words import Words
from grove_cli.options import CompileOptions, context_options, filenames_option, pods_option, text_or_json_option
from grove_cli.short_names import means_kind
from grove_cli.terminal import visible
from grove_compiler.compile import VOCABULARY, CompileResult, Inputs
from grove_compiler.explain import Explainer, InputManifest, InputSource
from grove_compiler.explain.input_source import scalars
from grove_compiler.graph.field_path import FieldPath
from grove_compiler.graph.node import Node


@click.command(
    "explain",
    epilog="""\b
Examples:
  grove explain -f workload.yaml podgang/web-0                          the whole object, with the origin of each line
  grove explain -f workload.yaml podclique/web-0-a spec.minAvailable    one field: expression, inputs, patches
  grove explain -f workload.yaml pod/web-0-a-pjj2r spec.schedulerName -o json
  grove explain -f workload.yaml hpa/web-0-a                            why there is none
  grove explain -f workload.yaml pcs/web spec.template                  how defaults changed the set itself""",
)
@click.argument("target", metavar="KIND/NAME", shell_complete=object_names)
@click.argument("path", metavar="[PATH]", required=False, default="")
@filenames_option("The input: a file, a directory, or - for standard input", required=True)
@context_options
@pods_option
@text_or_json_option
def command(
    target: str,
    path: str,
    files: tuple[str, ...],
    context: CompileOptions,
    pods: bool,
    output: str,
) -> int:
    """Explain the origin of an object, or of one field.

    KIND/NAME is a generated object or an input manifest; KIND/NAMESPACE/NAME works as well. KIND is any that kubectl accepts.
    PATH is a field as in `spec.containers[0].image`, `{.spec.replicas}` or `/spec/replicas`.

    The answer names the rule and the template with file and line, the expression, the fields of your files that it read, each with
    its line or the default that set it, the patches that changed it, and the rules that did not apply with the condition that was false.
    """
    parsed = parse_target(target)
    if parsed is None:
        raise click.UsageError(f"{target!r} is not an object: expected KIND/NAME or KIND/NAMESPACE/NAME, such as podgang/web-0.")
    compiled = compile_files(files, context, pods=pods or means_kind(parsed.kind, "Pod"))
    if compiled.fails(context.strict):
        compiled.report()
        return EXIT_FINDINGS
    book = compiled.rules.book
    explainer = Explainer(compiled.inputs, book.traced(VOCABULARY), compiled.reader.snapshot_documents)
    return _Question(parsed, path, output, compiled.inputs, compiled.result, explainer, Words(explainer, book)).answer()


class _Question:
    """A question with its inputs, result and explainer."""

    def __init__(
        self, target: ObjectTarget, path: str, output: str, inputs: Inputs, result: CompileResult, explainer: Explainer, words: Words
    ) -> None:
        self.target, self.path, self.is_json = target, path, output == "json"
        self.inputs, self.result, self.explainer, self.words = inputs, result, explainer, words

    def answer(self) -> int:
        """Prints the answer. Returns 1 after printing why the object or field does not exist."""
        nodes = {node.id: node for node in self.result.graph.nodes}
        declared = {self._id(manifest): manifest for manifest in self.explainer.manifests if not manifest.is_snapshot}
        kinds = [rule.details["kind"] for rule in self.explainer.tracer.rules if rule.verb == "generate"]
        try:
            object_id = find_object(self.target, [*nodes, *(object_id for object_id in declared if object_id not in nodes)], kinds)
            answer = self._object(nodes[object_id]) if object_id in nodes else self._input(declared[object_id])
        except TargetNotFound as missing:
            self._print_missing(missing)
            return EXIT_FINDINGS
        outputs.write([answer])
        return 0

    def _id(self, input_manifest: InputManifest) -> str:
        """Returns the id of an input manifest after defaulting."""
        metadata = input_manifest.value.get("metadata") or {}
        place = f"{metadata['namespace']}/" if metadata.get("namespace") else ""
        return f"{input_manifest.kind}/{place}{metadata.get('name') or input_manifest.kind.lower()}"

    def _object(self, node: Node) -> bytes:
        answer = self.explainer.object(node)
        try:
            path = resolve_path(self.path, node.object)
        except NoSuchField as missing:
            from grove_cli.explain.as_text import absent_field_text

            missing.reasons = absent_field_text(answer, missing.path, self.words)
            raise
        if self.is_json:
            from grove_cli.explain.as_json import object_json

            return outputs.json_report(object_json(answer, self.result.graph, self.words, path))
        from grove_cli.explain.as_text import field_text, object_text

        text = field_text(answer, path, self.words) if path else object_text(answer, self.result.graph, self.words, self._status(node))
        return _visible(text)

    def _status(self, node: Node) -> list[str]:
        """Returns the status conditions that rules compute for an object."""
        found = [condition for status in self.result.statuses for condition in status.conditions if condition.of.id == node.id]
        return [f"{each.type}={each.status} {each.reason}: {self.words.rule(self.explainer.rules[each.rule])}" for each in found]

    def _input(self, input_manifest: InputManifest) -> bytes:
        path = resolve_path(self.path, input_manifest.value)
        fields: list[tuple[FieldPath, InputSource]] = [
            (at, self.explainer.inputs.source_at(input_manifest, at)) for at, _ in scalars(input_manifest.value) if at[: len(path)] == path
        ]
        if self.is_json:
            from grove_cli.explain.as_json import input_json

            return outputs.json_report(input_json(input_manifest, fields))
        from grove_cli.explain.as_text import input_text

        return _visible(input_text(input_manifest, path, fields, self.words))

    def _print_missing(self, missing: TargetNotFound) -> None:
        lines = [f"grove: {missing}"]
        if missing.nearest:
            lines.append(f'    did you mean "{missing.nearest}"?')
        lines += [f"    {line}" for line in missing.reasons]
        if missing.kind:
            from grove_cli.explain.as_text import skipped_text

            lines += [f"    {line}" for line in skipped_text(self.explainer.absent(missing.kind), self.words)]
        print("\n".join(map(visible, lines)), file=sys.stderr)


def _visible(text: str) -> bytes:
    return outputs.encoded("\n".join(map(visible, text.split("\n"))))
