"""What users of the shipped operator report and a small world can show; each test bears the number of its issue there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from applier.ref import Manifest
from grove_compiler.kube.timestamp import timestamp
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.step import step
from grove_operator.cluster.snapshot import DRIVER
from tests.conformance.cases import FOLDER, Case
from tests.features.compiling import shipped_program
from tests.invariants.serving import serving
from tests.model.sets import clique, group, pcs
from tests.simulation.schedules import Late
from tests.simulation.sets import FRONT, demo, image, replicas
from tests.simulation.simulation import Simulation, running
from tests.simulation.world import CLIQUE, GROUP, POD
from tests.status.world import NOW, keys_of, live_objects_of, shared_context
from tests.step.world import complete

TESTS = Path(__file__).parents[1]
REPORTED = (
    *(209, 277, 292, 400, 401, 434, 436, 453, 485, 498, 565, 566, 648, 676, 697, 703, 707, 709, 741, 744, 747, 767),
    *(796, 809, 815, 818, 829, 840, 847),
)
PAGE = TESTS.parent / "docs/differences.md"
GPU = {"name": "box", "image": "busybox", "resources": {"limits": {"nvidia.com/gpu": 4}}}


def compiled(manifest: Manifest) -> list[Manifest]:
    """What becomes of a set where topology-aware scheduling and MNNVL are switched on, as where the shipped operator was recorded."""
    return [node.object for node in Case("reported", "default", [manifest], [], "").compile(shipped_program()).graph.nodes]


@pytest.mark.parametrize("number", REPORTED)
def test_what_was_reported_is_tried(number: int) -> None:
    named = re.compile(rf"def test_(\d+_and_)*{number}_")
    assert [path.name for path in TESTS.rglob("test_*.py") if named.search(path.read_text())] != []


def test_the_page_tells_of_each_of_them_and_of_no_other() -> None:
    section = PAGE.read_text().partition("## What users of the upstream operator report")[2].partition("\n## ")[0]
    told = [int(number) for row in re.findall(r"^\| ([0-9, ]+) \|", section, re.MULTILINE) for number in row.split(",")]
    assert sorted(told) == sorted([*REPORTED, 775])  # which is 747 again


def test_292_what_somebody_changes_in_a_pod_in_place_stays() -> None:
    """A new image without a new pod: whoever may do that does it, and nothing is put back or made anew because of it."""
    simulation = running()
    pod = simulation.world.pods("demo-0-front")[0]
    containers = [{**one, "image": "patched", "resources": {"limits": {"cpu": "2"}}} for one in pod["spec"]["containers"]]
    simulation.world.put({**pod, "spec": {**pod["spec"], "containers": containers}})
    simulation.settle()
    simulation.wait(600)
    kept = simulation.world.get(POD, pod["metadata"]["name"])
    assert (kept["metadata"]["uid"], kept["spec"]["containers"]) == (pod["metadata"]["uid"], containers)
    assert simulation.operator.deleted == []


def test_741_of_what_serves_one_goes_at_a_time_also_while_pods_are_scaled_in_and_others_fail() -> None:
    """What serves nobody goes beside it, as #840 wants."""
    simulation = running(demo(front=6))
    simulation.machines.failing.add(simulation.world.pods("demo-0-front")[0]["metadata"]["uid"])
    simulation.settle()
    lowest = [6]
    simulation.operator.after_write = lambda _: lowest.append(serving(simulation.world)["demo-0-front"])
    simulation.edit(image("new", FRONT))
    simulation.edit(replicas(5), kind=CLIQUE, name="demo-0-front")
    simulation.settle()
    assert simulation.images("demo-0-front") == {"new"}
    assert min(lowest) >= 4 - 1, "five are wanted, of which one fails"


def test_847_a_gate_is_lifted_as_soon_as_pods_have_nodes_whatever_they_take_to_start() -> None:
    """A gate was lifted by a resync three minutes later. A scaled gang waits for the nodes of the base gang, and not for its models."""
    simulation = Simulation()
    simulation.world.apply(demo())
    simulation.run_operator()
    assert {clique_of(one) for one in gated(simulation)} == {"demo-0-sg-1-pre", "demo-0-sg-1-dec", "demo-0-sg-2-pre", "demo-0-sg-2-dec"}
    for pod in simulation.world.pods():
        if pod not in gated(simulation):
            on_node = {"type": "PodScheduled", "status": "True", "lastTransitionTime": timestamp(simulation.world.now)}
            simulation.world.report({**pod, "spec": {**pod["spec"], "nodeName": "node"}}, phase="Pending", conditions=[on_node])
    simulation.let_pass(1)
    assert gated(simulation) == []


@pytest.mark.parametrize("name", ["demo-0-front", "demo-0-sg-0-pre", "demo-0-sg-1-pre"])
def test_847_so_it_is_for_pods_of_a_clique_that_somebody_scales_by_hand(name: str) -> None:
    """Those of a PodClique in a scaling group waited longest."""
    simulation = running()
    simulation.edit(replicas(4), kind=CLIQUE, name=name)
    simulation.let_pass(1)
    assert len(simulation.world.pods(name)) == 4
    assert gated(simulation) == []


def gated(simulation: Simulation) -> list[Manifest]:
    return [one for one in simulation.world.pods() if one["spec"].get("schedulingGates")]


def clique_of(pod: Manifest) -> str:
    name: str = pod["metadata"]["labels"]["grove.io/podclique"]
    return name


