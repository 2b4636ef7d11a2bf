"""What is held says so: the set bears a condition with the words of what is wrong, people are told once, and it goes when all is well."""

from __future__ import annotations

import asyncio
import copy
import re
from typing import Any

import pytest

from applier.errors import Invalid
from applier.ref import Kind, Manifest, Ref
from applier.testing.virtual_time import in_virtual_time
from grove_compiler.api.crd import crds
from grove_compiler.model.inputs.settings import Settings
from tests.features.compiling import program_with
from tests.model.sets import clique, pcs
from tests.simulation.simulation import Simulation
from tests.simulation.world import DEFINITION
from tests.step.world import context

from .lab import Lab, lab_running
from .test_no_harm import FAILING, named

SET = Ref("grove.io", "PodCliqueSet", "default", "set")


def edit(lab: Lab, **change: Any) -> None:
    """Changes fields of the set's spec or metadata, and nothing that it reports."""
    live = copy.deepcopy(lab.cluster.store.objects[SET])
    for key, value in change.items():
        where = live["metadata"] if key == "labels" else live["spec"]["template"]["cliques"][0]["spec"]
        where[key] = value
    lab.edit(live)


def status(lab: Lab) -> Manifest:
    found: Manifest = lab.cluster.store.objects[SET].get("status") or {}
    return found


def stalled(lab: Lab) -> list[str]:
    """What the condition says, where the set bears it."""
    return stalled_of({"status": status(lab)})


def stalled_of(one: Manifest) -> list[str]:
    conditions = (one.get("status") or {}).get("conditions") or []
    return [each["message"] for each in conditions if (each["type"], each["status"]) == ("Stalled", "True")]


def cliques(lab: Lab) -> list[Manifest]:
    return [one for one in lab.objects("set") if one["kind"] == "PodClique"]


def told(lab: Lab, reason: str = "Held") -> list[str]:
    return [one["message"] for one in lab.cluster.store.objects.values() if one["kind"] == "Event" and one["reason"] == reason]


@in_virtual_time
async def test_a_mistake_that_is_fixed_while_no_operator_runs_is_not_told_of_the_edit_that_fixes_it() -> None:
    """Whoever waits for the edit would take it for stalled."""
    lab = Lab(context())
    lab.cluster.seed(named("set"))
    async with lab_running(lab):
        await asyncio.sleep(20)
        edit(lab, minAvailable=9)
        await asyncio.sleep(20)
    assert len(stalled(lab)) == 1
    edit(lab, minAvailable=1)
    began = lab.cluster.store.version
    async with lab_running(Lab(context(), lab.cluster)):
        await asyncio.sleep(20)
    versions = [each.new for each in lab.cluster.store.changes if each.version > began and each.ref == SET]
    assert [stalled_of(one) for one in versions if one is not None] == [[]] * len(versions)
    assert status(lab)["observedGeneration"] == 3


@in_virtual_time
async def test_a_set_with_a_mistake_says_which_and_keeps_the_rest_of_its_status() -> None:
    lab = Lab(context())
    lab.cluster.seed(named("set"))
    async with lab_running(lab):
        await asyncio.sleep(200)
        before = status(lab)
        assert before["replicas"] == 2 and before["hpaPodSelector"]
        edit(lab, minAvailable=9)
        await asyncio.sleep(200)
        sentence = (
            "the last valid spec stays in effect, and nothing is scaled in: "
            "spec.template.cliques[0].spec.minAvailable: minAvailable must not be greater than replicas (1)"
        )
        assert stalled(lab)[0].startswith(sentence)
        assert told(lab) == stalled(lab)
        assert status(lab)["observedGeneration"] == 2
        assert {key: status(lab)[key] for key in ("replicas", "hpaPodSelector", "currentGenerationHash")} == {
            key: before[key] for key in ("replicas", "hpaPodSelector", "currentGenerationHash")
        }
        writes = len(lab.cluster.writes())
        await asyncio.sleep(600)
        assert len(lab.cluster.writes()) == writes
        edit(lab, minAvailable=1)
        await asyncio.sleep(200)
        assert stalled(lab) == []
        assert status(lab)["replicas"] == 2


@in_virtual_time
async def test_a_rule_that_fails_for_replicas_is_told_of_once_by_their_set() -> None:
    lab = Lab(context(program=program_with(FAILING)))
    lab.cluster.seed(named("set", replicas=5))
    async with lab_running(lab):
        await asyncio.sleep(200)
        edit(lab, labels={"tier": "gold"})
        await asyncio.sleep(200)
        (sentence,) = stalled(lab)
        assert re.match(r"replica \d: nothing is changed: .*own/label", sentence)
        assert told(lab) == [sentence.partition(": ")[2]]
        edit(lab, labels={})
        await asyncio.sleep(200)
        assert stalled(lab) == []


