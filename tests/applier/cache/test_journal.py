"""What has changed among the objects with a label since somebody last asked."""

from __future__ import annotations

import gc
from typing import Any

from applier.cache.journal import Changes, Journals, Selected
from applier.ref import Manifest, Ref

APP = Selected("", "Pod", "app", "web", "here")


class LabelledPods:
    """Pods with labels, that change."""

    def __init__(self) -> None:
        self.journals = Journals()
        self.pods: dict[Ref, Manifest] = {}

    def put(self, name: str, labels: dict[str, str] | None, namespace: str = "here", kind: str = "Pod") -> None:
        """Changes an object, or takes it away when there are no labels."""
        ref = Ref("", kind, namespace, name)
        new: Any = None if labels is None else {"metadata": {"name": name, "labels": labels}}
        self.journals.note(ref, self.pods.pop(ref, None), new)
        if new is not None:
            self.pods[ref] = new

    def read(self, since: Changes | None = None, selected: Selected = APP) -> tuple[Changes, set[str] | None]:
        found = self.journals.read(selected, None if since is None else since.mark)
        return found, None if found.refs is None else {ref.name for ref in found.refs}


def test_who_asks_for_the_first_time_has_to_look_at_everything() -> None:
    assert LabelledPods().read()[1] is None


def test_what_is_made_changed_and_lost_is_told_and_nothing_else() -> None:
    world = LabelledPods()
    for name in ("a", "b", "c"):
        world.put(name, {"app": "web"})
    first, _ = world.read()
    world.put("b", {"app": "web", "new": "label"})
    world.put("c", None)
    world.put("d", {"app": "web"})
    second, names = world.read(first)
    assert names == {"b", "c", "d"}
    assert world.read(second)[1] == set()


def test_who_asks_again_from_the_same_place_is_told_the_same() -> None:
    world = LabelledPods()
    first, _ = world.read()
    world.put("a", {"app": "web"})
    assert world.read(first)[1] == world.read(first)[1] == {"a"}


def test_what_gets_or_loses_the_label_has_changed_and_what_never_had_it_has_not() -> None:
    world = LabelledPods()
    world.put("loses", {"app": "web"})
    world.put("gets", {"app": "other"})
    first, _ = world.read()
    world.put("loses", {"app": "other"})
    world.put("gets", {"app": "web"})
    world.put("never", {"app": "other"})
    world.put("elsewhere", {"app": "web"}, namespace="there")
    world.put("of-another-kind", {"app": "web"}, kind="Service")
    assert world.read(first)[1] == {"loses", "gets"}


def test_all_namespaces_are_asked_about_with_none() -> None:
    world, everywhere = LabelledPods(), APP._replace(namespace="")
    first, _ = world.read(selected=everywhere)
    world.put("a", {"app": "web"}, namespace="there")
    assert world.read(first, everywhere)[1] == {"a"}


def test_a_place_in_another_journal_tells_nothing() -> None:
    world, other = LabelledPods(), LabelledPods()
    first, _ = other.read()
    kept = world.read()
    assert world.read(first)[1] is None
    assert world.read(first, APP._replace(value="other"))[1] is None
    assert world.read(kept[0])[1] == set()


def test_no_journal_is_kept_for_who_has_left() -> None:
    world = LabelledPods()
    first, _ = world.read()
    assert len(world.journals) == 1
    del first
    gc.collect()
    assert len(world.journals) == 0


def test_a_journal_grows_with_names_and_not_with_changes() -> None:
    world = LabelledPods()
    first, _ = world.read()
    for number in range(1000):
        world.put(f"pod-{number % 3}", {"app": "web", "number": str(number)})
    found = world.journals.read(APP, first.mark)
    assert found.refs is not None
    assert len(found.refs) == 3
