"""Schedules: what people, machines and bad luck do to a running set. A schedule is a list that can be read, shortened and replayed."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import NamedTuple

from applier.errors import Expired, Unreachable
from applier.ref import Manifest
from grove_compiler.labels import MANAGED_BY
from kube_objects.manifest import is_terminating
from tests.simulation.forgeries import FORGERIES
from tests.simulation.network import NEVER
from tests.simulation.operator import Operator
from tests.simulation.sets import NAME, image, replicas, size, strategy
from tests.simulation.simulation import Simulation
from tests.simulation.world import CLIQUE, GANG, GROUP, POD, REVISION, SERVICE, SET

NIGHT = 660.0
"""Seconds, longer than the terminationDelay of the sets that schedules are played with."""
ROUND = 3.0
"""Seconds in which operators hear of what machines have done, and act upon it."""


SCALABLE = {"set": (SET, NAME), "clique": (CLIQUE, f"{NAME}-0-front"), "group": (GROUP, f"{NAME}-0-sg")}


class Pass(NamedTuple):
    """Time passes, and operators work."""

    tenths: int

    def happen(self, simulation: Simulation) -> None:
        simulation.let_pass(self.tenths / 10)


class Tick(NamedTuple):
    """Machines move pods on."""

    def happen(self, simulation: Simulation) -> None:
        simulation.machines.tick()


class Proceed(NamedTuple):
    """All go on for so many rounds: operators do what they can, and machines move pods on."""

    rounds: int

    def happen(self, simulation: Simulation) -> None:
        for _ in range(self.rounds):
            simulation.let_pass(ROUND)
            simulation.machines.tick()
        simulation.let_pass(ROUND)


class Pause(NamedTuple):
    """Somebody pauses updates, as `grove rollout pause` does: people replace pods from now on."""

    def happen(self, simulation: Simulation) -> None:
        simulation.edit(strategy("OnDelete"))


class Resume(NamedTuple):
    """Updates go on by themselves from now on."""

    def happen(self, simulation: Simulation) -> None:
        simulation.edit(strategy("RollingRecreate"))


class Edit(NamedTuple):
    """Somebody changes what some cliques run."""

    tag: str
    cliques: tuple[int, ...]

    def happen(self, simulation: Simulation) -> None:
        simulation.edit(image(self.tag, *self.cliques))


class Resize(NamedTuple):
    """Somebody declares so many pods for a clique of the scaling group, and maybe another image with it: it counts once that is rolled."""

    clique: int
    number: int
    tag: str

    def happen(self, simulation: Simulation) -> None:
        simulation.edit(size(self.number, self.clique), *([image(self.tag, self.clique)] if self.tag else []))


class Scale(NamedTuple):
    """Somebody changes a number of replicas: of the set, of the front clique or of the scaling group of its first replica."""

    what: str
    number: int

    def happen(self, simulation: Simulation) -> None:
        kind, name = SCALABLE[self.what]
        if simulation.world.find(kind, name) is not None:
            simulation.edit(replicas(self.number), kind=kind, name=name)


class Autoscale(NamedTuple):
    """An autoscaler does so, and again whenever somebody has written another number."""

    what: str
    number: int

    def happen(self, simulation: Simulation) -> None:
        Scale(self.what, self.number).happen(simulation)
        simulation.machines.wanted[SCALABLE[self.what]] = self.number


class MakeAnew(NamedTuple):
    """A set is deleted, with all that is of it, and is there again at once or after a moment."""

    tenths: int

    def happen(self, simulation: Simulation) -> None:
        made = {key: copy.deepcopy(value) for key, value in simulation.world.get(SET, NAME).items() if key != "status"}
        as_it_was(made)
        metadata = declared_metadata(made)
        simulation.world.delete(SET, NAME)
        simulation.let_pass(self.tenths / 10)
        simulation.world.apply({**made, "metadata": metadata})


class Meddle(NamedTuple):
    """Somebody deletes one of the objects that were made, or takes our label from it."""

    kind: str
    which: int
    takes_label: bool

    def happen(self, simulation: Simulation) -> None:
        kind = {"clique": CLIQUE, "group": GROUP, "gang": GANG, "service": SERVICE}[self.kind]
        found = [one for one in simulation.world.all(kind) if not is_terminating(one) and one["metadata"].get("ownerReferences")]
        if found:
            one = found[self.which % len(found)]
            if self.takes_label:
                labels = {key: value for key, value in one["metadata"]["labels"].items() if key != MANAGED_BY}
                simulation.world.put({**one, "metadata": {**one["metadata"], "labels": labels}})
            else:
                simulation.world.delete(kind, one["metadata"]["name"])


class Lose(NamedTuple):
    """A pod is evicted, or its node goes."""

    pod: int

    def happen(self, simulation: Simulation) -> None:
        pods = simulation.world.pods()
        if pods:
            simulation.world.delete(POD, pods[self.pod % len(pods)]["metadata"]["name"])


class Drain(NamedTuple):
    """One of three nodes goes, with all of its pods."""

    node: int

    def happen(self, simulation: Simulation) -> None:
        for pod in simulation.world.pods()[self.node % 3 :: 3]:
            simulation.world.delete(POD, pod["metadata"]["name"])


class Cordon(NamedTuple):
    """Nodes take no more pods from now on, and keep those that they have."""

    def happen(self, simulation: Simulation) -> None:
        simulation.machines.cordoned = True


class Quota(NamedTuple):
    """There is a quota from now on, of so many pods more than there are, or less."""

    more: int

    def happen(self, simulation: Simulation) -> None:
        simulation.admission.quota = max(0, len(simulation.world.pods()) + self.more)


class Room(NamedTuple):
    """Nodes go, or come: there is room for so many pods less than there are, or more."""

    more: int

    def happen(self, simulation: Simulation) -> None:
        simulation.machines.room = max(0, len(simulation.world.pods()) + self.more)


class Night(NamedTuple):
    """More time passes than gangs have to recover."""

    def happen(self, simulation: Simulation) -> None:
        simulation.let_pass(NIGHT)


class Fail(NamedTuple):
    """A pod is not ready any more, until the end of the schedule."""

    pod: int

    def happen(self, simulation: Simulation) -> None:
        pods = simulation.world.pods()
        if pods:
            simulation.machines.failing.add(pods[self.pod % len(pods)]["metadata"]["uid"])


class Forge(NamedTuple):
    """Somebody changes what cannot change in a set, or makes an error in it, while there is no admission.

    Before an operator has recorded a set nobody knows that it was ever another.
    """

    what: str

    def happen(self, simulation: Simulation) -> None:
        uid = simulation.world.get(SET, NAME)["metadata"]["uid"]
        if any(owner["uid"] == uid for one in simulation.world.all(REVISION) for owner in one["metadata"].get("ownerReferences", [])):
            simulation.edit(lambda pcs: FORGERIES[self.what].forge(pcs["spec"]["template"]))


class Defaults(NamedTuple):
    """There is a LimitRange from now on, which adds resources to pods that are created."""

    def happen(self, simulation: Simulation) -> None:
        simulation.admission.has_defaults = True


class Ask(NamedTuple):
    """From now on webhooks are asked about each pod that is created, and take so many seconds; at ten the server gives up."""

    seconds: int

    def happen(self, simulation: Simulation) -> None:
        simulation.admission.takes = float(self.seconds)


class Die(NamedTuple):
    """An operator's process ends after so many more writes, and another one takes over."""

    writes: int
    candidate: int = 0

    def happen(self, simulation: Simulation) -> None:
        _operator(simulation, self.candidate).writes_left = self.writes


