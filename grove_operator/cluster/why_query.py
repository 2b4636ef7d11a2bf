"""Finds the object that people ask about among those that were read, and the set that it is of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from applier.ref import Manifest
from grove_compiler.decoder import SET_KIND
from grove_compiler.model.inputs.snapshot import PART_OF
from grove_operator.cluster.tree_query import DEFAULT_KIND, NoSuchObject, check_name
from grove_operator.short_names import SHORT_NAMES

KINDS = ("PodCliqueSet", "PodCliqueScalingGroup", "PodClique", "PodGang", "Pod")
"""What waits for something."""


def find(words: str, namespace: str, objects: Iterable[Manifest]) -> tuple[Manifest, Manifest]:
    """Finds the object that `NAME` or `KIND/NAME` means, and its PodCliqueSet. Raises `NoSuchObject`.

    Without a `namespace` that of the objects counts, if there is one object of that name.
    """
    word, _, name = words.rpartition("/")
    check_name(name, words)
    kind = _kind(word or DEFAULT_KIND)
    known = list(objects)
    found = [one for one in _called(known, kind, name) if namespace in ("", one["metadata"].get("namespace"))]
    if not found:
        raise NoSuchObject(f"there is no {kind} {name!r}{f' in the namespace {namespace}' if namespace else ''}")
    if len(found) > 1:
        raise NoSuchObject(f"there are several {kind}s {name!r}: say which with -n {' or -n '.join(map(_namespace, found))}")
    [asked] = found
    set_name = name if kind == SET_KIND else (asked["metadata"].get("labels") or {}).get(PART_OF)
    sets = [one for one in _called(known, SET_KIND, set_name) if _namespace(one) == _namespace(asked)]
    if not sets:
        raise NoSuchObject(f"{kind} {name!r} belongs to no existing PodCliqueSet")
    return asked, sets[0]


def _kind(word: str) -> str:
    """Returns the kind that a word means: a kind, a plural or a short name, in any case."""
    wanted = SHORT_NAMES.get(word.lower(), word).lower().partition(".")[0]
    for kind in KINDS:
        if wanted in (kind.lower(), f"{kind.lower()}s"):
            return kind
    raise NoSuchObject(f"{word!r} is not a kind that can wait: expected one of {', '.join(KINDS)}")


def _called(objects: Sequence[Manifest], kind: str, name: str | None) -> list[Manifest]:
    return [one for one in objects if one["kind"] == kind and one["metadata"]["name"] == name]


def _namespace(manifest: Manifest) -> str:
    return str(manifest["metadata"].get("namespace") or "")
