"""Every spelling of nothing (absent, null, `{}`, `[]`, `""`, 0, false) at every path of every kind: pairs for the judge in `oracle`.

Random manifests agree in what people write. What they do not try is where verdicts were wrong: an empty value over an absent one, a null
over an empty one, at places that a server keeps in one Go type and leaves out in another. So the places come from the schemas: any
declared field, there or not, of any map that a manifest has or may have.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import yaml

from applier.decision import Type
from applier.outcome import ABSENT
from applier.ref import Kind, Manifest

from .oracle import US, Pair, Server

_FILE = Path(__file__).with_name("every-kind.yaml")
SPELLINGS: tuple[Any, ...] = (ABSENT, None, {}, [], "", 0, False)
_OF_SCALARS: dict[str, tuple[Any, ...]] = {"string": ("",), "numeric": (0,), "boolean": (False,), "untyped": ("", 0, False), "": ()}
_OTHERS = ("them", "editor")
_KEPT = frozenset(("apiVersion", "kind", "name", "namespace", "generateName", "managedFields", "finalizers", "deletionTimestamp"))
"""Without these nothing is applied, or nothing can be tidied up."""


def every_kind(name: str) -> list[Manifest]:
    """One small object of each kind; `name` is unique in the whole cluster."""
    found: list[Manifest] = yaml.load(_FILE.read_text("utf-8").replace("${NAME}", name), yaml.CSafeLoader)
    for number, manifest in enumerate(found):
        manifest.setdefault("metadata", {}).setdefault("name", f"{name}-{number}")
    return found


COUNT = len(every_kind("a"))


def pairs_of_nothing(server: Server, namespace: str, seed: int, tries: int) -> Iterator[Pair]:
    """An object that one or two managers have written, with `tries` intents for us. The kind is the one whose turn it is.

    None of a kind that the server does not have: `test_every_kind` knows from which version on it must.
    """
    random = Random(seed)
    first = every_kind(f"{namespace}-{seed}")[seed % COUNT]
    if not server.serves(Kind.of(first)):
        return
    path, schema = server.path_of(first, namespace), server.get(Kind.of(first))
    last = _first_written(server, path, random, first, schema)
    if last is None:
        return
    if random.random() < 0.3:
        server.apply(path, some_nothings(random, first, schema, 2), random.choice(_OTHERS), force=True)
    live = server.ask("GET", path).body
    try:
        for _ in range(tries):
            intent = last if random.random() < 0.05 else some_nothings(random, last, schema, random.choice((1, 1, 2)))
            yield Pair(live, intent, path, random.random() < 0.3)
    finally:
        server.merge(path, {"metadata": {"finalizers": None}}, US)
        server.ask("DELETE", path)


def _first_written(server: Server, path: str, random: Random, manifest: Manifest, schema: Type) -> Manifest | None:
    """What the server took of us: with nothings in it if it can be. Several in the other manager's name, too."""
    for count in (3, 2, 1, 0):
        intent = some_nothings(random, manifest, schema, count)
        if server.apply(path, intent, US, force=True).status < 300:
            return intent
    return None


def some_nothings(random: Random, manifest: Manifest, type: Type, count: int) -> Manifest:
    """A manifest with some of its places turned into nothing."""
    changed = copy.deepcopy(manifest)
    for _ in range(count):
        _put(random, changed, type)
    return changed


def _put(random: Random, value: dict[str, Any], type: Type) -> None:
    """Puts nothing somewhere below a map: goes down where something is, or where something could be, or stays."""
    names = sorted({*value, *type.fields} - _KEPT - ({"status"} if type.status else set()))
    if not names:
        return None
    name = random.choice(names)
    below = type.member(name)
    down = _way_down(random, value, name, below)
    if down is not None and below is not None and (name == "metadata" or random.random() < 0.8):
        return down(below)
    spelling = random.choice(SPELLINGS if below is None or random.random() < 0.15 else _fitting(below))
    if spelling is ABSENT:
        value.pop(name, None)
    else:
        value[name] = copy.copy(spelling)
    return None


def _fitting(type: Type) -> list[Any]:
    """The spellings that a server reads as a value of this type; it refuses the others before it looks further."""
    fitting: list[Any] = [ABSENT, None, *_OF_SCALARS[type.scalar]]
    return fitting + [{}] * type.is_map + [[]] * type.is_list


def _way_down(random: Random, value: dict[str, Any], name: str, type: Type | None) -> Callable[[Type], None] | None:
    """How to go on below a member; None where there is nothing below it."""
    now = value.get(name, ABSENT)
    if isinstance(now, dict) and (now or (type is not None and type.fields)):
        return lambda below: _put(random, now, below)
    if isinstance(now, list) and now:
        position = random.randrange(len(now))
        if isinstance(now[position], dict):
            return lambda below: _put(random, now[position], below.item)
    if now is ABSENT and type is not None and type.fields and random.random() < 0.5:
        made: dict[str, Any] = {}

        def into(below: Type) -> None:
            value[name] = made
            _put(random, made, below)

        return into
    return None
