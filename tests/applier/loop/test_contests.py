"""What somebody changes after each write is written less and less often, and named; what is written for other reasons is not."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from itertools import count

from applier.desired import DEFAULT_POLICY, Desired, Policy
from applier.loop.contests import AT_ONCE, MAX_REST, MAX_WRITES, SOON, Contests
from applier.outcome import ABSENT, Action, FieldChange, Outcome, Step
from applier.ref import Manifest
from applier.testing.memory.cluster import START
from applier.testing.virtual_time import in_virtual_time

from .lab import CONFIG_MAP, config_map, lab, loops_running, ref, some

HOUR = 3600


def wrote(value: str, *, what: str = "data.value") -> Outcome:
    """What comes of a write of one field of an object."""
    change = FieldChange(tuple(what.split(".")), ABSENT, value)
    step = Step(ref("set-0"), Action.CONFIGURED, what, [change], intent=config_map("set-0", {"value": value}))
    return Outcome(step, Action.CONFIGURED, what)


def rests(*writes: Outcome, every: float = 0.1) -> list[float]:
    contests = Contests[str]()
    return [contests.observe("set", [write], number * every, {}).rest for number, write in enumerate(writes)]


def test_the_same_write_again_and_again_rests_longer_and_longer() -> None:
    assert rests(*[wrote("1")] * (MAX_WRITES + 7)) == [*[0.0] * MAX_WRITES, 1.0, 2.0, 4.0, 8.0, 16.0, MAX_REST, MAX_REST]


def test_writes_of_other_values_or_of_other_fields_are_no_contest() -> None:
    assert not any(rests(*[wrote(str(number)) for number in range(50)]))
    assert not any(rests(*[wrote("1", what=f"data.{number}") for number in range(50)]))
    assert not any(rests(*[wrote("1"), wrote("2")] * 25))


def test_writes_with_a_while_between_them_are_no_contest() -> None:
    assert not any(rests(*[wrote("1")] * 50, every=SOON + 1))


def test_what_is_forgotten_takes_no_room() -> None:
    contests = Contests[str]()
    for number in range(1000):
        contests.observe(f"set{number}", [wrote("1")], float(number), {})
    assert len(contests._writes) <= SOON + 2


ONCE = Policy(create_only=True)


def created(name: str, index: int = 0, policy: Policy = ONCE) -> Desired:
    """An object that a set creates by any name."""
    return Desired(config_map(name, {"index": str(index)}), owner=ref("set"), policy=policy)


def rests_after(creations: Sequence[Sequence[Desired]], every: float = 0.1) -> list[float]:
    contests, at, rests = Contests[str](), 0.0, []
    for batch in creations:
        outcomes = [Outcome(Step(one.ref, Action.CREATED), Action.CREATED) for one in batch]
        found = contests.observe("set", outcomes, at, {one.ref: one for one in batch})
        assert found.created == ({one.ref: one.owner for one in batch} if found.rest else {})
        rests.append(found.rest)
        at += every + found.rest
    return rests


def test_the_same_that_is_created_again_by_other_names_rests_longer_and_longer() -> None:
    again = [[created(f"set-{number}")] for number in range(MAX_WRITES + 7)]
    assert rests_after(again) == [*[0.0] * MAX_WRITES, 1.0, 2.0, 4.0, 8.0, 16.0, MAX_REST, MAX_REST]


def test_creations_of_others_and_of_what_was_there_for_a_while_are_no_contest() -> None:
    assert not any(rests_after([[created(f"set-{number}", number)] for number in range(50)]))
    assert not any(rests_after([[created(f"set-{number}", number) for number in range(50)]]))
    assert not any(rests_after([[created(f"set-{number}")] for number in range(50)], every=AT_ONCE + 1))
    assert not any(rests_after([[created("set", policy=DEFAULT_POLICY)]] * 50)), "of one name, which is written and not only created"


@in_virtual_time
async def test_a_webhook_with_another_value_each_time_does_not_keep_a_loop_busy() -> None:
    one, numbers = lab(), count()

    def stamp(manifest: Manifest) -> Manifest:
        is_stamped = manifest["metadata"]["name"] == "set-1"
        return {**manifest, "data": {**manifest["data"], "value": f"stamp {next(numbers)}"}} if is_stamped else manifest

    one.cluster.seed(some("set", 3))
    one.cluster.admit = stamp
    async with loops_running(one):
        await asyncio.sleep(HOUR)
        writes = [request for request in one.cluster.writes() if request.name == "set-1"]
        assert HOUR / MAX_REST <= len(writes) <= HOUR / MAX_REST + 20
        assert one.results[-1].contested == [ref("set-1")]
        one.cluster.seed(some("set", 3, value="2"))
        await asyncio.sleep(MAX_REST + 1)
        assert one.cluster.store.objects[ref("set-2")]["data"]["value"] == "2", "the others are not kept from what they are to be"
        one.cluster.admit = lambda manifest: manifest
        await asyncio.sleep(2 * MAX_REST)
        assert one.cluster.store.objects[ref("set-1")]["data"]["value"] == "2"
        assert one.results[-1].contested == []


@in_virtual_time
async def test_neither_does_another_client_that_writes_at_other_times() -> None:
    """Its name stands in the reason of our writes, with the time of its last one."""
    one = lab()
    one.reconciler.force = ("*",)
    one.cluster.now = lambda: START + timedelta(seconds=asyncio.get_running_loop().time())
    one.cluster.seed(some("set", 1))

    async def revert() -> None:
        resource = await one.cluster.resource(CONFIG_MAP)
        while True:
            await asyncio.sleep(0.01)
            live = one.cluster.store.objects.get(ref("set-0"))
            if live is not None and live["data"]["value"] != "theirs":
                await one.cluster.patch(resource, "default", "set-0", {"data": {"value": "theirs"}}, manager="other")

    async with loops_running(one):
        other = asyncio.ensure_future(revert())
        await asyncio.sleep(HOUR)
        other.cancel()
        writes = [request for request in one.cluster.writes() if request.name == "set-0" and request.verb == "apply"]
        assert HOUR / MAX_REST <= len(writes) <= HOUR / MAX_REST + 20
        assert one.results[-1].contested == [ref("set-0")]


OVERRIDDEN = {"value": "theirs"}


@in_virtual_time
async def test_what_a_webhook_overrides_in_each_write_is_asked_less_and_less_often_whatever_wakes_its_key() -> None:
    """The others are written at once, and so is it where it is to have another value."""
    one = lab()

    def override(manifest: Manifest) -> Manifest:
        return {**manifest, "data": OVERRIDDEN} if manifest["metadata"]["name"] == "set-1" else manifest

    def writes() -> int:
        return sum(request.name == "set-1" for request in one.cluster.writes())

    one.cluster.seed(some("set", 3))
    one.cluster.admit = override
    async with loops_running(one):
        for number in range(HOUR):
            await asyncio.sleep(1)
            resource = await one.cluster.resource(CONFIG_MAP)
            await one.cluster.patch(resource, "default", "set", {"metadata": {"annotations": {"wakes": str(number)}}}, manager="other")
        assert HOUR / MAX_REST - 1 <= writes() <= HOUR / MAX_REST + 20
        assert [outcome.step.ref for outcome in one.results[-1].outcomes if outcome.is_overridden] == [ref("set-1")], "it stays told"
        before = writes()
        one.cluster.seed(some("set", 3, value="2"))
        await asyncio.sleep(0.1)
        assert writes() > before
        assert one.cluster.store.objects[ref("set-2")]["data"]["value"] == "2"
        one.cluster.admit = lambda manifest: manifest
        await asyncio.sleep(MAX_REST + 1)
        assert one.cluster.store.objects[ref("set-1")]["data"]["value"] == "2"
        assert one.results[-1].outcomes == []
