"""Differences between what we compile and what the shipped operator made, as lines for people.

Compared are labels, annotations, finalizers, owner references without their UIDs, and specs. Left out is what two operators cannot
agree on: the tag of the init container's image, the random suffixes of pod names (how many a gang names is compared), and the
scheduling gates that the shipped operator has removed by then. On purpose only our init container has resources and a security context
(docs/differences.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .server_defaults import Manifest, as_stored

INIT_CONTAINER = "grove-initc"
Key = tuple[str, str]


def differences(ours: Iterable[Manifest], theirs: Iterable[Manifest]) -> list[str]:
    """One line for each object that only one side has, and for each field that differs."""
    mine, shipped = _by_key(ours), _by_key(_made_by_grove(theirs))
    lines = [f"{kind} {name}: only the shipped operator makes it" for kind, name in shipped if (kind, name) not in mine]
    lines += [f"{kind} {name}: only we make it" for kind, name in mine if (kind, name) not in shipped]
    for key in mine.keys() & shipped.keys():
        found = _differing(comparable(mine[key]), comparable(shipped[key]), "")
        lines += [f"{key[0]} {key[1]}{line}" for line in found]
    return sorted(lines)


def comparable(manifest: Manifest) -> Manifest:
    """The object as stored, without what cannot be the same on both sides."""
    result = as_stored(manifest)
    if result["kind"] == "Pod":
        del result["metadata"]["name"]
        result["spec"].pop("schedulingGates", None)
        for container in result["spec"].get("initContainers") or []:
            if container["name"] == INIT_CONTAINER:
                container["image"] = container["image"].partition(":")[0]
                container.pop("resources", None)
                container.pop("securityContext", None)
    if result["kind"] == "PodGang":
        for group in result["spec"]["podgroups"]:
            group["podReferences"] = len(group["podReferences"])
    return result


def hostnames(objects: Iterable[Manifest]) -> set[str]:
    """The hostnames of all pods."""
    return {manifest["spec"]["hostname"] for manifest in objects if manifest["kind"] == "Pod"}


def gates(pod: Manifest) -> list[str]:
    """The names of a pod's scheduling gates."""
    return [gate["name"] for gate in pod["spec"].get("schedulingGates") or []]


def _made_by_grove(objects: Iterable[Manifest]) -> Iterator[Manifest]:
    for manifest in objects:
        labels = manifest["metadata"].get("labels") or {}
        if labels.get("app.kubernetes.io/managed-by") == "grove-operator" and manifest["kind"] != "PodCliqueSet":
            yield manifest


def _by_key(objects: Iterable[Manifest]) -> dict[Key, Manifest]:
    found: dict[Key, Manifest] = {}
    for manifest in objects:
        name = manifest["spec"]["hostname"] if manifest["kind"] == "Pod" else manifest["metadata"]["name"]
        assert (manifest["kind"], name) not in found, f"two objects {manifest['kind']} {name}"
        found[manifest["kind"], name] = manifest
    return found


def _differing(mine: Any, shipped: Any, path: str) -> Iterator[str]:
    if isinstance(mine, dict) and isinstance(shipped, dict):
        for key in [*shipped, *(key for key in mine if key not in shipped)]:
            here = f"{path}.{key}"
            if key not in mine:
                yield f"{here}: ours lacks {shipped[key]!r}"
            elif key not in shipped:
                yield f"{here}: only ours has {mine[key]!r}"
            else:
                yield from _differing(mine[key], shipped[key], here)
    elif isinstance(mine, list) and isinstance(shipped, list) and len(mine) == len(shipped):
        for index, (left, right) in enumerate(zip(mine, shipped, strict=True)):
            yield from _differing(left, right, f"{path}[{index}]")
    elif mine != shipped:
        yield f"{path}: ours {mine!r}, theirs {shipped!r}"
