"""An operator that keeps twenty sets true for a long time, while people edit, interfere and kill, and servers misbehave; what it costs."""

from __future__ import annotations

import asyncio
import gc
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from random import Random
from typing import Any

from applier.cluster import Cluster
from applier.errors import ApplierError, NotFound, WriteConflict
from applier.loop import Result
from applier.ref import Kind, Manifest
from applier.testing.control_plane import ControlPlane
from applier.testing.proxy import Faults
from applier.transport import connect
from grove_compiler.labels import DELETION_REASON
from grove_compiler.replay.bundle import RecordedStep
from grove_compiler.step import Key, StepContext
from grove_operator.controller.operator import Operator, OperatorOptions, settings_of
from grove_operator.controller.recorder import BundleFolder, Retention, Trigger
from tests.applier.endurance.hostility import hostile
from tests.applier.endurance.soak import Account, Sample, forget_what_was, sample, sampled
from tests.connecting import connect_to
from tests.features.compiling import shipped_program
from tests.invariants.check import check
from tests.invariants.plane import keep
from tests.simulation.shapes import Shapes, shapes_of

from .account import account_of, token_of
from .resource_versions import kube_version
from .world import KINDS, clique, is_ready, pod_clique_set

SETS = 20
CALM_SECONDS = 300.0  # how long the end may take to settle
MIN_EDITS, MIN_FAULTS = 60, 10
AWAY_SECONDS = 3.0
AGENT = "soak-operator"
STALL_SECONDS = 5.0
LAG = 3 * STALL_SECONDS
"""Seconds within which the operator hears of others, and its requests arrive: each may stall, as may the stream that tells of it."""
POOLED = 4  # connections that the undisturbed client may keep for its next request
COMPARED = ("sets", "cliques", "groups", "gangs", "services", "pods")
MEDDLED_WITH = ("pods", "pods", "pods", "cliques", "gangs", "services")


class People:
    """Edit sets, delete what was made of them, and put labels on it; without faults. `declared` are the sets as they should be."""

    def __init__(self, cluster: Cluster, namespace: str, chance: Random, account: Account) -> None:
        self.cluster, self.namespace, self.chance, self.account = cluster, namespace, chance, account
        self.declared: dict[str, Manifest] = {}

    async def declare(self, number: int) -> None:
        """Writes a set with any images and any number of replicas; every other one has a scaling group.

        How many pods its cliques have is not edited: PodCliques that are there keep theirs, as if an autoscaler had set it.
        """
        self.account.edits += 1
        front = clique("front", 1 + number % 3, minAvailable=1)
        work = [clique("work", 2)] if number % 2 else []
        for one in (front, *work):
            one["spec"]["podSpec"]["containers"][0]["image"] = f"registry.example/app:{self.chance.randint(1, 3)}"
        groups = [{"name": "sg", "cliqueNames": ["work"], "replicas": 2, "minAvailable": 1}] if work else []
        template: dict[str, Any] = {"podCliqueScalingGroups": groups} if groups else {}
        made = pod_clique_set(front, *work, replicas=self.chance.randint(0, 2), name=f"set-{number}", **template)
        await self._write(made)

    async def _write(self, manifest: Manifest) -> None:
        self.declared[manifest["metadata"]["name"]] = manifest
        whole = {**manifest, "metadata": {**manifest["metadata"], "namespace": self.namespace}}
        await self.cluster.apply(await self.cluster.resource(KINDS["sets"]), whole, manager="people", force=True)

    async def make_anew(self) -> None:
        """A set goes, with all that is of it, and is there again at once."""
        name = self.chance.choice(sorted(self.declared))
        await self._delete(KINDS["sets"], name)
        await self._write(self.declared[name])  # refused by nobody: it has the name of one that may still be going

    async def interfere(self) -> None:
        """Something that was made is deleted, or gets a label that is not its own; not pods, of which nothing is ever put back."""
        kind = KINDS[self.chance.choice(MEDDLED_WITH)]
        resource = await self.cluster.resource(kind)
        items = (await self.cluster.list(resource, self.namespace)).items
        if not items:
            return
        name = self.chance.choice(items)["metadata"]["name"]
        self.account.meddling += 1
        if kind == KINDS["pods"] or self.chance.random() < 0.5:
            await self._delete(kind, name)
        else:
            with suppress(NotFound):
                patch = {"metadata": {"labels": {"app.kubernetes.io/component": "meddled"}}}
                await self.cluster.patch(resource, self.namespace, name, patch, manager="meddler")

    async def _delete(self, kind: Kind, name: str) -> None:
        resource = await self.cluster.resource(kind)
        with suppress(NotFound, WriteConflict):
            live = await self.cluster.get(resource, self.namespace, name)
            await self.cluster.delete(resource, self.namespace, name, uid=live["metadata"]["uid"])


