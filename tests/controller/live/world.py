"""One namespace of a real cluster, what people do in it, and what can be seen."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

from applier.cluster import Cluster
from applier.errors import ApplierError
from applier.loop import Result
from applier.ref import Kind, Manifest
from applier.testing.control_plane import ControlPlane
from grove_compiler.source.document import Document
from grove_compiler.step import Key, StepContext
from grove_operator.controller.operator import Operator, OperatorOptions, served_shape, settings_of
from tests.features.compiling import shipped_program
from tests.permitted import permitted

from .resource_versions import as_served, kube_version

KINDS = {
    "pods": Kind("", "v1", "Pod"),
    "services": Kind("", "v1", "Service"),
    "events": Kind("", "v1", "Event"),
    "sets": Kind("grove.io", "v1alpha1", "PodCliqueSet"),
    "cliques": Kind("grove.io", "v1alpha1", "PodClique"),
    "groups": Kind("grove.io", "v1alpha1", "PodCliqueScalingGroup"),
    "gangs": Kind("scheduler.grove.io", "v1alpha1", "PodGang"),
}
CONFIGURATION = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration"}
AGENT = "grove-operator-tests"
PEOPLE = "people"
"""The user agents of operators and of whoever looks at what they do."""
PATIENCE = 120.0
"""Seconds. On an idle machine nothing here takes longer than two; on one that is busy with all else, a minute has been seen."""
QUIET = 2.0
"""Seconds without a look at anything, after which an operator has done what there is to do: it waits for one with bad news."""


class LiveCluster:
    """What a test sees of the cluster, and does to it. `results` are what came of each look at a key.

    `operators` is the cluster as operators see it, with their rights; without it they are allowed what the test is.
    """

    def __init__(self, plane: ControlPlane, cluster: Cluster, namespace: str, operators: Cluster | None = None) -> None:
        self.plane, self.cluster, self.namespace = plane, cluster, namespace
        self.operators = operators or cluster
        self.results: list[Result[Key]] = []
        self.operator: Operator | None = None
        self._task: asyncio.Task[None] | None = None

    async def start(self, *, everywhere: bool = False, config: Manifest | None = None, mnnvl_shape: str | None = None) -> None:
        """Starts an operator, as a new process would: it remembers nothing. It looks after this namespace, or after all of them.

        `config` are fields of its OperatorConfiguration. Without a shape ComputeDomains have that which the server asks for.
        """
        document = Document({**CONFIGURATION, **config}) if config else None
        context = StepContext(shipped_program(), settings_of(kube_version(), mnnvl_shape or await served_shape(self.cluster)), document)
        options = OperatorOptions(namespace="" if everywhere else self.namespace, on_result=self.results.append)
        self.operator = Operator(self.operators, context, time.time, options)
        self._task = asyncio.create_task(self.operator.run())

    async def stop(self) -> None:
        """Ends it in good order."""
        if self.operator and self._task:
            self.operator.stop(5.0)
            await asyncio.gather(self._task, return_exceptions=True)

    async def kill(self) -> None:
        """Ends it in the middle of whatever it does."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def kubectl(self, *arguments: str, input: Any = None) -> str:
        """What a person does."""
        text = None if input is None else json.dumps(input)
        done = await asyncio.to_thread(self.plane.kubectl, "-n", self.namespace, *arguments, input=text)
        return done.stdout

    async def attempt(self, *arguments: str, input: Any = None) -> str:
        """What a person tries, while others may be quicker; gives nothing where it fails."""
        text = None if input is None else json.dumps(input)
        done = await asyncio.to_thread(self.plane.kubectl, "-n", self.namespace, *arguments, input=text, check=False)
        return "" if done.returncode else done.stdout

    async def apply(self, manifest: Manifest) -> None:
        await asyncio.to_thread(self.plane.objects.apply, [as_served(manifest)], self.namespace)

    async def until_a_pod(self, says: str, **box: Any) -> None:
        """Returns once admission would answer so if somebody created a pod here, as it will soon after somebody gave it a reason to."""
        spec = {"containers": [permitted({"name": "box", "image": "registry.example/app:1", **box})]}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "probe"}, "spec": spec}
        await asyncio.to_thread(self.plane.await_answer, f"/api/v1/namespaces/{self.namespace}/pods", pod, says)

    async def get(self, *arguments: str) -> Any:
        """An object of this namespace, a list, or nothing: what kubectl would print of it."""
        return await asyncio.to_thread(self.plane.objects.get, "-n", self.namespace, *arguments)

    async def objects(self, what: str) -> list[Manifest]:
        resource = await self.cluster.resource(KINDS[what])
        return (await self.cluster.list(resource, self.namespace)).items

    async def names(self, what: str) -> list[str]:
        return sorted(one["metadata"]["name"] for one in await self.objects(what))

    async def hostnames(self, when: Callable[[Manifest], bool] = lambda _: True) -> list[str]:
        """The hostnames of the pods, which unlike their names are the same each time."""
        pods = [pod for pod in await self.objects("pods") if not pod["metadata"].get("deletionTimestamp")]
        return sorted(pod["spec"]["hostname"] for pod in pods if when(pod))

    async def until_ready(self, *hostnames: str) -> None:
        """Returns once exactly these pods are there and ready."""
        await self.until(lambda: self.hostnames(is_ready), sorted(hostnames))
        await self.until(self.hostnames, sorted(hostnames))

    async def until(self, look: Callable[[], Any], wanted: Any) -> None:
        """Returns once a look shows what is wanted; fails with what it shows instead."""
        deadline, pause = time.monotonic() + PATIENCE, 0.05
        while (seen := await self._seen(look)) != wanted:
            if time.monotonic() > deadline:
                raise AssertionError(f"wanted {wanted!r}, and there is still {seen!r}; {self.troubles()}; {await self._seen(self._state)}")
            await asyncio.sleep(pause)
            pause = min(pause * 1.2, 0.4)  # what takes long need not be asked for all the time

    async def _state(self) -> dict[str, Any]:
        """What there is when a test fails, since it is gone when somebody reads of that."""
        sets = {one["metadata"]["name"]: one.get("status", {}) for one in await self.objects("sets")}
        return {"sets": sets, "pods": {pod["spec"].get("hostname"): pod.get("status", {}) for pod in await self.objects("pods")}}

    @staticmethod
    async def _seen(look: Callable[[], Any]) -> Any:
        """What a look shows, or why it shows nothing: a server that has only just started does not serve its own kinds yet."""
        try:
            return await look()
        except ApplierError as error:
            return error

    async def at_rest(self) -> None:
        """Returns once the operator has nothing more to do: each set reports its latest generation, and no key is looked at for a while."""
        await self.until(self._behind, [])
        clock = asyncio.get_running_loop().time
        looks, since = -1, clock()
        while clock() - since < QUIET:
            if looks != len(self.results) or not self._is_idle():
                looks, since = len(self.results), clock()
            await asyncio.sleep(0.05)

    async def _behind(self) -> list[str]:
        sets = await self.objects("sets")
        return [one["metadata"]["name"] for one in sets if one.get("status", {}).get("observedGeneration") != one["metadata"]["generation"]]

    def _is_idle(self) -> bool:
        queue = self.operator.loop.queue if self.operator else None
        return queue is None or not (queue.depth() or queue.active())

    def troubles(self) -> list[str]:
        """Why keys were not brought to where they should be, as far as is known."""
        last = {result.key: result for result in self.results}
        told = {key: result.held or [one.reason for one in result.outcomes] for key, result in last.items()}
        return [f"{key}: {reason}" for key, reason in told.items() if reason]


