"""Prints objects in the format of an option `-o`, as kubectl does."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from grove_cli.render.kubectl.values import InvalidExpression, indented, ordered
from grove_compiler.record import record
from kube_objects.manifest import Manifest, resource_name, without_managed_fields

WIDE = "wide"
TABLES = ("", "text", WIDE)
"""The formats that are tables of our own: `text` is the default by its name."""
PLAIN = ("json", "name", "yaml")
WITH_EXPRESSION = ("custom-columns", "jsonpath", "jsonpath-as-json")
NAMES = sorted((WIDE, *PLAIN, *WITH_EXPRESSION))


@record
class Format:
    """A format. `write` returns objects as text, in a list unless they are a `single` one; none for a table of our own."""

    name: str
    write: Callable[[Sequence[Manifest], bool], str] | None = None

    @property
    def is_wide(self) -> bool:
        """Whether it is a table with more columns."""
        return self.name == WIDE


def parse(text: str, *, headers: bool = True) -> Format:
    """Parses the value of an option `-o`. Raises `InvalidExpression` for an unknown format, and for a wrong expression."""
    if text in TABLES:
        return Format(text)
    name, _, expression = text.partition("=")
    if text in PLAIN:
        return Format(name, {"json": _json, "yaml": _yaml, "name": _names}[name])
    if name in WITH_EXPRESSION:
        return Format(name, _columns(expression, headers) if name == "custom-columns" else _template(name, expression))
    raise InvalidExpression(f'unable to match a printer suitable for the output format "{text}", allowed formats are: {",".join(NAMES)}')


def _columns(spec: str, headers: bool) -> Callable[[Sequence[Manifest], bool], str]:
    from grove_cli.render.kubectl.columns import Columns

    columns = Columns(spec)
    return lambda objects, _: columns.rendered(objects, headers=headers)


def _template(name: str, expression: str) -> Callable[[Sequence[Manifest], bool], str]:
    from grove_cli.render.kubectl.jsonpath import JsonPathTemplate

    template = JsonPathTemplate(expression)
    if name == "jsonpath":
        return lambda objects, single: template.rendered(_whole(objects, single))

    return lambda objects, single: "".join(map(indented, template.results(_whole(objects, single))))


def _json(objects: Sequence[Manifest], single: bool) -> str:
    return indented(_whole([*map(without_managed_fields, objects)], single))


def _yaml(objects: Sequence[Manifest], single: bool) -> str:
    from grove_compiler.source.yaml_writer import iter_yaml

    return "".join(iter_yaml([ordered(_whole([*map(without_managed_fields, objects)], single))]))


def _names(objects: Sequence[Manifest], _: bool) -> str:
    return "".join(f"{resource_name(manifest)}\n" for manifest in objects)


def _whole(objects: Sequence[Manifest], single: bool) -> Manifest:
    return objects[0] if single else {"apiVersion": "v1", "items": list(objects), "kind": "List", "metadata": {"resourceVersion": ""}}
