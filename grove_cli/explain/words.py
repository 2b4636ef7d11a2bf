"""Formats places, values, inputs and conditions for `grove explain`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from grove_cli.explain.places import grouped
from grove_cli.rulebook import Rulebook
from grove_compiler.engine.runtime.failure import RuleInfo
from grove_compiler.engine.tracing.provenance import Guard, Traced
from grove_compiler.engine.tracing.tracking import plain
from grove_compiler.explain import Explainer, InputSource
from grove_compiler.graph.field_path import render
from grove_operator.wording import short_value

MAX_VALUE_LENGTH = 60


class Words:
    """Formats parts of answers. Built-in rules are named by their file in the package, the user's by their path."""

    def __init__(self, explainer: Explainer, book: Rulebook) -> None:
        self.explainer = explainer
        self.place = book.place
        self._names_objects = sum(not manifest.is_snapshot for manifest in explainer.manifests) > 1

    def rule(self, rule: RuleInfo) -> str:
        """Returns the id and place of a rule."""
        return f"{rule.id} ({self.place(rule.file, rule.line, rule.origin)})"

    def origin(self, found: Traced) -> str:
        """Returns the place of the template line or patch that set a field."""
        is_rule = found.origin.file.startswith("rules/")
        return self.place(found.origin.file, found.origin.line, self.explainer.rules[found.rule].origin if is_rule and found.rule else "")

    def sources_of(self, found: Traced) -> list[InputSource]:
        """Returns the inputs of a field; those with its value come first, absent ones last."""
        inputs = [self.explainer.source_of(source) for source in found.sources[0]]
        return sorted(inputs, key=lambda source: (source.value != found.value, source.kind == "absent"))

    def choosing(self, found: Traced) -> list[InputSource]:
        """Returns the inputs by which a copied input was selected: those whose value equals that of one of its siblings.

        For example, a `packDomain` of `rack` selects the level with the domain `rack`, whose node label is copied.
        """
        sources, is_copied = found.sources
        if not is_copied or len(sources) != 1:
            return []
        source = sources[0]
        passed = {read: self.explainer.source_of(read) for read in found.passed}
        siblings = {read for read in passed if read.source == source.source and read.path[:-1] == source.path[:-1]}
        values = [passed[read].value for read in siblings if isinstance(passed[read].value, str)]
        return [selecting for read, selecting in passed.items() if read not in siblings and selecting.value in values]

    def input(self, source: InputSource) -> str:
        """Returns an input: its field, value and origin."""
        if source.kind == "setting":
            return f"--{render(source.path).replace('_', '-')} {value(source.value)} (command line)"
        if source.kind == "configuration":
            return f"operator configuration: {render(source.path)} is not set (no configuration)"
        name = f"{source.name}: " if self._names_objects or source.kind == "snapshot" else ""
        where = f"{source.file}:{source.line}" if source.line else source.file
        if source.kind == "absent":
            return f"{name}{render(source.path)} is not set" + (f"   {where}" if where else "")
        if isinstance(source.value, dict | list) and source.value:
            return f"{name}{render(source.path)}   {where or 'snapshot'}"
        field = f"{name}{render(source.path)} = {value(source.value)}"
        if source.kind == "default":
            rule = self.explainer.rules[source.rule]
            return f"{field}   default of {self.rule(rule)}"
        if source.kind == "schema":
            return f"{field}   default of the kind's schema"
        return f"{field}   {where or 'snapshot'}"

    def inputs(self, found: Iterable[InputSource], indent: str = "", depth: int = 0) -> Iterator[str]:
        """Returns inputs, each default followed by the inputs that it was computed from."""
        for source in found:
            yield indent + self.input(source)
            if depth < 3:
                yield from self.inputs(source.inputs, f"{indent}  from ", depth + 1)

    def few_inputs(self, found: Sequence[InputSource], most: int) -> list[str]:
        """Returns inputs on at most `most` lines, by grouping those with a common path."""
        lines = list(self.inputs(found))
        if len(lines) <= most:
            return lines
        lines = []
        for name, path, group in grouped(found, most):
            if len(group) == 1:
                lines += self.inputs(group)
                continue
            head = f"{name}: " if self._names_objects or group[0].kind == "snapshot" else ""
            numbers = sorted({each.line for source in group for each in source.all() if each.line and each.file == group[0].file})
            count = f"{len(numbers)} lines" if len(numbers) > 1 else f"{len(group)} fields"
            span = f"   {group[0].file}:{'-'.join(map(str, dict.fromkeys((numbers[0], numbers[-1]))))}" if numbers else ""
            lines.append(f"{head}{render(path)}: {count}{span}")
        return lines

    def condition(self, condition: Guard) -> str:
        """Returns a false condition with its subject."""
        subject = plain(condition.subject)
        about = ""
        if isinstance(subject, str | int | float) and not isinstance(subject, bool):
            about = f": it is {value(subject)}"
        elif subject is None:
            about = ": it is none"
        elif subject in ([], {}):
            about = ": it is empty"
        return f"`{condition.text}` does not hold{about}"


def value(found: Any) -> str:
    """Returns a value on one line, shortened."""
    return short_value(plain(found), MAX_VALUE_LENGTH)


def policy(found: Mapping[str, Any]) -> str:
    """Returns the policy of an object on one line."""
    return ", ".join(f"{word}: {' '.join(what) if isinstance(what, list) else str(what).lower()}" for word, what in found.items())
