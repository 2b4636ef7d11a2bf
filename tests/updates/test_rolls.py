"""RollingRecreate: pods are replaced one after the other, whatever is edited when, and never so many that a gang lacks what it needs."""

from __future__ import annotations

import pytest

from applier.ref import Kind, Manifest
from tests.invariants.reasons import NO_LONGER_WANTED
from tests.invariants.serving import needs, serving
from tests.model.sets import clique, group
from tests.simulation.sets import DEC, FRONT, PRE, demo, image, replicas, strategy
from tests.simulation.simulation import Simulation, running
from tests.simulation.watch import assert_all_ready, assert_no_index_twice, assert_no_orphan
from tests.simulation.world import CLIQUE, GANG, GROUP, POD, REVISION
from tests.step.world import context

HASH = "grove.io/pod-template-hash"
ROLLING = "RollingUpdate"


def guarded(simulation: Simulation) -> Simulation:
    """From now on nothing that we do may take from a clique or a group what it cannot do without."""
    least = needs(simulation.world)

    def check(_: str) -> None:
        assert_no_index_twice(simulation)
        assert {name: count for name, count in serving(simulation.world).items() if count < least.get(name, 0)} == {}

    simulation.operator.after_write = check
    return simulation


def replica_of(pod: str) -> int:
    return int(pod.split("-")[1])


def hashes(simulation: Simulation) -> dict[str, str]:
    return {one["metadata"]["name"]: one["metadata"]["labels"][HASH] for one in simulation.world.all(CLIQUE)}


@pytest.mark.parametrize("cliques", [(FRONT,), (FRONT, PRE), (DEC,)], ids=["front", "front and pre", "dec"])
def test_all_pods_of_what_was_edited_are_replaced(cliques: tuple[int, ...]) -> None:
    simulation = guarded(running(demo(replicas=2)))
    simulation.edit(image("new", *cliques))
    simulation.settle()
    assert_all_ready(simulation)
    assert_no_orphan(simulation)
    for index, name in enumerate(("front", "sg-0-pre", "sg-2-dec")):
        assert simulation.images(f"demo-1-{name}") == {"new" if index in cliques else "busybox"}


def test_one_replica_of_the_set_comes_after_the_other() -> None:
    simulation = guarded(running(demo(replicas=3)))
    simulation.edit(image("new"))
    simulation.settle()
    order = [replica_of(name) for name in simulation.deleted(ROLLING)]
    assert order == sorted(order)
    assert set(order) == {0, 1, 2}


def test_one_ready_pod_of_a_clique_goes_at_a_time() -> None:
    simulation = running(demo(front=4))
    lowest = [4]
    simulation.operator.after_write = lambda _: lowest.append(serving(simulation.world)["demo-0-front"])
    simulation.edit(image("new", FRONT))
    simulation.settle()
    assert min(lowest) == 3


def test_the_oldest_ready_pod_goes_first() -> None:
    simulation = running()
    simulation.edit(replicas(4), kind=CLIQUE, name="demo-0-front")
    simulation.settle()
    before = sorted(simulation.world.pods("demo-0-front"), key=lambda one: (one["metadata"]["creationTimestamp"], one["metadata"]["name"]))
    simulation.edit(image("new", FRONT))
    simulation.settle()
    assert simulation.deleted(ROLLING) == [one["metadata"]["name"] for one in before]


def test_a_scaling_groups_replica_is_replaced_as_a_whole() -> None:
    """Its pods work together, so that the unchanged ones go with the others; in the order of the indices."""
    simulation = guarded(running())
    simulation.edit(image("new", PRE))
    simulation.settle()
    members = [name.split("-")[3] for name in simulation.deleted(ROLLING)]
    assert members == ["0"] * 3 + ["1"] * 3 + ["2"] * 3


def test_progress_is_told_while_it_goes_on_and_when_it_is_over() -> None:
    simulation = running(demo(replicas=2))
    simulation.edit(image("new"))
    simulation.run_operator()
    progress = simulation.status()["updateProgress"]
    assert [one["replicaIndex"] for one in progress["currentlyUpdating"]] == [0]
    assert "updateEndedAt" not in progress
    assert simulation.status(CLIQUE, "demo-0-front")["updateProgress"]["readyPodsSelectedToUpdate"]["current"].startswith("demo-0-front")
    assert simulation.status(GROUP, "demo-0-sg")["updateProgress"]["readyReplicaIndicesSelectedToUpdate"] == {"current": 0, "serving": 3}
    simulation.settle()
    progress = simulation.status()["updateProgress"]
    counts = {name: count for name, count in progress.items() if name.endswith("Count")}
    assert set(counts.values()) == {2}
    assert progress["updateEndedAt"] > progress["updateStartedAt"]
    assert "currentlyUpdating" not in progress
    assert {one.partition(":")[0] for one in simulation.world.told} >= {"UpdateStarted", "UpdateEnded"}


