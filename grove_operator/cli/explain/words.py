"""The words of `grove explain`: places, values, inputs and conditions as people read them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from grove_compiler.engine.runtime.failure import RuleInfo
from grove_compiler.engine.tracing.provenance import Condition, Traced
from grove_compiler.engine.tracing.tracking import plain
from grove_compiler.explain import Explainer, InputSource
from grove_compiler.graph.field_path import render
from grove_operator.rulebook import SHIPPED, Rulebook

LONGEST_VALUE = 60


class Words:
    """Turns answers into text. Rules that ship are named by their file in the package, the user's by the file that they are in."""

    def __init__(self, explainer: Explainer, book: Rulebook) -> None:
        self.explainer = explainer
        self.book = book
        self._names_objects = sum(not given.is_snapshot for given in explainer.given) > 1

    def place(self, file: str, line: int, origin: str = "") -> str:
        """`file:line` of a rule or a template. Of files of one name that of the origin counts, else the last."""
        files = [one for one in self.book.files if one.name == file and origin in ("", one.origin)]
        known = files[-1] if files else None
        return f"{file if known is None or known.origin == SHIPPED else known.path}:{line}"

    def rule(self, rule: RuleInfo) -> str:
        """A rule's id, with its place."""
        return f"{rule.id} ({self.place(rule.file, rule.line, rule.origin)})"

    def origin(self, found: Traced) -> str:
        """The place of the line that made a field."""
        is_rule = found.origin.file.startswith("rules/")
        return self.place(found.origin.file, found.origin.line, self.explainer.rules[found.rule].origin if is_rule and found.rule else "")

    def sources_of(self, found: Traced) -> list[InputSource]:
        """What a field rests on; inputs that have its value come first, and those that are not there last."""
        inputs = [self.explainer.source_of(one) for one in found.sources[0]]
        return sorted(inputs, key=lambda source: (source.value != found.value, source.how == "absent"))

    def input(self, source: InputSource) -> str:
        """One input: its field, its value, and who says it."""
        if source.how == "setting":
            return f"--{render(source.path).replace('_', '-')} {value(source.value)} (command line)"
        if source.how == "configuration":
            return f"operator configuration: {render(source.path)} is not set (nothing is configured)"
        name = f"{source.name}: " if self._names_objects or source.how == "snapshot" else ""
        where = f"{source.file}:{source.line}" if source.line else source.file
        if source.how == "absent":
            return f"{name}{render(source.path)} is not set" + (f"   {where}" if where else "")
        if isinstance(source.value, dict | list) and source.value:
            return f"{name}{render(source.path)}   {where or 'snapshot'}"
        field = f"{name}{render(source.path)} = {value(source.value)}"
        if source.how == "default":
            rule = self.explainer.rules[source.rule]
            return f"{field}   default of {self.rule(rule)}"
        if source.how == "schema":
            return f"{field}   default of the kind's schema"
        return f"{field}   {where or 'snapshot'}"

    def inputs(self, found: Iterable[InputSource], indent: str = "", depth: int = 0) -> Iterator[str]:
        """Inputs, and below a default what it was found from."""
        for source in found:
            yield indent + self.input(source)
            if depth < 3:
                yield from self.inputs(source.inputs, f"{indent}  from ", depth + 1)

    def condition(self, condition: Condition) -> str:
        """A condition that does not hold, with what it is about."""
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
    """A value on one line, shortened."""
    text = json.dumps(plain(found), ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"


def policy(found: Mapping[str, Any]) -> str:
    """What an applier may do, in one line."""
    return ", ".join(f"{word}: {' '.join(what) if isinstance(what, list) else str(what).lower()}" for word, what in found.items())


def several(words: Sequence[str], most: int = 4) -> str:
    """The first few words, and how many more there are."""
    rest = len(words) - most
    return ", ".join(words[:most]) + (f" and {rest} more" if rest > 0 else "")
