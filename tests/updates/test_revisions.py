"""What pods are made from is recorded, and pods are replaced only when that changes in meaning."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from grove_compiler.kube import template_hash
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.step import step
from tests.features.compiling import compile_manifest
from tests.model.sets import clique, existing, pcs
from tests.step.world import NOW, Manifest, complete, context, key_of, stored

HASH = "grove.io/pod-template-hash"


def limited(memory: Any, image: str = "busybox") -> Manifest:
    """A set of two cliques; the first has a limit and an image that tests write otherwise."""
    container = {"name": "main", "image": image, "resources": {"limits": {"memory": memory}}}
    return pcs([clique("front", podSpec={"containers": [container]}), clique("back")])


def nodes(objects: Iterable[Manifest], replica: int | None = None) -> list[Manifest]:
    objects = list(objects)
    made = complete(step(ObjectList(objects), key_of(objects[0], replica), NOW, context()))
    return [node.object for node in made.graph.nodes]


def recorded(objects: list[Manifest]) -> list[Manifest]:
    """The revisions that should be there, as the cluster would have them."""
    return stored(one for one in nodes(objects) if one["kind"] == "ControllerRevision")


def after(*sets: Manifest) -> list[Manifest]:
    """The revisions after each of these states of a set was seen, one after the other."""
    revisions: list[Manifest] = []
    for one in sets:
        revisions = [
            {**revision, "metadata": {**revision["metadata"], "uid": f"uid-of-{revision['metadata']['name']}"}}
            for revision in recorded([*stored([one]), *revisions])
        ]
    return revisions


def hashes(objects: list[Manifest]) -> dict[str, str]:
    return {one["metadata"]["name"]: one["metadata"]["labels"][HASH] for one in nodes(objects, 0) if one["kind"] == "PodClique"}


def test_a_set_has_a_revision_that_is_named_after_its_generation_hash() -> None:
    [revision] = after(limited("1Gi"))
    [set] = stored([limited("1Gi")])
    hash = revision["data"]["generationHash"]
    assert (revision["metadata"]["name"], revision["revision"]) == (f"demo-{hash}", 1)
    assert revision["metadata"]["labels"]["app.kubernetes.io/part-of"] == "demo"
    assert revision["metadata"]["ownerReferences"][0]["uid"] == set["metadata"]["uid"]
    assert {entry["name"]: entry["hash"] for entry in revision["data"]["cliques"]} == {
        name.removeprefix("demo-0-"): hash for name, hash in hashes([set]).items()
    }


def test_offline_nothing_is_recorded() -> None:
    for settings in (Settings(), Settings(pods=True)):
        set = limited("1Gi")
        assert "ControllerRevision" not in {node.object["kind"] for node in compile_manifest(set, settings).graph.nodes}


@pytest.mark.parametrize("written", ["1Gi", "1024Mi", 1073741824], ids=str)
def test_another_spelling_keeps_every_hash(written: Any) -> None:
    before = [*stored([limited("1Gi")]), *after(limited("1Gi"))]
    now = [*stored([limited(written)]), *after(limited("1Gi"))]
    assert hashes(now) == hashes(before)
    assert recorded(now)[0]["metadata"]["name"] == recorded(before)[0]["metadata"]["name"]


def another_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """An upgrade: the same templates hash to something else."""
    shipped = template_hash._text
    monkeypatch.setattr(template_hash, "_text", lambda state: f"{shipped(state)}9")


def test_another_hash_function_restarts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Grove #709: an upgrade recreated every pod."""
    revisions = after(limited("1Gi"))
    before = hashes([*stored([limited("1Gi")]), *revisions])
    another_hash(monkeypatch)
    objects = [*stored([limited("1Gi")]), *revisions]
    assert hashes(objects) == before
    assert [one["metadata"]["name"] for one in recorded(objects)] == [one["metadata"]["name"] for one in revisions]


def test_another_hash_function_gives_new_hashes_to_what_changes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    revisions = after(limited("1Gi"))
    before = hashes([*stored([limited("1Gi")]), *revisions])
    another_hash(monkeypatch)
    [*_, newest] = after_edit = recorded([*stored([limited("2Gi")]), *revisions])
    assert len(after_edit) == 2
    known = {entry["name"]: entry["hash"] for entry in newest["data"]["cliques"]}
    assert known["back"] == before["demo-0-back"]
    assert known["front"].endswith("9") and known["front"] != before["demo-0-front"]


def test_an_edit_makes_a_revision_and_keeps_the_former() -> None:
    first, second = after(limited("1Gi"), limited("2Gi"))
    assert [first["revision"], second["revision"]] == [1, 2]
    assert first["metadata"]["name"] != second["metadata"]["name"]


def test_an_edit_that_is_taken_back_makes_the_old_revision_the_newest() -> None:
    [old] = after(limited("1Gi"))
    _, newest = after(limited("1Gi"), limited("2Gi"), limited("1Gi"))
    assert (newest["metadata"]["name"], newest["revision"]) == (old["metadata"]["name"], 3)
    assert newest["data"] == old["data"]


def test_two_revisions_more_than_what_runs_are_kept() -> None:
    revisions = after(*(limited(f"{number}Gi") for number in range(1, 8)))
    assert [one["revision"] for one in revisions] == [5, 6, 7]


def test_a_revision_that_a_pod_still_names_is_kept() -> None:
    [first] = after(limited("1Gi"))
    old = next(entry["hash"] for entry in first["data"]["cliques"] if entry["name"] == "front")
    pod = existing("Pod", "demo-0-front-x", metadata={"labels": {HASH: old, "app.kubernetes.io/part-of": "demo"}})
    revisions = [first]
    for number in range(2, 8):
        revisions = recorded([*stored([limited(f"{number}Gi")]), *revisions, pod])
    assert [one["revision"] for one in revisions] == [1, 5, 6, 7]


def test_a_template_that_never_changed_keeps_no_revision() -> None:
    """It stands in each of them, and the newest is enough to make its pods from."""
    labels = {HASH: hashes(stored([limited("1Gi")]))["demo-0-back"], "app.kubernetes.io/part-of": "demo"}
    pod = existing("Pod", "demo-0-back-x", metadata={"labels": labels})
    revisions: list[Manifest] = []
    for number in range(1, 8):
        revisions = recorded([*stored([limited(f"{number}Gi")]), *revisions, pod])
    assert [one["revision"] for one in revisions] == [5, 6, 7]


def test_without_a_revision_the_computed_hash_holds_and_is_recorded() -> None:
    """So it is for a set of the shipped operator, whose PodCliques are there and whose templates nobody recorded."""
    [set] = stored([limited("1Gi")])
    live = stored(one for one in nodes([set], 0) if one["kind"] == "PodClique")
    assert hashes([set, *live]) == hashes([set])
    assert len(recorded([set, *live])) == 1