def test_every_status_tells_of_the_new_generation_in_the_end() -> None:
    simulation = running(demo(replicas=2))
    simulation.edit(image("new", FRONT))
    simulation.settle()
    generation = simulation.status()["currentGenerationHash"]
    for kind in (CLIQUE, GROUP):
        assert {one["status"]["currentPodCliqueSetGenerationHash"] for one in simulation.world.all(kind)} == {generation}
    assert {one["status"].get("currentPodTemplateHash") for one in simulation.world.all(CLIQUE)} == set(hashes(simulation).values())
    assert simulation.status()["updatedReplicas"] == 2


def test_a_pod_that_dies_before_its_replicas_turn_is_replaced_by_the_same() -> None:
    simulation = running(demo(replicas=2))
    simulation.edit(image("broken"))  # never gets beyond the first replica
    simulation.settle()
    for pod in (simulation.world.pods("demo-1-front")[0], simulation.world.pods("demo-1-sg-0-pre")[0]):
        simulation.world.delete(CLIQUE._replace(group="", version="v1", kind="Pod"), pod["metadata"]["name"])
    simulation.settle()
    assert simulation.images("demo-1") == {"busybox"}
    assert len(simulation.world.pods("demo-1")) == 11


def test_drift_of_a_podclique_whose_turn_has_not_come_is_put_back_to_what_runs() -> None:
    simulation = running(demo(replicas=2))
    simulation.edit(image("broken"))
    simulation.settle()

    def drift(clique: Manifest) -> None:
        clique["spec"]["podSpec"]["containers"][0]["image"] = "foreign"

    for name in ("demo-1-front", "demo-1-sg-2-dec"):
        simulation.edit(drift, kind=CLIQUE, name=name)
    simulation.settle()
    images = [one["spec"]["podSpec"]["containers"][0]["image"] for one in simulation.world.all(CLIQUE) if "-1-" in one["metadata"]["name"]]
    assert set(images) == {"busybox"}


