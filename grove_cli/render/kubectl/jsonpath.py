"""Parses and prints JSONPath templates in kubectl's dialect: `{range .items[*]}{.metadata.name}{"\\n"}{end}`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any

from grove_cli.render.kubectl.action import RANGE_END, Scanner, TemplateAction
from grove_cli.render.kubectl.steps import Path, Values, follow, literal
from grove_cli.render.kubectl.values import InvalidExpression, text_of
from grove_compiler.record import record


@record
class _Loop:
    """A loop over the values at a path. Its body may lack an end, and then reaches to the end of the template."""

    over: Path
    body: list[Path | _Loop] = field(default_factory=list)


class JsonPathTemplate:
    """A template; `text` is its source. Raises `InvalidExpression` with kubectl's message."""

    def __init__(self, text: str) -> None:
        self.text = text
        if not text:
            raise InvalidExpression("template format specified but no template given")
        try:
            self._parts = _nested(_actions(text))
        except InvalidExpression as error:
            raise InvalidExpression(f"error parsing jsonpath {text}, {error}") from None

    def results(self, value: Any) -> list[Values]:
        """Returns the values of each action and text for an object. Raises `InvalidExpression`."""
        try:
            return list(_results(self._parts, value))
        except InvalidExpression as error:
            quoted = self.text.replace('"', '\\"')
            raise InvalidExpression(f'error executing jsonpath "{quoted}": {error}') from None

    def rendered(self, value: Any) -> str:
        """Returns the text for an object, without a final newline. Raises `InvalidExpression`."""
        return "".join(" ".join(map(text_of, values)) for values in self.results(value))


def relaxed(text: str) -> JsonPathTemplate:
    """Returns the template of a path that may lack braces and the first dot: `metadata.name`. Raises `InvalidExpression`."""
    inner = text[1:-1] if text.startswith("{") and text.endswith("}") else text
    if not inner or "{" in inner or "}" in inner:
        raise InvalidExpression(
            f"unexpected path string {text!r}, expected a 'name1.name2' or '.name1.name2' or '{{name1.name2}}' or '{{.name1.name2}}'"
        )
    return JsonPathTemplate("{" + (inner if inner.startswith((".", "[", "$", "@")) else f".{inner}") + "}")


def _actions(text: str) -> Iterator[TemplateAction]:
    """Yields the actions of a template; text between them is one that yields itself."""
    position = 0
    while position < len(text):
        start = text.find("{", position)
        if start != position:
            yield TemplateAction([literal(text[position : start if start >= 0 else None])])
        if start < 0:
            return
        scanner = Scanner(text, start + 1)
        yield scanner.action()
        position = scanner.position


def _nested(actions: Iterator[TemplateAction]) -> list[Path | _Loop]:
    """Returns the actions with those between a range and its end inside of the loop."""
    levels: list[list[Path | _Loop]] = [[]]
    for action in actions:
        if action.word == RANGE_END:
            if len(levels) == 1:
                raise InvalidExpression("not in range, nothing to end")
            levels.pop()
        elif action.word:
            loop = _Loop(action.path)
            levels[-1].append(loop)
            levels.append(loop.body)
        else:
            levels[-1].append(action.path)
    return levels[0]


def _results(parts: Sequence[Path | _Loop], value: Any) -> Iterator[Values]:
    for part in parts:
        if isinstance(part, _Loop):
            for item in follow(part.over, [value]):
                yield from _results(part.body, item)
        else:
            yield follow(part, [value])
