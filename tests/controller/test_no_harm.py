"""Sets of a running operator: whatever goes wrong with one, none of its objects is deleted, the reason is told, and the other goes on."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from applier.errors import Expired, Forbidden, ServerFailure
from applier.ref import Manifest
from applier.testing.virtual_time import in_virtual_time
from grove_compiler.step import Key, StepContext
from tests.features.compiling import program_with
from tests.model.sets import clique, pcs
from tests.step.test_harm import RACK, TAS, TOPOLOGY
from tests.step.world import context

from .lab import Lab, lab_running

FAILING = """
rule: own/label
doc: A label that sets with a certain label lack what it needs for.
patch: Service
when: set.labels.tier
do: [{op: replace, path: /metadata/labels/none, value: "{{ set.labels.tier }}"}]
"""


def named(name: str, replicas: int = 2, **template: Any) -> Manifest:
    manifest = pcs([clique("worker"), clique("helper")], replicas=replicas)
    manifest["metadata"] |= {"name": name, "namespace": "default"}
    manifest["spec"]["template"].update(template)
    return manifest


def edited(path: list[Any], value: Any) -> Callable[[Lab, Manifest], None]:
    """The set is scaled from two replicas to one, and something else becomes wrong in the same moment."""

    def edit(lab: Lab, set: Manifest) -> None:
        changed = copy.deepcopy(set)
        changed["spec"]["replicas"] = 1
        place: Any = changed
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
        lab.edit(changed)

    return edit


def with_new_pods(lab: Lab, set: Manifest) -> None:
    """Pods are to be replaced, and a label comes for which a rule of the user fails."""
    changed = copy.deepcopy(set)
    changed["spec"]["template"]["cliques"][1]["spec"]["podSpec"]["containers"][0]["image"] = "new"
    changed["metadata"]["labels"] = {"tier": "gold"}
    lab.edit(changed)


def broken_topology(lab: Lab, set: Manifest) -> None:
    topology = copy.deepcopy(TOPOLOGY)
    topology["spec"]["levels"][1]["domain"] = "zone"
    lab.edit(topology)
    lab.edit({**set, "spec": {**set["spec"], "replicas": 1}})


def exception(lab: Lab, set: Manifest) -> None:
    """A fault of ours, that only this set meets."""
    evaluate = lab.evaluate

    async def broken(view: Any, key: Key) -> Any:
        if key.name == "set":
            raise AssertionError("a fault of ours")
        return await evaluate(view, key)

    lab.evaluate = broken  # type: ignore[assignment]
    lab.edit({**set, "spec": {**set["spec"], "replicas": 1}})


def unreadable_pods(error: Any) -> Callable[[Lab, Manifest], None]:
    """The watch of pods breaks, its history is forgotten, and nobody can list them again."""

    def break_off(lab: Lab, set: Manifest) -> None:
        lab.cluster.fail(lambda request: request.resource.plural == "pods" and not request.writes, error, times=-1)
        lab.cluster.end_watches(Expired(410, "Expired", "too old"))
        lab.edit({**set, "spec": {**set["spec"], "replicas": 1}})

    return break_off


class Case(NamedTuple):
    """`break_` happens while the set runs; `reason` is what is told of the replica of which an honest step would have taken something."""

    reason: str
    break_: Callable[[Lab, Manifest], None]
    context: Callable[[], StepContext] = lambda: context(config=TAS)
    replica: int = 1


CASES = {
    "a bad set": Case("must not be greater than replicas", edited(["spec", "template", "cliques", 0, "spec", "minAvailable"], 9)),
    "a set without structure": Case("cliques", edited(["spec", "template", "cliques"], "none")),
    "a bad topology": Case("it needs the ClusterTopology 'lab', which has errors", broken_topology),
    "a rule of a user that fails": Case("own/label", with_new_pods, lambda: context(config=TAS, program=program_with(FAILING)), replica=0),
    "an exception": Case("AssertionError: a fault of ours", exception),
    "a list that is forbidden": Case("pods is forbidden", unreadable_pods(Forbidden(403, "Forbidden", "pods is forbidden"))),
    "a list that fails": Case("etcd is away", unreadable_pods(ServerFailure(500, "InternalError", "etcd is away"))),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_nothing_is_deleted_and_the_reason_is_told(case: Case) -> None:
    @in_virtual_time
    async def live_through() -> None:
        lab, set = Lab(case.context()), named("set", clusterTopologyName="lab", topologyConstraint=RACK)
        lab.cluster.seed(TOPOLOGY, set, named("other"))
        async with lab_running(lab):
            await asyncio.sleep(200)
            before = len(lab.objects("set"))
            assert before > 10
            case.break_(lab, set)
            lab.edit(named("other", replicas=3))
            await asyncio.sleep(200)
            assert lab.deletes() == []
            assert len(lab.objects("set")) >= before  # an edit of a template is recorded, though nothing follows from it
            assert case.reason in lab.told(Key("PodCliqueSet", "default", "set", case.replica))
            assert ("Service", "other-2") in [(one["kind"], one["metadata"]["name"]) for one in lab.objects("other")]

    live_through()


@in_virtual_time
async def test_a_replica_that_is_no_longer_wanted_goes_when_nothing_is_wrong() -> None:
    """What all of the above would do if nobody looked after it."""
    lab = Lab(context(config=TAS))
    lab.cluster.seed(TOPOLOGY, named("set"))
    async with lab_running(lab):
        await asyncio.sleep(200)
        lab.edit(named("set", replicas=1))
        await asyncio.sleep(200)
        assert {ref.name for ref in lab.deletes()} >= {"set-1", "set-1-worker"}
        assert ("Service", "set-0") in [(one["kind"], one["metadata"]["name"]) for one in lab.objects("set")]


@in_virtual_time
async def test_conditions_are_written_once_and_keep_their_time() -> None:
    lab = Lab(context(config=TAS))
    lab.cluster.seed(TOPOLOGY, named("set", replicas=1))
    async with lab_running(lab):
        await asyncio.sleep(200)
        (gang,) = [one for one in lab.objects("set") if one["kind"] == "PodGang"]
        (condition,) = gang["status"]["conditions"]
        writes = len(lab.cluster.writes())
        lab.loop.enqueue(Key("PodCliqueSet", "default", "set", 0))
        await asyncio.sleep(60)
        assert condition["type"] == "Initialized"
        assert len(lab.cluster.writes()) == writes