class TestWhatUsersOfTheShippedOperatorReport:
    """Each by the number of its issue there."""

    def test_697_no_replica_goes_while_another_is_unready(self) -> None:
        """One pass deleted all replicas: 2.5 minutes of outage."""
        simulation = guarded(running(demo(replicas=3)))
        simulation.edit(image("broken"))
        simulation.settle()
        assert {replica_of(name) for name in simulation.deleted(ROLLING)} == {0}
        assert [serving(simulation.world)[f"demo-{index}-sg"] for index in range(3)] == [2, 3, 3]

    def test_697_a_replica_that_broke_is_mended_before_another_is_touched(self) -> None:
        simulation = running(demo(replicas=2))
        simulation.machines.fail("demo-1-front")
        simulation.settle()
        simulation.edit(image("new"))
        simulation.settle()
        assert replica_of(simulation.deleted(ROLLING)[0]) == 1
        assert_all_ready(simulation)

    @pytest.mark.parametrize("rounds", range(1, 9))
    def test_400_an_edit_during_a_roll_starts_the_accounting_anew(self, rounds: int) -> None:
        """It was called done with old pods left, and took the front clique below its minAvailable."""
        simulation = guarded(running(demo(replicas=2)))
        simulation.edit(image("second"))
        for _ in range(rounds):
            simulation.run_operator()
            simulation.machines.tick()
            simulation.let_pass(1)
        simulation.edit(image("third"))
        simulation.settle()
        assert simulation.images() == {"third"}
        assert_all_ready(simulation)
        assert "updateEndedAt" in simulation.status()["updateProgress"]

    def test_840_what_is_not_ready_is_replaced_without_asking(self) -> None:
        """A spent budget blocked the roll that would have repaired."""
        simulation = guarded(running(demo(replicas=2)))
        simulation.edit(image("broken"))
        simulation.settle()
        assert serving(simulation.world)["demo-0-front"] == 1
        simulation.edit(image("mended"))
        simulation.settle()
        assert simulation.images() == {"mended"}
        assert_all_ready(simulation)

    def test_565_a_burst_of_replica_edits_rolls_nothing(self) -> None:
        """The gang was rolled again and again, and never Ready."""
        simulation = running()
        kept = {one["metadata"]["uid"] for one in simulation.world.pods()}
        for count in (3, 1, 4, 2, 5, 2):
            simulation.edit(replicas(count))
            simulation.edit(replicas(count), kind=CLIQUE, name="demo-0-front")
            simulation.run_operator()
        simulation.settle()
        assert simulation.deleted(ROLLING) == []
        assert kept <= {one["metadata"]["uid"] for one in simulation.world.pods()} | gone(simulation, "demo-0-front")
        assert_all_ready(simulation)
        assert len(simulation.world.pods()) == 22
        assert [simulation.status()[count] for count in ("replicas", "updatedReplicas", "availableReplicas")] == [2, 2, 2]

    def test_709_another_hash_of_the_same_template_restarts_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from tests.updates.test_revisions import another_hash

        simulation = running(demo(replicas=2))
        kept = {one["metadata"]["uid"] for one in simulation.world.pods()}
        another_hash(monkeypatch)
        before = simulation.world.version
        simulation.operator.restart(context())
        simulation.settle()
        assert {one["metadata"]["uid"] for one in simulation.world.pods()} == kept
        assert simulation.world.version == before, "not even a write"

    def test_566_another_order_of_what_has_none_restarts_nothing(self) -> None:
        """Helm and controllers write volumes and tolerations in whatever order."""
        manifest = demo(replicas=2)
        spec = manifest["spec"]["template"]["cliques"][FRONT]["spec"]["podSpec"]
        spec |= {"volumes": [{"name": "a", "emptyDir": {}}, {"name": "b", "emptyDir": {}}], "tolerations": [{"key": "a"}, {"key": "b"}]}
        simulation = running(manifest)
        kept = {one["metadata"]["uid"] for one in simulation.world.pods()}

        def reorder(set: Manifest) -> None:
            pod_spec = set["spec"]["template"]["cliques"][FRONT]["spec"]["podSpec"]
            for name in ("volumes", "tolerations"):
                pod_spec[name] = pod_spec[name][::-1]

        simulation.edit(reorder)
        simulation.settle()
        assert {one["metadata"]["uid"] for one in simulation.world.pods()} == kept

    def test_829_scaling_below_min_available_keeps_the_first_gang(self) -> None:
        """It drained the base gang, whose other cliques were left to wait; and the time of what is left was up then."""
        manifest = demo(terminationDelay="1m0s")
        manifest["spec"]["template"]["podCliqueScalingGroups"][0]["minAvailable"] = 2
        simulation = running(manifest)
        before = {one["spec"]["hostname"]: one["metadata"]["uid"] for one in simulation.world.pods()}
        simulation.edit(replicas(1), kind=GROUP, name="demo-0-sg")
        simulation.settle()
        simulation.wait(600)
        assert simulation.world.get(GROUP, "demo-0-sg")["spec"]["replicas"] == 1, "the scale itself is not undone"
        after = {one["spec"]["hostname"]: one["metadata"]["uid"] for one in simulation.world.pods()}
        assert after.items() <= before.items()
        assert serving(simulation.world) == {"demo-0-front": 2, "demo-0-sg": 2}
        assert [one.partition(":")[0] for one in simulation.world.told] == ["ScaledBelowMinAvailable"]

    def test_818_indices_have_no_gaps_after_scaling_in_and_out(self) -> None:
        simulation = running(demo(front=5))
        for count in (2, 4):
            simulation.edit(replicas(count), kind=CLIQUE, name="demo-0-front")
            simulation.settle()
        indices = sorted(one["metadata"]["labels"]["grove.io/podclique-pod-index"] for one in simulation.world.pods("demo-0-front"))
        assert indices == ["0", "1", "2", "3"]


def gone(simulation: Simulation, clique: str) -> set[str]:
    """What scaling in has taken: by its reason, and never by a roll."""
    left = {one["metadata"]["uid"] for one in simulation.world.pods(clique)}
    changes = simulation.world.changes_since(0)
    scaled_in = {ref.name for ref, why in simulation.operator.deleted if why == NO_LONGER_WANTED}
    return {old["metadata"]["uid"] for ref, old, new in changes if old and ref.name in scaled_in} - left


def test_from_updates_by_hand_to_rolling_ones_old_pods_are_rolled() -> None:
    """The shipped operator leaves them as they are for ever."""
    simulation = guarded(running(demo(replicas=2)))
    simulation.edit(strategy("OnDelete"))
    simulation.settle()
    simulation.edit(image("new"))
    simulation.settle()
    assert simulation.images() == {"busybox"}
    simulation.edit(strategy("RollingRecreate"))
    simulation.settle()
    assert simulation.images() == {"new"}
    assert_all_ready(simulation)


