"""Whatever happens to a job in whatever order: its budget is counted once, its end is for ever, and nothing begins after its deadline."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.model.sets import clique, group
from tests.simulation.network import NEVER
from tests.simulation.schedules import LATE_KINDS, LONGEST_BACKOFF, Break, CutOff, Die, Fault, GoDown, Late, Lose, Pass, Slow, Tick
from tests.simulation.simulation import Simulation, running
from tests.simulation.world import CLIQUE, POD
from tests.suite.effort import runs
from tests.training.jobs import job, phase
from tests.training.watch import ENDS, watched_job

EXAMPLES = runs(25)


class Exit(NamedTuple):
    """The program of a pod ends."""

    pod: int
    code: int

    def happen(self, simulation: Simulation) -> None:
        pods = simulation.world.pods()
        if pods:
            simulation.machines.exit(pods[self.pod % len(pods)], self.code)


class Evict(NamedTuple):
    """The cluster takes a pod away."""

    pod: int

    def happen(self, simulation: Simulation) -> None:
        pods = simulation.world.pods()
        if pods:
            pod = pods[self.pod % len(pods)]
            conditions = pod.get("status", {}).get("conditions", [])
            simulation.world.report(pod, conditions=[*conditions, {"type": "DisruptionTarget", "status": "True", "reason": "Evicted"}])
            simulation.world.delete(POD, pod["metadata"]["name"])


class Finish(NamedTuple):
    """All pods of a replica that run exit with 0."""

    replica: int

    def happen(self, simulation: Simulation) -> None:
        for pod in simulation.world.pods(f"demo-{self.replica}"):
            simulation.machines.exit(pod)


Action = Exit | Evict | Finish | Pass | Tick | Lose | Die | CutOff | Slow | Late | Fault | Break | GoDown

_pods = st.integers(0, 9)
DEEDS = (
    st.builds(Pass, st.integers(0, 30)), st.builds(Pass, st.integers(0, 30)), st.builds(Pass, st.integers(0, 900)),
    st.builds(Tick), st.builds(Tick), st.builds(Tick),
    st.builds(Exit, _pods, st.just(0)), st.builds(Exit, _pods, st.just(0)), st.builds(Exit, _pods, st.integers(1, 3)),
    st.builds(Finish, st.integers(0, 1)), st.builds(Lose, _pods), st.builds(Evict, _pods),
    st.builds(Die, st.integers(0, 12), st.integers(0, 1)),
    st.builds(CutOff, st.integers(1, 40), st.integers(0, 1)),
    st.builds(Slow, st.integers(0, 8)),
    st.builds(Late, st.sampled_from(LATE_KINDS), st.integers(1, 60)), st.builds(Late, st.sampled_from(LATE_KINDS), st.integers(1, 60)),
    st.builds(Fault, st.integers(0, 4), st.integers(0, 4)), st.builds(Break, st.booleans()),
    st.builds(GoDown, st.integers(1, 100)),
)  # fmt: skip
schedules = st.lists(st.one_of(*DEEDS), max_size=40)


def ranks() -> dict[str, object]:
    """Two replicas of a leader and three ranks, of which one group is a gang of its own."""
    manifest = job([clique("lead"), clique("rank")], replicas=2, maxRestarts=3, maxRuntime="20m", ignoreDisruptions=True)
    manifest["spec"]["template"]["podCliqueScalingGroups"] = [group("ranks", ["rank"], 3, 2)]
    return manifest


def play(simulation: Simulation, schedule: list[Action]) -> None:
    """Lets all of a schedule happen, and then what is left: networks get well, and programs that run come to a good end."""
    watched_job(simulation)
    for action in schedule:
        action.happen(simulation)
    get_well(simulation)
    for _ in range(4):  # of which some are no end: a rank that was lost is missed only after a while
        for pod in simulation.world.pods():
            simulation.machines.exit(pod)
        simulation.wait(15)
    assert phase(simulation) in ENDS
    assert not [pod for pod in simulation.world.pods() if pod["status"]["phase"] in ("Pending", "Running")]
    if phase(simulation) == "Succeeded":
        assert {clique["status"]["succeededIndexes"] for clique in simulation.world.all(CLIQUE)} == {"0"}
    simulation.close()


def get_well(simulation: Simulation) -> None:
    """Networks and operators get well, and do all that is left to do."""
    simulation.network.calm_down()
    for one in simulation.operators:
        one.connection.cut_until = 0.0
        one.writes_left = NEVER
    simulation.let_pass(LONGEST_BACKOFF)
    simulation.settle()


random = settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])


@random
@given(schedules)
@example([Exit(0, 0), Lose(0), Late("Pod", 30), Exit(1, 1), Pass(5), Die(2), Pass(20), Tick(), Tick(), Evict(2), GoDown(30)])
def test_any_schedule_keeps_to_the_budget_and_comes_to_one_end(schedule: list[Action]) -> None:
    play(running(ranks()), schedule)


@random
@given(schedules)
@example([Slow(5), Exit(3, 1), Pass(3), CutOff(30), Pass(200), Tick(), Tick(), Exit(0, 0), Die(3, 1), Pass(30), Late("Pod", 60)])
def test_any_schedule_does_so_with_two_operators_of_which_one_leads(schedule: list[Action]) -> None:
    play(running(ranks(), candidates=2), schedule)
