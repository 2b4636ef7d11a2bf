"""Formats the answers of `grove explain` as text: an object with its annotated YAML, or one field."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from grove_cli.explain.places import labelled, places
from grove_cli.explain.words import Words, policy, value
from grove_compiler.engine.tracing.provenance import Guard, Operation, Traced
from grove_compiler.explain import InputManifest, InputSource, ObjectAnswer, SkippedRule
from grove_compiler.graph.field_path import FieldPath, render, value_at
from grove_compiler.graph.graph import CompiledGraph
from grove_compiler.source.quoting import on_one_line
from kube_objects.words import listed, shortened

MAX_INPUTS = 3
MAX_SOURCES, MAX_CHOOSING = 12, 6
"""Limits of input lines in the answer about one field, which has at most 40 lines in total."""
WIDEST_LEFT = 72
LEGEND = "only a file of yours: copied from it; only a template or rule: a constant; `<-`: computed from"


def object_text(answer: ObjectAnswer, graph: CompiledGraph, words: Words, conditions: Sequence[str]) -> str:
    """Returns an object: its rule and the reasons for its existence, then its YAML with the origin of each line."""
    lines = [answer.node.id, *_about(answer, graph, words, conditions), ""]
    lines += _noted(answer.node.object, {path: _note(found, words) for path, found in answer.trace.fields.items()}, ())
    return "\n".join([*lines, "", LEGEND]) + "\n"


def field_text(answer: ObjectAnswer, path: FieldPath, words: Words) -> str:
    """Returns a field: its expression, inputs, and patches, including those that did not apply."""
    under = {at: field for at, field in answer.trace.fields.items() if at[: len(path)] == path}
    lines = [answer.node.id]
    if set(under) == {path}:
        lines += [f"{render(path)}: {value(under[path].value)}", "", *_origin(under[path], answer, words)]
    else:
        part = value_at(answer.node.object, path)
        notes = {at: _note(field, words) for at, field in under.items()}
        lines += ["", f"{render(path)}:", *_noted(part, notes, path, "  "), "", LEGEND, "", f"rule       {words.rule(answer.rule)}"]
    lines += _patches(answer, path, words)
    return "\n".join(lines) + "\n"


def absent_field_text(answer: ObjectAnswer, path: FieldPath, words: Words) -> list[str]:
    """Returns why a field is absent: the expressions that omitted it, and the false conditions.

    Empty for a field that no rule sets.
    """
    names = _names(path)
    lines = []
    for left in answer.trace.omissions:
        if _names(left.path) == names:
            lines.append(f"{words.place(left.origin.file, left.origin.line)} omits it: {left.origin.expression}")
            lines += [f"  {line}" for line in words.inputs(map(words.explainer.source_of, left.inputs))]
    for condition in answer.trace.conditions:
        at = _names(condition.path)
        if not condition.holds and condition.path and names[: len(at)] == at:
            lines += _false_condition(condition, words)
    for one in answer.skipped:
        lines.append(f"{words.rule(one.rule)} did not apply: {words.condition(one.condition)}")
    return lines


def input_text(input_manifest: InputManifest, path: FieldPath, fields: Sequence[tuple[FieldPath, InputSource]], words: Words) -> str:
    """Returns an input manifest, with the origin of declared and defaulted fields."""
    part = value_at(input_manifest.value, path)
    lines = [f"{input_manifest.id}, after defaulting" if not path else f"{input_manifest.id} {render(path)}", ""]
    if isinstance(part, dict | list) and part:
        lines += _noted(part, {at: _source(source, words) for at, source in fields}, path)
    else:
        lines += words.inputs(source for _, source in fields)
    unmet = [(at, condition) for at, condition in input_manifest.unmet.items() if at[: len(path)] == path]
    for at, condition in unmet:
        lines += ["", f"no default for {render(at)}", *_false_condition(condition, words)]
    return "\n".join(lines) + "\n"


def skipped_text(skipped: Sequence[SkippedRule], words: Words) -> list[str]:
    """Returns rules that could have produced an object and did not."""
    lines = []
    for one in skipped:
        times = f" ({one.count} times)" if one.count > 1 else ""
        lines.append(f"{words.rule(one.rule)} generated nothing{times}:")
        lines += [f"  {line}" for line in _false_condition(one.condition, words)]
    return lines


def _about(answer: ObjectAnswer, graph: CompiledGraph, words: Words, conditions: Sequence[str]) -> Iterator[str]:
    rule, node = answer.rule, answer.node
    yield f"rule       {words.rule(rule)}, templates/{rule.details['template']}"
    yield f"           {rule.doc}"
    for loop in answer.trace.loops:
        yield f"for        {loop.name} {loop.position} of {loop.expression}"
        yield from (f"             {line}" for line in words.inputs(map(words.explainer.source_of, loop.inputs)))
    for condition in answer.trace.conditions:
        if condition.rule == rule.id and not condition.path:
            yield f"because    `{condition.text}` holds"
    if node.owner is not None:
        yield f"owner      {node.owner.id}"
    after = [other.id for other in graph.dependencies(node)]
    if after:
        yield f"after      {listed(after, 4)}"
    if node.policy:
        yield f"policy     {policy(node.policy)}"
    yield from (f"status     {line}" for line in conditions)
    yield from (f"patched    {words.rule(patch)}: {patch.doc}" for patch in answer.patches)
    yield from (f"skipped    {words.rule(one.rule)}: {words.condition(one.condition)}" for one in answer.skipped)


def _origin(found: Traced, answer: ObjectAnswer, words: Words) -> Iterator[str]:
    rule = words.explainer.rules[found.rule]
    sources = words.sources_of(found)
    if not found.origin.expression:
        yield f"constant   {words.origin(found)}"
    else:
        yield f"made by    {words.origin(found)}   {found.origin.expression}"
    yield f"rule       {words.rule(rule)}"
    yield f"           {rule.doc}"
    if not sources and found.origin.expression:
        yield "from       none of your inputs: " + _loops(answer, found)
    source_of = words.explainer.source_of
    for head, inputs, most in (("from", sources, MAX_SOURCES), ("chosen by", words.choosing(found), MAX_CHOOSING)):
        for number, line in enumerate(words.few_inputs(inputs, most)):
            yield f"{'' if number else head:11}{line}"
    yield from labelled("by way of", places(map(source_of, found.passed)))
    yield from labelled("there by", places(map(source_of, found.deciding)))
    yield from labelled("exists by", places(map(source_of, answer.existence)))


def _loops(answer: ObjectAnswer, found: Traced) -> str:
    used = [f"{loop.name} {loop.position} of {loop.expression}" for loop in answer.trace.loops if loop.name in found.names]
    return ", ".join(used) or "the expression does not depend on any input"


def _patches(answer: ObjectAnswer, path: FieldPath, words: Words) -> Iterator[str]:
    touched = [operation for operation in answer.trace.operations if _touches(operation, path)]
    for operation in touched:
        origin = words.explainer.rules[operation.rule].origin
        place = words.place(operation.file, operation.line, origin)
        yield f"patched    {operation.rule} ({place}): {operation.word} /{'/'.join(operation.path)}"
    if not touched:
        yield "patched    by no rule"
    for one in answer.skipped:
        yield f"skipped    {words.rule(one.rule)}: {words.condition(one.condition)}"


def _touches(operation: Operation, path: FieldPath) -> bool:
    """Returns whether an operation concerns the field, a part of it, or its parent."""
    there = operation.path[:-1] if operation.path[-1] == "-" else operation.path
    here = [str(step) for step in path]
    length = min(len(there), len(here))
    return list(there[:length]) == here[:length]


def _false_condition(condition: Guard, words: Words) -> list[str]:
    """Returns a condition that does not hold, with the inputs that it read."""
    rule = words.explainer.rules[condition.rule]
    place = words.place(condition.file, condition.line, rule.origin if condition.file == rule.file else "")
    reads = [f"  {line}" for line in words.inputs(map(words.explainer.source_of, condition.inputs))]
    return [f"{place} {words.condition(condition)}", *reads]


def _names(path: FieldPath) -> list[str]:
    """Returns the keys of a path without indices, which differ between templates and objects."""
    return [step for step in path if isinstance(step, str) and not step.startswith("$")]


def _note(found: Traced, words: Words) -> str:
    """Returns the origin of a field; for a copied one also the inputs that selected it."""
    sources = words.sources_of(found)
    if found.sources[1] and len(sources) == 1 and sources[0].kind != "configuration":
        chosen = _short(places(words.choosing(found)), sources[0].file)
        return _source(sources[0], words) + (f" by {listed(chosen, MAX_INPUTS)}" if chosen else "")
    origin = words.origin(found)
    return f"{origin} <- {listed(_sources(sources, words), MAX_INPUTS)}" if sources and found.origin.expression else origin


def _short(texts: Sequence[str], file: str) -> list[str]:
    """Returns places without the file that was named before them."""
    return [text.removeprefix(file) if file and text.startswith(f"{file}:") else text for text in texts]


def _sources(inputs: Sequence[InputSource], words: Words) -> list[str]:
    """Returns the distinct origins of inputs; a file is not repeated for consecutive lines."""
    sources, previous = [], ""
    for text in dict.fromkeys(each.rule or _source(each, words) for each in inputs):
        file, colon, line = text.rpartition(":")
        is_again = bool(colon) and line.isdigit() and file == previous
        sources.append(f":{line}" if is_again else text)
        previous = file if colon and line.isdigit() else ""
    return sources


def _source(source: InputSource, words: Words) -> str:
    if source.kind == "default":
        below = _sources(source.inputs, words)
        return source.rule + (f" <- {listed(below, MAX_INPUTS)}" if below else "")
    if source.kind == "schema":
        return "schema"
    if source.kind == "setting":
        return f"--{render(source.path).replace('_', '-')}"
    if source.kind == "configuration":
        return "operator configuration"
    place = f"{source.file}:{source.line}" if source.line else source.name
    return f"{render(source.path[-1:])} not set" if source.kind == "absent" else place


def _noted(value: Any, notes: dict[FieldPath, str], path: FieldPath, indent: str = "") -> Iterator[str]:
    """Yields YAML with a comment for each scalar."""
    rows = [(indent + line, notes.get(at, "") if at is not None else "") for line, at in _rows(value, path, "")]
    width = max((len(line) for line, _ in rows if len(line) <= WIDEST_LEFT), default=0)
    for line, note in rows:
        yield f"{line.ljust(width)}  # {note}" if note else line


def _rows(value: Any, path: FieldPath, indent: str) -> Iterator[tuple[str, FieldPath | None]]:
    """Yields lines of YAML, each with the path of its scalar."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _entry(f"{indent}{on_one_line(key)}:", part, (*path, key), indent + ("" if isinstance(part, list) else "  "))
    else:
        for index, part in enumerate(value):
            if isinstance(part, dict | list) and part:
                rows = list(_rows(part, (*path, index), indent + "  "))
                yield f"{indent}- {rows[0][0].lstrip()}", rows[0][1]
                yield from rows[1:]
            else:
                yield from _entry(f"{indent}-", part, (*path, index), indent)


def _entry(head: str, part: Any, path: FieldPath, indent: str) -> Iterator[tuple[str, FieldPath | None]]:
    if isinstance(part, dict | list) and part:
        yield head, None
        yield from _rows(part, path, indent)
    else:
        text = on_one_line(part) if isinstance(part, str) else value(part)
        yield f"{head} {shortened(text, WIDEST_LEFT)}", path