async def team(world: LiveCluster) -> str | None:
    """The label of that name of the base gang, by which one sees that an edit of the set has been followed."""
    gang = await world.get("podgang", "chat-0")
    return gang and gang["metadata"]["labels"].get("team")  # type: ignore[no-any-return]


def is_ready(pod: Manifest) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or []
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def clique(name: str, replicas: int = 1, **spec: Any) -> dict[str, Any]:
    """A clique of pods that ask for little, go quickly, and are taken where admission is strict."""
    box = permitted({"name": "box", "image": "registry.example/app:1"})
    pod_spec = {"containers": [box], "terminationGracePeriodSeconds": 0}
    return {"name": name, "spec": {"roleName": name, "replicas": replicas, "podSpec": pod_spec, **spec}}


def pod_clique_set(*cliques: dict[str, Any], replicas: int = 1, name: str = "chat", **template: Any) -> Manifest:
    spec = {"replicas": replicas, "template": {"cliques": list(cliques), **template}}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": {"name": name}, "spec": spec}


SERVING = pod_clique_set(
    clique("front", 2, minAvailable=1),
    clique("lead"),
    clique("work", 2),
    podCliqueScalingGroups=[{"name": "model", "cliqueNames": ["lead", "work"], "replicas": 2, "minAvailable": 1}],
)
"""A router and two replicas of a model, of which the second is a gang of its own."""

FRONT = ("chat-0-front-0", "chat-0-front-1")
BASE = ("chat-0-model-0-lead-0", "chat-0-model-0-work-0", "chat-0-model-0-work-1")
SCALED = ("chat-0-model-1-lead-0", "chat-0-model-1-work-0", "chat-0-model-1-work-1")