def test_a_bad_edit_and_its_rollback_end_where_they_began() -> None:
    simulation = guarded(running(demo(replicas=2)))
    before, generation = hashes(simulation), simulation.status()["currentGenerationHash"]
    simulation.edit(image("broken"))
    simulation.settle()
    simulation.edit(image("busybox"))
    simulation.settle()
    assert (hashes(simulation), simulation.status()["currentGenerationHash"]) == (before, generation)
    assert simulation.images() == {"busybox"}
    assert_all_ready(simulation)
    numbers = {one["metadata"]["name"]: one["revision"] for one in simulation.world.all(REVISION)}
    assert max(numbers, key=lambda name: numbers[name]) == f"demo-{generation}"


@pytest.mark.parametrize(("kind", "name"), [(GROUP, "demo-0-sg"), (CLIQUE, "demo-0-front")])
def test_an_update_does_not_wait_for_what_is_scaled_to_nothing(kind: Kind, name: str) -> None:
    """It never ended, and never came to the other replicas of the set."""
    simulation = running(demo(replicas=2))
    before = simulation.world.get(kind, name)["spec"]["replicas"]
    simulation.edit(replicas(0), kind=kind, name=name)
    simulation.settle()
    guarded(simulation).edit(image("new"))
    simulation.settle()
    assert simulation.images() == {"new"}
    for status in (simulation.status(), simulation.status(kind, name)):
        assert "updateEndedAt" in status["updateProgress"]
    assert simulation.status()["updateProgress"]["updatedPodCliquesCount"] == 2
    assert simulation.status()["updateProgress"]["updatedPodCliqueScalingGroupsCount"] == 2
    assert simulation.status()["updatedReplicas"] == 1, "the other one cannot serve"
    simulation.edit(replicas(before), kind=kind, name=name)
    simulation.settle()
    assert_all_ready(simulation)
    assert simulation.images() == {"new"}
    assert simulation.status()["updatedReplicas"] == 2


def test_a_clique_with_fewer_pods_than_its_gang_needs_is_updated_all_the_same() -> None:
    """All that somebody wants of it serve."""
    manifest = demo(replicas=2)
    manifest["spec"]["template"]["cliques"][FRONT]["spec"]["minAvailable"] = 2
    simulation = running(manifest)
    simulation.edit(replicas(1), kind=CLIQUE, name="demo-0-front")
    simulation.settle()
    simulation.edit(image("new", FRONT))
    simulation.settle()
    assert simulation.images("demo-0-front") | simulation.images("demo-1-front") == {"new"}
    assert_all_ready(simulation)


def test_809_of_a_gang_of_which_a_group_is_scaled_to_nothing_the_rest_comes_up() -> None:
    """Its PodGang may be another one than that which was complete once; and another group may be scaled out meanwhile."""
    manifest = demo()
    manifest["spec"]["template"]["cliques"].append(clique("aid", 1))
    manifest["spec"]["template"]["podCliqueScalingGroups"].append(group("more", ["aid"], 1, 1))
    simulation = running(manifest)
    simulation.edit(replicas(0), kind=GROUP, name="demo-0-sg")
    simulation.settle()
    simulation.world.delete(GANG, "demo-0")
    simulation.world.delete(POD, simulation.world.pods("demo-0-front")[0]["metadata"]["name"])
    simulation.edit(replicas(2), kind=GROUP, name="demo-0-more")
    simulation.settle()
    assert len(simulation.world.pods()) == 4
    assert_all_ready(simulation)
    simulation.edit(replicas(3), kind=GROUP, name="demo-0-sg")
    simulation.settle()
    assert len(simulation.world.pods()) == 4 + 9
    assert_all_ready(simulation)


def test_pods_that_an_update_replaces_are_not_told_of_as_lost() -> None:
    """Neither are those of a scaling group's replica, which go together."""
    simulation = running(demo(replicas=2))
    simulation.edit(image("new"))
    simulation.settle()
    assert simulation.images() == {"new"}
    assert [one for one in simulation.world.told if one.startswith("AllScheduledReplicasLost")] == []


@pytest.mark.parametrize(("kind", "name"), [(CLIQUE, "demo-0-front"), (GROUP, "demo-0-sg")])
def test_a_part_that_was_not_asked_again_before_the_set_ended_its_update_ends_its_own(kind: Kind, name: str) -> None:
    simulation = running()
    simulation.edit(image("new"))
    simulation.settle()

    def not_told(part: Manifest) -> None:
        del part["status"]["updateProgress"]["updateEndedAt"]
        breached = next(one for one in part["status"]["conditions"] if one["type"] == "MinAvailableBreached")
        breached |= {"status": "Unknown", "reason": "UpdateInProgress"}

    simulation.edit(not_told, kind=kind, name=name)
    simulation.operator.restart()
    simulation.settle()
    status = simulation.status(kind, name)
    assert status["updateProgress"]["updateEndedAt"]
    assert [one["status"] for one in status["conditions"] if one["type"] == "MinAvailableBreached"] == ["False"]