def test_401_whoever_waits_for_a_pod_that_does_not_go_is_told_what_keeps_it() -> None:
    """Its node may be off, and the rack that the set is pinned to has no other."""
    simulation = running()
    [stuck, *_] = simulation.world.pods("demo-0-front")
    name = stuck["metadata"]["name"]
    simulation.world.change(POD, name, lambda pod: pod["metadata"].setdefault("finalizers", []).append("example.com/stuck"))
    simulation.world.delete(POD, name)
    for seconds in (1, 1, 1, 200, 1):
        simulation.let_pass(seconds)
        simulation.machines.tick()
    simulation.run_operator()
    [told] = [one for one in simulation.world.told if one.startswith("PodStuckTerminating")]
    assert name in told
    assert "example.com/stuck" in told
    assert simulation.status(CLIQUE, "demo-0-front")["readyReplicas"] == 2, "its successor does not wait for it"


@pytest.mark.parametrize("kinds", [["Pod"], ["PodClique"], ["Pod", "PodClique", "PodCliqueSet"]])
def test_747_a_status_that_was_worked_out_from_an_old_view_does_not_stay(kinds: list[str]) -> None:
    """A write that seemed needless beside an old copy was left out, and nothing asked for it again."""
    simulation = running(demo(front=4))
    simulation.machines.fail("demo-0-front")
    simulation.settle()
    assert simulation.status(CLIQUE, "demo-0-front")["readyReplicas"] == 0
    for kind in kinds:
        Late(kind, 50).happen(simulation)
    simulation.machines.failing.clear()
    for _ in range(4):
        simulation.machines.tick()
        simulation.let_pass(1)
    simulation.let_pass(5)
    simulation.settle()
    assert simulation.status(CLIQUE, "demo-0-front")["readyReplicas"] == 4
    breached = [one["status"] for one in simulation.status(CLIQUE, "demo-0-front")["conditions"] if one["type"] == "MinAvailableBreached"]
    assert breached == ["False"]


def test_796_an_external_scale_is_kept_when_all_that_was_stored_beside_it_is_lost() -> None:
    """A map of gangs was lost, and built anew from the template, which knows nothing of the scale."""
    simulation = running()
    for kind, name in ((CLIQUE, "demo-0-front"), (GROUP, "demo-0-sg")):
        simulation.edit(replicas(5), kind=kind, name=name)
    simulation.settle()
    before = {one["metadata"]["uid"] for one in simulation.world.pods()}
    for one in [*simulation.world.cluster.store.objects.values()]:
        if one["kind"] in ("PodGang", "ControllerRevision"):
            simulation.world.cluster.seed({**one, "metadata": {**one["metadata"], "labels": {}, "annotations": {}}, "spec": {}, "data": {}})
    simulation.operator.restart()
    simulation.settle()
    assert {one["metadata"]["uid"] for one in simulation.world.pods()} == before
    assert simulation.world.get(GROUP, "demo-0-sg")["spec"]["replicas"] == 5


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the recorded topologies are not there")
def test_485_only_who_asks_for_a_domain_gets_one() -> None:
    """Every set with GPUs got claims, of which a node has one, and the pods beside it stayed Pending."""
    manifest = pcs([clique("a", podSpec={"containers": [GPU]}), clique("b", podSpec={"containers": [GPU]})])
    made = compiled(manifest)
    assert [one["kind"] for one in made if one["kind"] in ("ComputeDomain", "ResourceClaim", "ResourceClaimTemplate")] == []
    manifest["spec"]["template"]["cliques"][0]["annotations"] = {"grove.io/mnnvl-group": "main"}
    made = compiled(manifest)
    claims = {one["spec"]["hostname"]: one["spec"].get("resourceClaims", []) for one in made if one["kind"] == "Pod"}
    assert [name for name, claimed in claims.items() if claimed] == ["demo-0-a-0"]


def test_209_gates_do_not_wait_for_a_domain_that_waits_for_its_pods() -> None:
    """A ComputeDomain becomes ready by the nodes that its pods are put on."""
    manifest = pcs([clique("a", 2, podSpec={"containers": [GPU]})], computeDomainConfig={"enabled": True})
    shared = shared_context()
    objects = [*live_objects_of(manifest, {"demo-0-a": ["gated", "gated"]}, {}, shared), DRIVER]
    for one in objects:
        if one["kind"] == "ComputeDomain":
            one["status"] = {"status": "NotReady"}
    [replica] = [key for key in keys_of(manifest) if key.replica == 0]
    nodes = complete(step(ObjectList(objects), replica, NOW, shared)).graph.nodes
    gates = [node.object["spec"].get("schedulingGates", []) for node in nodes if node.object["kind"] == "Pod"]
    assert gates == [[], []]


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the recorded topologies are not there")
def test_648_every_gang_of_a_replica_bears_the_constraint_of_the_set() -> None:
    """Each is packed by itself: no scheduler packs several gangs together. What can be done is to put all into one gang (minAvailable)."""
    constraint = {"topologyName": "h100-topology", "pack": {"required": "block"}}
    made = compiled(pcs([clique("a"), clique("b")], [group("sg", ["b"], 3, 1)], topologyConstraint=constraint))
    keys = {one["metadata"]["name"]: one["spec"]["topologyConstraint"]["packConstraint"] for one in made if one["kind"] == "PodGang"}
    assert set(keys) == {"demo-0", "demo-0-sg-0", "demo-0-sg-1"}
    assert all(one == {"required": "kubernetes.io/rack"} for one in keys.values())
