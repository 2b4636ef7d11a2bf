"""The words of `grove explain`: places, values, inputs and conditions as people read them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from grove_compiler.engine.runtime.failure import RuleInfo
from grove_compiler.engine.tracing.provenance import Condition, Traced
from grove_compiler.engine.tracing.tracking import plain
from grove_compiler.explain import Explainer, Said
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
        return self.place(found.origin.file, found.origin.line, self.explainer.rule(found.rule).origin if is_rule and found.rule else "")

    def said(self, found: Traced) -> list[Said]:
        """What a field rests on; inputs that have its value come first, and those that are not there last."""
        inputs = [self.explainer.said(one) for one in found.sources[0]]
        return sorted(inputs, key=lambda said: (said.value != found.value, said.how == "absent"))

    def input(self, said: Said) -> str:
        """One input: its field, its value, and who says it."""
        if said.how == "setting":
            return f"--{render(said.path).replace('_', '-')} {value(said.value)} (command line)"
        if said.how == "configuration":
            return f"operator configuration: {render(said.path)} = {value(said.value)} (nothing is configured)"
        name = f"{said.name}: " if self._names_objects or said.how == "snapshot" else ""
        where = f"{said.file}:{said.line}" if said.line else said.file
        if said.how == "absent":
            return f"{name}{render(said.path)} is not set" + (f"   {where}" if where else "")
        if isinstance(said.value, dict | list) and said.value:
            return f"{name}{render(said.path)}   {where or 'snapshot'}"
        field = f"{name}{render(said.path)} = {value(said.value)}"
        if said.how == "default":
            rule = self.explainer.rule(said.rule)
            return f"{field}   default of {self.rule(rule)}"
        if said.how == "schema":
            return f"{field}   default of the kind's schema"
        return f"{field}   {where or 'snapshot'}"

    def inputs(self, found: Iterable[Said], indent: str = "", depth: int = 0) -> Iterator[str]:
        """Inputs, and below a default what it was found from."""
        for said in found:
            yield indent + self.input(said)
            if depth < 3:
                yield from self.inputs(said.inputs, f"{indent}  from ", depth + 1)

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
