"""A loop that keeps a cluster true for a long time while people edit, controllers interfere and servers misbehave; and what it costs."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import median
from typing import Any, NamedTuple

from applier.cache import WatchCache
from applier.cluster import Cluster
from applier.desired import Desired, Gone, Graph
from applier.errors import ApplierError, NotFound
from applier.loop import Loop, Reconciler, Result, View
from applier.ref import Kind, Manifest, Ref
from applier.testing.control_plane import ControlPlane
from applier.testing.proxy import Faults
from applier.transport import connect
from tests.connecting import connect_to

from .hostility import contains, hostile

CONFIG_MAP = Kind("", "v1", "ConfigMap")
KEYS = 20
MAX_CHILDREN = 12
SAMPLE_SECONDS = 1.0
PAUSE = 0.05  # seconds between two edits, of people who have time
CALM_SECONDS = 60.0  # how long the end may take to settle


class Sample(NamedTuple):
    """Resident memory in MB, asyncio tasks, and open file descriptors."""

    memory: float
    tasks: int
    descriptors: int


NOTHING = Sample(0, 0, 0)


@dataclass(slots=True, eq=False)
class Account:
    """What a soak came to. `wrong` names what was not as wanted in the end; `left` is what stayed when all was closed.

    `judged` says what an audit log has shown, where one was read.
    """

    samples: list[Sample] = field(default_factory=list)
    edits: int = 0
    meddling: int = 0
    faults: int = 0
    errors: int = 0
    requests: int = 0
    judged: str = ""
    wrong: list[str] = field(default_factory=list)
    start: Sample = NOTHING
    left: Sample = NOTHING

    def growth(self) -> float:
        """By how much memory grew from the second third to the last, in MB: the first third warms up."""
        third = len(self.samples) // 3
        return median(one.memory for one in self.samples[2 * third :]) - median(one.memory for one in self.samples[third : 2 * third])

    def most_tasks(self) -> tuple[int, int]:
        """The most tasks at a time in the second third, and in the last."""
        third = len(self.samples) // 3
        return max(one.tasks for one in self.samples[third : 2 * third]), max(one.tasks for one in self.samples[2 * third :])


def sample() -> Sample:
    """This process now, without what the collector frees: that is no leak, however seldom it looks."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return Sample(pages * os.sysconf("SC_PAGESIZE") / (1 << 20), len(asyncio.all_tasks()), len(os.listdir("/proc/self/fd")))


def forget_what_was() -> None:
    """Has the collector look at nothing that is there already.

    It looks at all once as much as a quarter of that is new: in a worker that has run thousands of tests, a hundred megabytes.
    """
    gc.collect()
    gc.freeze()
    gc.collect()  # what is left from now on is counted anew


def config_map(namespace: str, name: str, data: dict[str, str], key: str, **metadata: Any) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, "labels": {"soak": key}, **metadata},
        "data": data,
    }


class KeyedChildren:
    """Each key is a ConfigMap that says how many children there are to be, and what is in them."""

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace

    def ref(self, key: str) -> Ref:
        return Ref("", "ConfigMap", self.namespace, key)

    def spec(self, key: str, count: int, text: str) -> Manifest:
        return config_map(self.namespace, key, {"count": str(count), "text": text}, "spec")

    def desired(self, view: View, key: str) -> Graph | Gone:
        """The children of a key."""
        spec = view.get(self.ref(key))
        return Gone() if spec is None else Graph([Desired(child, owner=self.ref(key)) for child in self.children(spec)])

    def children(self, spec: Manifest) -> list[Manifest]:
        """What a spec asks for."""
        key = spec["metadata"]["name"]
        owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": key, "controller": True}
        numbers = range(int(spec["data"]["count"]))
        return [
            config_map(self.namespace, f"{key}-{number}", {"text": spec["data"]["text"]}, key, ownerReferences=[owner])
            for number in numbers
        ]

    def members(self, view: View, key: str) -> Iterable[Manifest]:
        """What exists because of a key."""
        return view.by_label("", "ConfigMap", f"soak={key}", self.namespace)

    def keys(self, ref: Ref, old: Manifest | None, new: Manifest | None) -> list[str]:
        """The key that an object is the spec or a child of."""
        labels = ((new or old or {}).get("metadata") or {}).get("labels") or {}
        return [ref.name if labels["soak"] == "spec" else labels["soak"]] if "soak" in labels else []


