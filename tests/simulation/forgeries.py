"""Edits that nobody may make: what cannot change in a set, and errors. Each can be taken back, whatever else has changed meanwhile."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

from applier.ref import Manifest


class Forgery(NamedTuple):
    """What somebody does to the template of a set, and what takes it back; that does nothing where it was not done."""

    forge: Callable[[Manifest], Any]
    undo: Callable[[Manifest], Any]


def with_field(name: str, value: object) -> Forgery:
    return Forgery(lambda template: template.update({name: value}), lambda template: template.pop(name, None))


def renamed(part: str, index: int, name: str, other: str) -> Forgery:
    return Forgery(lambda template: template[part][index].update(name=other), lambda template: template[part][index].update(name=name))


def add_clique(template: Manifest) -> None:
    take_clique(template)
    template["cliques"].append(copy.deepcopy({**template["cliques"][0], "name": MORE}))


def take_clique(template: Manifest) -> None:
    template["cliques"][:] = [one for one in template["cliques"] if one["name"] != MORE]


def of_first_pods(field: str, value: object, before: object) -> Forgery:
    """A field of the first container of the first clique."""

    def written(wanted: object) -> Callable[[Manifest], Any]:
        return lambda template: template["cliques"][0]["spec"]["podSpec"]["containers"][0].update({field: wanted})

    return Forgery(written(value), written(before))


MORE = "more"
IN_ORDER, ANY_ORDER = "CliqueStartupTypeInOrder", "CliqueStartupTypeAnyOrder"
FORGERIES = {
    IN_ORDER: with_field("cliqueStartupType", IN_ORDER),
    ANY_ORDER: with_field("cliqueStartupType", ANY_ORDER),
    "topology": with_field("topologyConstraint", {"packDomain": "rack"}),
    "clique": Forgery(add_clique, take_clique),
    "clique name": renamed("cliques", 0, "front", "other"),
    "group name": renamed("podCliqueScalingGroups", 0, "sg", "other"),
    "container name": of_first_pods("name", "A_B", "main"),
}
