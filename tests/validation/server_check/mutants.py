"""Mutants of valid templates over every field of their schema: of a wrong type, out of bounds, missing, doubled, contradictory.

What there is to mutate follows from the schema that `compile` checks by. Each mutant has one change, and a seed makes the same mutants
on every machine.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from grove_compiler.kube.definitions import DEFINITIONS
from tests.validation.server_check.subjects import Subject

Path_ = tuple[str | int, ...]

TEXTS = [
    "",
    " ",
    "a b",
    " x",
    "x ",
    "X_y",
    "Main_Container",
    "a" * 64,
    "a" * 300,
    "-a",
    "a-",
    "a/b",
    "a/b/c",
    "../a",
    "a/../b",
    "/a",
    "..a",
]
TEXTS += ["ä", "0", "1.2.3.4", "a..b", "a.b", "example.com/x", "http", "ALWAYS", "None", "\t", "a=b", "$(A)", "1Gi", "metadata.name"]
INTEGERS = [-1, 0, 1, 2, 3, 100, 101, 255, 256, 511, 512, 599, 600, 65535, 65536, 2**31 - 1, 2**31, -(2**31), 10**12, 2**63, 1.5]
QUANTITIES = [-1, 0, 1, 3, "0.5", 0.5, "1500m", "1gb", "-5Gi", "100Ei", "1m", "3Mi", "2Mi", "", "x", "1e3", "1k", "64Mi"]
PORTS = [0, 1, -1, 65536, 80, "http", "toolongportname-xyz", "Bad_Port", "8080", "a--b", "", "-a", 1.5]
RESOURCES = ["nvidia.com/gpu", "gpu", "hugepages-2Mi", "hugepages-1x", "requests.cpu", "cpu", "memory", "storage", "Bad Name", "a/b/c"]
KEYS = ["app", "example.com/x", "Bad Key!", "a/b/c", "", "-a", "a" * 64, "k8s.io/x", "x.kubernetes.io/y"]
OTHER_TYPES: dict[str, list[Any]] = {
    "string": [5, True, ["a"], {"a": "b"}],
    "integer": ["8", True, [1], {}],
    "boolean": ["true", 1, []],
    "quantity": [True, [], {}],
    "int-or-string": [True, [], {}],
    "list": ["a", 1, {}, {"a": 1}],
    "map": ["a", 1, [], ["a"]],
    "object": ["a", 1, [], True],
    "time": [5, "yesterday"],
}


@dataclass
class Place:
    """A value in a template: where it stands, its schema, and the type and field that hold it."""

    template: str
    path: Path_
    schema: dict[str, Any]
    field: tuple[str, str]


@dataclass
class Mutant:
    """A template with one change, and what was changed, in words."""

    template: str
    path: Path_
    change: str
    value: Any

    def __str__(self) -> str:
        path = ".".join(map(str, self.path))
        return f"{self.template}: {path} {self.change}"


def mutants(seed: int, count: int, subject: Subject) -> Iterator[Mutant]:
    """Returns so many mutants; each field of the API is as likely to be changed as any other."""
    chance = random.Random(seed)
    templates = subject.templates
    places: dict[tuple[str, str], list[Place]] = {}
    for name, template in templates.items():
        for place in _places(name, template, (), {"ref": subject.type}, ("", "")):
            places.setdefault(place.field, []).append(place)
    fields = sorted(places)
    made = 0
    while made < count:
        place = chance.choice(places[chance.choice(fields)])
        value = copy.deepcopy(templates[place.template])
        change = _mutate(value, place, places, templates, chance)
        if change and value != templates[place.template]:
            made += 1
            yield Mutant(place.template, place.path, change, value)


def _resolved(schema: dict[str, Any]) -> tuple[dict[str, Any], str]:
    name = ""
    while "ref" in schema:
        name = schema["ref"]
        schema = DEFINITIONS[name]
    return schema, name.rpartition(".")[2]


def _places(template: str, value: Any, path: Path_, schema: dict[str, Any], field: tuple[str, str]) -> Iterator[Place]:
    resolved, type_ = _resolved(schema)
    yield Place(template, path, schema, field)
    if resolved["kind"] == "object":
        for name, item in value.items():
            yield from _places(template, item, (*path, name), resolved["fields"][name], (type_, name))
    elif resolved["kind"] == "list":
        for index, item in enumerate(value):
            yield from _places(template, item, (*path, index), resolved["items"], (*field[:1], f"{field[1]}[]"))
    elif resolved["kind"] == "map" and "values" in resolved:
        for name, item in value.items():
            yield from _places(template, item, (*path, name), resolved["values"], (*field[:1], f"{field[1]}{{}}"))


def _at(value: Any, path: Path_) -> Any:
    for step in path:
        value = value[step]
    return value


def _mutate(template: dict[str, Any], place: Place, places: Any, templates: Any, chance: random.Random) -> str:
    """Changes the template at a place and returns what was done; empty where nothing could be."""
    schema, _ = _resolved(place.schema)
    kind = schema["kind"]
    ways = ["value", "value", "value", "type", "drop", "null"] if place.path else ["value"]
    way = chance.choice(ways)
    if not place.path:
        return _object(template, place, places, templates, chance)
    holder, last = _at(template, place.path[:-1]), place.path[-1]
    if way == "drop":
        del holder[last]
        return "left out"
    if way == "null":
        holder[last] = None
        return "= null"
    if way == "type":
        holder[last] = chance.choice(OTHER_TYPES[kind]) if kind in OTHER_TYPES else 5
        return f"= {holder[last]!r}"
    if kind == "object":
        return _object(holder[last], place, places, templates, chance)
    if kind == "list":
        return _list(holder[last], place, places, templates, chance)
    if kind == "map":
        return _map(holder[last], schema, place, chance)
    holder[last] = _scalar(holder[last], schema, place, places, templates, chance)
    return f"= {str(holder[last])[:40]!r}"


def _scalar(value: Any, schema: dict[str, Any], place: Place, places: Any, templates: Any, chance: random.Random) -> Any:
    kind = schema["kind"]
    if chance.random() < 0.25:  # a value that is right somewhere else: what contradicts its neighbours
        other = chance.choice(places[place.field])
        return copy.deepcopy(_at(templates[other.template], other.path))
    if kind == "boolean":
        return not value
    if kind == "string":
        words = [*schema.get("enum", []), str(value).lower(), str(value).upper(), f"{value}x", *TEXTS]
        return chance.choice(words)
    choices: dict[str, list[Any]] = {"integer": INTEGERS, "quantity": QUANTITIES, "int-or-string": PORTS}
    return chance.choice(choices.get(kind, TEXTS))


def _object(value: dict[str, Any], place: Place, places: Any, templates: Any, chance: random.Random) -> str:
    schema, type_ = _resolved(place.schema)
    way = chance.choice(["graft", "graft", "graft", "empty", "unknown"])
    if way == "empty":
        value.clear()
        return "= {}"
    if way == "unknown":
        value["podSelecter"] = {}
        return "has an unknown field"
    name = chance.choice(sorted(schema["fields"]))
    known = places.get((type_, name))
    if known:
        other = chance.choice(known)
        value[name] = copy.deepcopy(_at(templates[other.template], other.path))
    else:
        value[name] = _sample(schema["fields"][name], chance)
    return f"with {name} = {str(value[name])[:60]}"


def _sample(schema: dict[str, Any], chance: random.Random) -> Any:
    schema, _ = _resolved(schema)
    kind = schema["kind"]
    if kind in ("object", "map"):
        return {}
    if kind == "list":
        return [_sample(schema["items"], chance)]
    return {"boolean": True, "integer": chance.choice(INTEGERS), "quantity": "1", "int-or-string": 80}.get(
        kind, chance.choice(["a", "b-c", ""])
    )


def _list(value: list[Any], place: Place, places: Any, templates: Any, chance: random.Random) -> str:
    way = chance.choice(["empty", "double", "double", "shorter", "null item", "graft", "many"])
    if not value or way == "empty":
        value.clear()
        return "= []"
    if way == "double":
        value.append(copy.deepcopy(chance.choice(value)))
        return f"with {str(value[-1])[:60]} twice"
    if way == "shorter":
        value.pop(chance.randrange(len(value)))
        return "one item shorter"
    if way == "null item":
        value.append(None)
        return "with a null item"
    if way == "graft":
        other = chance.choice(places[place.field])
        value += copy.deepcopy(_at(templates[other.template], other.path))
        return f"with the items of {other.template}"
    value *= 15
    return "15 times over"


def _map(value: dict[str, Any], schema: dict[str, Any], place: Place, chance: random.Random) -> str:
    is_resources = schema.get("values", {}).get("kind") == "quantity"
    key = chance.choice(RESOURCES if is_resources else KEYS)
    value[key] = chance.choice(QUANTITIES) if is_resources else chance.choice(TEXTS)
    return f"with {key!r}: {str(value[key])[:40]!r}"
