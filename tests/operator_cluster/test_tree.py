"""Owners and what they own."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from applier.ref import Manifest
from grove_cli.queries.tree import branches, grow

from .manifests import obj


def live(name: str, *owners: str, kind: str = "ConfigMap", controller: int = -1) -> Manifest:
    references = [{"uid": f"uid-{owner}", "name": owner, "controller": number == controller} for number, owner in enumerate(owners)]
    return obj(kind, name, metadata={"uid": f"uid-{name}", "ownerReferences": references})


def drawn(root: Manifest, *objects: Manifest) -> list[str]:
    return [f"{lead}{branch.ref.name}" for branch, lead in branches(grow(root, objects))]


def test_a_tree_has_what_each_owner_owns_below_it() -> None:
    objects = [live("b", "root"), live("a", "root"), live("a1", "a")]
    assert drawn(live("root"), *objects) == ["root", "├─ a", "│  └─ a1", "└─ b"]


def test_what_others_own_is_not_in_it() -> None:
    assert drawn(live("root"), live("x", "other"), live("free")) == ["root"]


def test_numbers_in_names_count_as_numbers() -> None:
    assert drawn(live("root"), *(live(f"web-{number}", "root") for number in (10, 2, 1))) == ["root", "├─ web-1", "├─ web-2", "└─ web-10"]


def test_what_people_look_at_first_comes_first() -> None:
    kinds = ["Secret", "Pod", "PodClique", "PodGang", "PodCliqueScalingGroup"]
    found = grow(live("root"), [live(kind.lower(), "root", kind=kind) for kind in kinds])
    assert [child.ref.kind for child in found.children] == ["PodCliqueScalingGroup", "PodGang", "PodClique", "Pod", "Secret"]


def test_an_object_of_two_owners_hangs_on_its_controller() -> None:
    objects = [live("a", "root"), live("b", "root"), live("x", "a", "b", controller=1)]
    assert drawn(live("root"), *objects) == ["root", "├─ a", "└─ b", "   └─ x"]


def test_a_circle_of_owners_ends() -> None:
    assert drawn(live("root", "a"), live("a", "root")) == ["root", "└─ a"]


@given(st.lists(st.integers(0, 20), max_size=20))
def test_each_object_below_the_root_stands_in_the_tree_once(owners: list[int]) -> None:
    objects = [live(str(number + 1), str(owner)) for number, owner in enumerate(owners)]
    names = [branch.ref.name for branch, _ in branches(grow(live("0"), objects))]
    assert len(names) == len(set(names))
    assert {str(number + 1) for number, owner in enumerate(owners) if owner == 0} <= set(names) - {"0"}