class Keeper:
    """The operator's process, as often as it is started. Errors that nobody has foreseen are `wrong`."""

    def __init__(self, cluster: Cluster, namespace: str, account: Account, bundles: BundleFolder | None = None) -> None:
        self.cluster, self.namespace, self.account, self.bundles = cluster, namespace, account, bundles
        self.last: dict[Key, Result[Key]] = {}
        self.recorded = 0
        self.start()

    def start(self) -> None:
        context = StepContext(shipped_program(), settings_of(kube_version()))
        retention = Retention(every=self.bundles is not None, write=self._write)
        options = OperatorOptions(namespace=self.namespace, on_result=self._observe, retention=retention)
        self.operator = Operator(self.cluster, context, time.time, options)
        self._task = asyncio.create_task(self.operator.run())

    async def kill(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def stop(self) -> None:
        self.operator.stop(10.0)
        await asyncio.gather(self._task, return_exceptions=True)

    def told(self) -> list[str]:
        """What is known of keys that did not come to rest: to be read when something is wrong in the end."""
        queue = self.operator.loop.queue
        state = f"{queue.depth()} keys wait, {queue.active()} are in work, {queue.delayed()} are due later"
        ends = {
            key: one.held or [f"{each.step.ref} {each.action}: {each.reason}" for each in one.outcomes] for key, one in self.last.items()
        }
        return [state, *(f"{key}: {end}" for key, end in ends.items() if end)]

    def _write(self, taken: RecordedStep, trigger: Trigger) -> None:
        if self.bundles is not None:
            self.bundles.write(taken, trigger)
            self.recorded += 1

    def _observe(self, result: Result[Key]) -> None:
        self.last[result.key] = result
        self.account.errors += result.error is not None
        if result.error is not None and not isinstance(result.error, ApplierError):
            self.account.wrong.append(f"{result.key}: {type(result.error).__name__}: {result.error}")


async def seen(cluster: Cluster, namespace: str) -> Shapes:
    """What is in a namespace, as the server itself says; of pods what they are made from, and whether they are ready."""
    objects = []
    for what in COMPARED:
        resource = await cluster.resource(KINDS[what])
        objects += [
            {**one, "apiVersion": resource.kind.api_version, "kind": resource.kind.kind}
            for one in (await cluster.list(resource, namespace)).items
        ]
    alike = json.loads(json.dumps(objects).replace(namespace, "NAMESPACE"))
    return shapes_of([_pod(one) if one["kind"] == "Pod" else _without_addresses(one) for one in alike])


def _pod(one: Manifest) -> Manifest:
    """Returns a pod without what chance decides: its node, and the reason of a deletion that an operator who was killed did not come to."""
    spec = {key: value for key, value in one["spec"].items() if key != "nodeName"}
    leaves = {"leaves": True} if "deletionTimestamp" in one["metadata"] else {}
    annotations = {key: value for key, value in (one["metadata"].get("annotations") or {}).items() if leaves or key != DELETION_REASON}
    metadata = {**one["metadata"], "annotations": annotations or None}
    return {**one, "metadata": metadata, "spec": spec, "status": {"ready": is_ready(one), **leaves}}


def _without_addresses(one: Manifest) -> Manifest:
    spec = {key: value for key, value in (one.get("spec") or {}).items() if key not in ("clusterIP", "clusterIPs")}
    return {**one, "spec": spec}


async def churn(people: People, keeper: Keeper, proxy: Faults, until: float, least_looks: int = 0) -> None:
    """Keeps at it until the loop's clock says so, and until enough has happened: a machine that is busy does less in the same time."""
    clock = asyncio.get_running_loop().time
    while clock() < until or people.account.edits < MIN_EDITS or proxy.injected.total() < MIN_FAULTS or keeper.recorded < least_looks:
        draw = people.chance.random()
        if draw < 0.45:
            await people.declare(people.chance.randrange(SETS))
        elif draw < 0.93:
            await people.interfere()
        elif draw < 0.96:
            await people.make_anew()
        elif draw < 0.99:
            await keeper.kill()
            keeper.start()
        else:
            proxy.refusing = True
            await asyncio.sleep(AWAY_SECONDS)
            proxy.refusing = False
        await asyncio.sleep(0.2)


async def soak(
    plane: ControlPlane,
    seconds: float,
    *,
    seed: int = 1,
    tell: Callable[[Sample], None] = lambda _: None,
    bundles: BundleFolder | None = None,
    least_looks: int = 0,
) -> Account:
    """Runs an operator behind a hostile server for so long, then lets it settle, and closes everything.

    `bundles` gets each of its looks, of which there are to be at least so many.

    In the end each set is compared with what an operator makes of it in a namespace where nothing has ever happened.
    """
    account, namespace = Account(), plane.create_namespace("soak-")
    async with connect(kubeconfig=str(plane.kubeconfig)) as calm:
        await calm.version()
        forget_what_was()
        account.start = sample()
        async with (
            Faults(plane, hostile(seed, stall_seconds=STALL_SECONDS), remember=100) as proxy,
            connect_to(proxy.url, token=token_of(plane), user_agent=AGENT) as cluster,
        ):
            people = People(calm, namespace, Random(seed), account)
            for number in range(SETS):
                await people.declare(number)
            async with kept(cluster, namespace, account, bundles) as keeper:
                sampling = asyncio.create_task(sampled(account, tell))
                await churn(people, keeper, proxy, asyncio.get_running_loop().time() + seconds, least_looks)
                sampling.cancel()
                await asyncio.gather(sampling, return_exceptions=True)
                if found := await differences(plane, people, account):
                    account.wrong += [*found, *keeper.told()]
            account.faults, account.requests = proxy.injected.total(), cluster.requests.total()
        gc.collect()
        account.left = await rested(account.start)
    plane.clear_namespace(namespace)
    verdict = check(plane.audit_log, agent=AGENT, lag=LAG, only=namespace)  # others are looked at when the run ends
    account.judged = str(verdict)
    if verdict.faults:
        account.wrong += [*verdict.faults, f"the audit log: {keep(plane.audit_log)}"]
    return account


async def rested(start: Sample) -> Sample:
    """What is left once what was closed has had time to go."""
    deadline = time.monotonic() + CALM_SECONDS
    while (left := sample()).tasks > start.tasks or left.descriptors > start.descriptors + POOLED:
        if time.monotonic() > deadline:
            break
        await asyncio.sleep(0.5)
    return left


@asynccontextmanager
async def kept(cluster: Cluster, namespace: str, account: Account, bundles: BundleFolder | None = None) -> AsyncIterator[Keeper]:
    """An operator at work in a namespace."""
    keeper = Keeper(cluster, namespace, account, bundles)
    try:
        yield keeper
    finally:
        await keeper.stop()


async def differences(plane: ControlPlane, people: People, account: Account) -> list[str]:
    """What still differs, once all had time to settle, from sets that were declared so from the start."""
    fresh = plane.create_namespace("soak-fresh-")
    anew = People(people.cluster, fresh, Random(0), Account())
    async with connect(kubeconfig=str(account_of(plane)), user_agent=AGENT) as cluster, kept(cluster, fresh, account):
        for manifest in list(people.declared.values()):
            await anew._write(manifest)
        deadline = time.monotonic() + CALM_SECONDS
        while (ours := await seen(people.cluster, people.namespace)) != (wanted := await seen(people.cluster, fresh)):
            if time.monotonic() > deadline:
                return [
                    f"{key}: {ours.get(key)} and not {wanted.get(key)}"
                    for key in ours.keys() | wanted.keys()
                    if ours.get(key) != wanted.get(key)
                ]
            await asyncio.sleep(1.0)
    plane.clear_namespace(fresh)
    return []