class Churn:
    """Edits specs, and deletes and changes children behind the loop's back, without faults."""

    def __init__(self, world: KeyedChildren, cluster: Cluster, seed: int, account: Account) -> None:
        self.world, self.cluster, self.chance, self.account = world, cluster, Random(seed), account

    async def prepare(self) -> None:
        """Every key's first spec."""
        for number in range(KEYS):
            await self.edit(f"key-{number}")

    async def edit(self, key: str) -> None:
        spec = self.world.spec(key, self.chance.randrange(MAX_CHILDREN), f"{self.chance.getrandbits(400):x}")
        await self.cluster.apply(await self.cluster.resource(CONFIG_MAP), spec, manager="people", force=True)
        self.account.edits += 1

    async def interfere(self, key: str) -> None:
        """A child of a key is deleted, or its text changed by somebody else."""
        resource, name = await self.cluster.resource(CONFIG_MAP), f"{key}-{self.chance.randrange(MAX_CHILDREN)}"
        try:
            child = await self.cluster.get(resource, self.world.namespace, name)
            if self.chance.random() < 0.5:
                await self.cluster.delete(resource, self.world.namespace, name, uid=child["metadata"]["uid"])
            else:
                await self.cluster.patch(resource, self.world.namespace, name, {"data": {"text": "meddled"}}, manager="meddler")
            self.account.meddling += 1
        except NotFound:
            return  # not there now, or pruned since

    async def go_on(self, until: float, least: int, pause: float) -> None:
        """Keeps at it until the loop's clock says so, and until enough has happened: a machine that is busy does less in the same time."""
        while asyncio.get_running_loop().time() < until or self.account.edits + self.account.meddling < least:
            key = f"key-{self.chance.randrange(KEYS)}"
            await (self.edit(key) if self.chance.random() < 0.6 else self.interfere(key))
            await asyncio.sleep(pause)


async def differences(world: KeyedChildren, cluster: Cluster) -> list[str]:
    """What is not as the specs say, asked of the server itself."""
    items = (await cluster.list(await cluster.resource(CONFIG_MAP), world.namespace, labels="soak")).items
    specs = [item for item in items if item["metadata"]["labels"]["soak"] == "spec"]
    wanted = {child["metadata"]["name"]: child for spec in specs for child in world.children(spec)}
    live = {item["metadata"]["name"]: item for item in items if item["metadata"]["labels"]["soak"] != "spec"}
    extra = [f"{name} should not be there" for name in live.keys() - wanted.keys()]
    missing = [f"{name} is not there" for name in wanted.keys() - live.keys()]
    other = [f"{name} is not as wanted" for name in wanted.keys() & live.keys() if not contains(live[name]["data"], wanted[name]["data"])]
    return sorted(extra + missing + other)


async def sampled(account: Account, tell: Callable[[Sample], None]) -> None:
    """Takes samples for ever."""
    while True:
        await asyncio.sleep(SAMPLE_SECONDS)
        account.samples.append(sample())
        tell(account.samples[-1])


async def soak(
    plane: ControlPlane,
    seconds: float,
    *,
    least: int = 0,
    pause: float = PAUSE,
    seed: int = 1,
    tell: Callable[[Sample], None] = lambda _: None,
) -> Account:
    """Runs a loop behind a hostile server for so long, and through so many events at least, then lets it settle and closes everything."""
    account, world = Account(), KeyedChildren(plane.create_namespace("soak-"))
    async with connect(kubeconfig=str(plane.kubeconfig)) as calm:
        await calm.version()
        forget_what_was()
        account.start = sample()
        async with Faults(plane, hostile(seed, stall_seconds=5.0), remember=100) as proxy, connect_to(proxy.url) as cluster:
            churn = Churn(world, calm, seed, account)
            await churn.prepare()
            await run(world, cluster, churn, lambda: churn.go_on(asyncio.get_running_loop().time() + seconds, least, pause), account, tell)
            account.wrong = await differences(world, calm)
            account.faults, account.requests = proxy.injected.total(), cluster.requests.total()
        gc.collect()
        await asyncio.sleep(0.5)
        account.left = sample()
    plane.delete_namespace(world.namespace)
    return account


async def run(
    world: KeyedChildren,
    cluster: Cluster,
    churn: Churn,
    disturb: Callable[[], Awaitable[None]],
    account: Account,
    tell: Callable[[Sample], None],
) -> None:
    """The loop at work while there is churn, and until it has settled."""

    def seen(result: Result[str]) -> None:
        if result.error is not None and not isinstance(result.error, ApplierError):
            raise result.error
        account.errors += result.error is not None

    cache = WatchCache(cluster, [(CONFIG_MAP, world.namespace)], stall=10.0)
    reconciler = Reconciler[str](cluster, cache, manager="soak", force=("*",), members=world.members, namespace=world.namespace)
    loop = Loop[str](cache, world.desired, reconciler, keys=world.keys, on_result=seen)
    sampling = asyncio.create_task(sampled(account, tell))
    running = asyncio.create_task(loop.run())
    try:
        await disturb()
        async with asyncio.timeout(CALM_SECONDS):
            while await differences(world, churn.cluster):
                await asyncio.sleep(0.5)
    except TimeoutError:
        pass  # the account says what is wrong
    finally:
        loop.stop(grace=10.0)
        sampling.cancel()
        await asyncio.gather(running, sampling, return_exceptions=True)
    if not running.cancelled() and (error := running.exception()):
        raise error