class CutOff(NamedTuple):
    """Nothing gets from an operator to the server and back for a while; another candidate may lead by then."""

    seconds: int
    candidate: int = 0

    def happen(self, simulation: Simulation) -> None:
        _operator(simulation, self.candidate).connection.cut_until = simulation.loop.time() + self.seconds


class Slow(NamedTuple):
    """From now on requests take up to so long, and so do answers."""

    tenths: int

    def happen(self, simulation: Simulation) -> None:
        simulation.network.latency = self.tenths / 10


class Late(NamedTuple):
    """The watches of a kind tell nothing for a while, and then all."""

    kind: str
    tenths: int

    def happen(self, simulation: Simulation) -> None:
        simulation.network.silent[self.kind] = simulation.loop.time() + self.tenths / 10


class Fault(NamedTuple):
    """So many of the next writes fail, or are carried out without an answer."""

    failures: int
    lost_answers: int

    def happen(self, simulation: Simulation) -> None:
        simulation.network.failures, simulation.network.lost_answers = self.failures, self.lost_answers


class Break(NamedTuple):
    """All watches end. Where the server has forgotten its history, they begin again with all that there is: much is told twice."""

    forgotten: bool

    def happen(self, simulation: Simulation) -> None:
        cluster = simulation.world.cluster
        if self.forgotten:
            cluster.store.forget()
        cluster.end_watches(Expired(410, "Expired", "too old resource version") if self.forgotten else Unreachable("connection reset"))


class GoDown(NamedTuple):
    """There is no server for a while."""

    seconds: int

    def happen(self, simulation: Simulation) -> None:
        simulation.network.go_down(self.seconds)


def _operator(simulation: Simulation, number: int) -> Operator:
    return simulation.operators[number % len(simulation.operators)]


def declared_metadata(set: Manifest) -> Manifest:
    """The metadata of a set that its owner has written."""
    return {key: value for key, value in set["metadata"].items() if key in ("name", "namespace", "labels", "annotations")}


def as_it_was(set: Manifest) -> None:
    """An edit that takes back what has been forged, and lets updates go on."""
    for forgery in FORGERIES.values():
        forgery.undo(set["spec"]["template"])
    set["spec"].pop("updateStrategy", None)


Intervention = (
    Pass | Tick | Edit | Resize | Scale | Autoscale | MakeAnew | Meddle | Lose | Drain | Fail | Room | Cordon | Quota | Night | Forge
)
Action = Intervention | Proceed | Pause | Resume | Defaults | Ask | Die | CutOff | Slow | Late | Fault | Break | GoDown

AMPLE_ROOM = 1000
MAX_BACKOFF = 60.0
"""Seconds. Nobody waits longer before the next try, after as many failures as a schedule has: what is still wrong then stays so."""


def play(simulation: Simulation, schedule: Sequence[Action], look: Callable[[Simulation], None] = lambda _: None) -> None:
    """Lets all of a schedule happen, and then what is left to happen by itself; nobody's pods fail for ever, and all networks get well.

    `look` is called when all is at rest, before an edit of every clique rolls what there is once more.
    """
    for action in schedule:
        action.happen(simulation)
    simulation.machines.failing.clear()
    simulation.machines.room, simulation.machines.cordoned = AMPLE_ROOM, False
    simulation.network.calm_down()
    simulation.admission.calm_down()
    simulation.edit(as_it_was)
    for one in simulation.operators:
        one.connection.cut_until = 0.0
        one.writes_left = NEVER
    simulation.wait(MAX_BACKOFF)
    look(simulation)
    simulation.edit(image("last"))
    simulation.wait(MAX_BACKOFF)
