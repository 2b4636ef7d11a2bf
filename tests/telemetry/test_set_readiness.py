"""How long sets take to become ready, told from the changes of their objects."""

from __future__ import annotations

from typing import Any

import pytest

from applier.ref import Manifest, Ref
from grove_operator.telemetry.metrics import SetReadiness, is_ready

REF = Ref("grove.io", "PodCliqueSet", "default", "chat")
START = 1_800_000_000.0


def made(generation: int = 1, observed: int = 0, available: int = 0, uid: str = "u", created: str = "2027-01-15T08:00:10Z") -> Manifest:
    status: dict[str, Any] = {"observedGeneration": observed, "replicas": 2, "availableReplicas": available, "updatedReplicas": available}
    metadata = {"name": "chat", "uid": uid, "generation": generation, "creationTimestamp": created}
    return {"metadata": metadata, "spec": {"replicas": 2}, "status": status}


class Watch:
    """Feeds states, each so many seconds after the start, and keeps what is observed."""

    def __init__(self) -> None:
        self.now, self.seen, self.old = START, list[tuple[str, float]](), dict[str, Any]()
        self.readiness = SetReadiness(lambda after, seconds: self.seen.append((after, seconds)), lambda: self.now, START)

    def at(self, second: float, state: Manifest | None) -> None:
        self.now = START + second
        self.readiness(REF, self.old or None, state)
        self.old = state or {}


@pytest.fixture
def watch() -> Watch:
    return Watch()


def test_a_new_set_is_timed_from_its_creation(watch: Watch) -> None:
    watch.at(11, made())
    watch.at(20, made(observed=1, available=1))
    watch.at(25, made(observed=1, available=2))
    assert watch.seen == [("creation", 15.0)]


def test_an_edit_is_timed_from_when_it_is_seen(watch: Watch) -> None:
    watch.at(5, made(observed=1, available=2, created="2027-01-15T07:00:00Z"))
    watch.at(30, made(generation=2, observed=1, available=2))
    watch.at(31, made(generation=2, observed=2, available=1))
    watch.at(50, made(generation=2, observed=2, available=2))
    assert watch.seen == [("edit", 20.0)]


def test_an_edit_that_is_held_is_not_ready_though_everything_serves_as_before(watch: Watch) -> None:
    held = made(generation=2, observed=2, available=2)
    held["status"]["conditions"] = [{"type": "Stalled", "status": "True", "reason": "Held"}]
    watch.at(5, made(observed=1, available=2, created="2027-01-15T07:00:00Z"))
    watch.at(30, made(generation=2, observed=1, available=2))
    watch.at(31, held)
    watch.at(60, made(generation=3, observed=2, available=2))
    watch.at(63, made(generation=3, observed=3, available=2))
    assert watch.seen == [("edit", 3.0)]


def test_a_loss_is_timed_and_a_second_edit_starts_anew(watch: Watch) -> None:
    watch.at(5, made(observed=1, available=2, created="2027-01-15T07:00:00Z"))
    watch.at(10, made(observed=1, available=1))
    watch.at(12, made(observed=1, available=2))
    watch.at(20, made(generation=2, observed=1, available=2))
    watch.at(30, made(generation=3, observed=1, available=2))
    watch.at(31, made(generation=3, observed=3, available=2))
    assert watch.seen == [("loss", 2.0), ("edit", 1.0)]


def test_what_was_not_ready_before_the_start_is_left_out(watch: Watch) -> None:
    watch.at(1, made(observed=1, available=1, created="2027-01-15T07:00:00Z"))
    watch.at(9, made(observed=1, available=2))
    assert watch.seen == []


def test_a_set_of_the_same_name_is_another_one(watch: Watch) -> None:
    watch.at(11, made())
    watch.at(12, None)
    watch.at(13, made(uid="v", created="2027-01-15T08:00:12Z"))
    watch.at(14, made(uid="v", observed=1, available=2))
    assert watch.seen == [("creation", 2.0)]


def test_a_set_without_a_status_is_not_ready() -> None:
    assert not is_ready({"metadata": {"generation": 1}, "spec": {"replicas": 1}})


@pytest.mark.parametrize("spec", [{"replicas": 0}, {}], ids=["none", "unsaid, which is none"])
def test_a_set_that_wants_nothing_is_ready_once_that_was_seen(spec: dict[str, int]) -> None:
    assert is_ready({"metadata": {"generation": 1}, "spec": spec, "status": {"observedGeneration": 1}})
