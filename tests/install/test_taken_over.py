"""The shipped operator's objects are taken over as they are: no pod, no gang and no hash changes, and a second pass writes nothing."""

from __future__ import annotations

from typing import Any

from .recorded import case
from .still_cluster import ADOPTED, NEEDED, Followed, Objects

pytestmark = NEEDED

HASHES = ("grove.io/pod-template-hash", "grove.io/podcliqueset-generation-hash")
KINDS = ("Pod", "PodGang", "PodClique", "PodCliqueSet")


def state(objects: Objects) -> dict[str, Any]:
    """What must not change: which pods there are and what they are, the gangs, and the hashes by which updates are known."""
    found: dict[str, Any] = {}
    for name, one in objects.items():
        if one["kind"] in KINDS:
            metadata, status = one["metadata"], one.get("status") or {}
            hashes = {key: value for key, value in (metadata.get("labels") or {}).items() if key in HASHES}
            hashes |= {key: status[key] for key in ("currentGenerationHash", "currentPodTemplateHash") if key in status}
            found[name] = (metadata["uid"], hashes, one["spec"] if one["kind"] in ("Pod", "PodGang") else None)
    return found


def of_adopted(objects: Objects) -> Objects:
    places = {case(name)["namespace"] for name in ADOPTED}
    return {name: one for name, one in objects.items() if one["metadata"]["namespace"] in places}


def changes(before: Objects, after: Objects) -> dict[str, Any]:
    old, new = state(before), state(after)
    assert old
    return {name: (old.get(name), new.get(name)) for name in old | new if old.get(name) != new.get(name)}


def test_adoption_says_what_it_adopts_and_changes_nothing_else(followed_plane: Followed) -> None:
    adoption = followed_plane.adoption
    assert adoption.code == 0, adoption.err
    assert "podclique.grove.io/" in adoption.out.lower() and "adopted" in adoption.out
    assert changes(of_adopted(followed_plane.stored), followed_plane.adopted) == {}


def test_what_the_shipped_operator_stored_is_taken_over_as_it_is(followed_plane: Followed) -> None:
    assert changes(followed_plane.stored, followed_plane.taken_over) == {}


def test_once_it_is_taken_over_another_start_writes_nothing(followed_plane: Followed) -> None:
    assert followed_plane.writes == []