@in_virtual_time
async def test_a_pod_that_the_server_refuses_is_told_of_in_its_words_until_it_takes_it() -> None:
    lab = Lab(context())
    lab.cluster.seed(named("set"))
    words = 'Pod "x" is invalid: spec.containers[0].resources: Forbidden: HugePages require cpu or memory'
    refuses = [True]
    lab.cluster.fail(
        lambda request: refuses[0] and request.resource.plural == "pods" and request.writes, Invalid(422, "Invalid", words), times=-1
    )
    async with lab_running(lab):
        await asyncio.sleep(20)
        (one,) = [one for one in status(lab)["conditions"] if one["type"] == "Stalled"]
        assert (one["reason"], one["status"]) == ("Refused", "True")
        assert re.match(r"replica (\d): the server rejects Pod/default/set-\1-", one["message"])
        assert words in one["message"]
        assert {one["metadata"]["name"] for one in cliques(lab) if words in "".join(stalled_of(one))} == {
            f"set-{replica}-{name}" for replica in range(2) for name in ("worker", "helper")
        }
        assert len([text for text in told(lab, "Refused") if words in text]) == 5, "once for each clique, and once for the set"
        refuses[0] = False
        await asyncio.sleep(600)
        assert stalled(lab) == []
        assert [text for one in cliques(lab) for text in stalled_of(one)] == []
        pods = [one for one in lab.objects("set") if one["kind"] == "Pod"]
        assert len(pods) == 4


UNREADABLE = {"hugepages-2Mi": "4Mi"}
"""What no server takes without cpu or memory, and no rule of ours either."""


@in_virtual_time
async def test_of_a_template_that_no_server_takes_the_other_cliques_are_made() -> None:
    """The server says in its own words what our rules only repeat; here it is one that takes all."""
    lab, set = Lab(context()), named("set")
    set["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]["resources"] = {"limits": UNREADABLE}
    lab.cluster.seed(set)
    async with lab_running(lab):
        await asyncio.sleep(200)
        assert stalled(lab) == []
        assert len([one for one in lab.objects("set") if one["kind"] == "Pod"]) == 4


@in_virtual_time
async def test_a_template_that_no_server_takes_any_more_keeps_the_pods_that_run() -> None:
    lab = Lab(context())
    lab.cluster.seed(named("set"))
    async with lab_running(lab):
        await asyncio.sleep(200)
        before = {one["metadata"]["uid"] for one in lab.objects("set") if one["kind"] == "Pod"}
        live = copy.deepcopy(lab.cluster.store.objects[SET])
        live["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]["resources"] = {"limits": UNREADABLE}
        lab.edit(live)
        await asyncio.sleep(200)
        (sentence,) = stalled(lab)
        assert "HugePages require cpu or memory" in sentence
        assert {one["metadata"]["uid"] for one in lab.objects("set") if one["kind"] == "Pod"} == before
        lab.edit(named("set"))
        await asyncio.sleep(200)
        assert stalled(lab) == []


def test_a_set_without_its_driver_is_told_to_wait_for_that_and_for_nothing_else() -> None:
    """A domain that cannot be made is no object that is left as it is."""
    gpu = {"containers": [{"name": "main", "image": "busybox", "resources": {"limits": {"nvidia.com/gpu": 4}}}]}
    simulation = Simulation(context(Settings(pods=True, mnnvl_shape="driver")))
    simulation.world.delete(DEFINITION, "computedomains.resource.nvidia.com")
    simulation.world.apply(pcs([clique("work", 2, podSpec=gpu)], computeDomainConfig={"enabled": True}))
    simulation.settle()
    simulation.wait(60)
    conditions = {one["type"]: one["reason"] for one in simulation.status()["conditions"] if one["status"] == "True"}
    assert conditions == {"ComputeDomainsUnavailable": "ComputeDomainsNotServed", "WhyPending": "ComputeDomainsNotServed"}


@pytest.mark.parametrize("name", ["podcliques.grove.io", "podgangs.scheduler.grove.io", "clustertopologies.grove.io"])
@in_virtual_time
async def test_a_definition_that_somebody_deletes_is_told_until_it_is_there_again(name: str) -> None:
    """A set without a topology cannot know either that there is none; its pods stay."""
    lab = Lab(context())
    lab.cluster.seed(named("set"))
    async with lab_running(lab):
        await asyncio.sleep(200)
        (definition,) = [one for one in crds() if one["metadata"]["name"] == name]
        kind = definition["spec"]["names"]["kind"]
        crd = Ref("apiextensions.k8s.io", "CustomResourceDefinition", "", name)
        uid = lab.cluster.store.objects[crd]["metadata"]["uid"]
        await lab.cluster.delete(await lab.cluster.resource(Kind(crd.group, "v1", crd.kind)), "", name, uid=uid)
        lab.cluster.end_watches()
        await asyncio.sleep(60)
        (sentence,) = stalled(lab)
        assert f"{kind}.{definition['spec']['group']} is not served" in sentence
        assert len([text for text in told(lab) if "is not served" in text]) == 1
        lab.cluster.seed(definition)
        await asyncio.sleep(10)
        assert stalled(lab) == []
        assert len([one for one in lab.objects("set") if one["kind"] == "Pod"]) == 4
