"""Brings a set on a real server into a situation that a case describes, step by step, as people, nodes and schedulers would."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from applier.ref import Manifest
from tests.controller.live.world import LiveCluster, clique, is_ready, pod_clique_set
from tests.permitted import permitted
from tests.status.world import merged

Case = dict[str, Any]
NODE = "why"
"""A node of which nobody but the cases says what its pods do."""
LEFT_ALONE = {"kwok.x-k8s.io/status": "custom"}
"""The annotation of nodes and pods whose status is not kwok's."""
PLAYED = {"nodeSelector": {"kubernetes.io/hostname": NODE}, "tolerations": [{"operator": "Exists"}]}


QUESTIONS = ("rule", "ask", "pending", "event", "file")
"""The fields of a case that say what is asked in a situation, and what is answered."""


def cases() -> Iterator[Case]:
    """Every case, with the name of its file."""
    for path in sorted((Path(__file__).parent / "cases").glob("*.yaml")):
        for case in yaml.safe_load(path.read_text()):
            yield {**case, "file": path.stem}


def asked_in_one(cases: Iterable[Case]) -> list[list[Case]]:
    """The cases by situation: those that ask of the same one are together."""
    found: dict[str, list[Case]] = {}
    for case in cases:
        situation = {field: value for field, value in case.items() if field not in QUESTIONS}
        found.setdefault(json.dumps(situation, sort_keys=True), []).append(case)
    return list(found.values())


def is_alone(case: Case) -> bool:
    """Whether a case needs an operator of its own: with another configuration, or one that goes and comes."""
    return "config" in case or any("operator" in step for step in case.get("then", []))


def called(case: Case, name: str) -> Case:
    """The case of a set of another name than `chat`."""
    renamed: Case = json.loads(re.sub(r"\bchat\b", name, json.dumps(case)))
    return {**renamed, "name": name}


def the_set(case: Case) -> Manifest:
    """The set that a case declares in short: it is called `chat`, or as the case is `called`."""
    groups = [{"name": name, "cliqueNames": one.pop("cliques"), **one} for name, one in _copied(case.get("groups", {})).items()]
    template = {**({"podCliqueScalingGroups": groups} if groups else {}), **case.get("template", {})}
    cliques = [_clique(name, one) for name, one in _copied(case["cliques"]).items()]
    made = pod_clique_set(*cliques, replicas=case.get("replicas", 1), name=case.get("name", "chat"), **template)
    return merged(made, {"spec": case.get("spec", {})})


def _clique(name: str, given: Manifest) -> Manifest:
    """A clique; `pod` has fields of its pods, `box` of their container. Pods that are `played` go to the node that is left to the cases."""
    is_played = given.pop("played", False)
    pod = {**(PLAYED if is_played else {}), **given.pop("pod", {})}
    box, sharing, labels = given.pop("box", {}), given.pop("sharing", []), given.pop("labels", {})
    made = clique(name, **given)
    if checks := pod.get("initContainers"):
        pod["initContainers"] = [permitted(one) for one in checks]
    made["spec"]["podSpec"] |= pod
    containers = made["spec"]["podSpec"]["containers"]
    containers[0] = merged(containers[0], box)
    if is_played:
        made["annotations"] = LEFT_ALONE
    return {**made, **({"resourceSharing": sharing} if sharing else {}), **({"labels": labels} if labels else {})}


def _copied(value: Any) -> Any:
    return json.loads(json.dumps(value))


class Situation:
    """What happens to the set of a case. Objects are called `Kind/name`, pods by their hostnames."""

    def __init__(self, world: LiveCluster) -> None:
        self._world = world
        self._acts: dict[str, Callable[[Any], Awaitable[None]]] = {
            "wait": self._wait,
            "merge": self._merge,
            "status": self._status,
            "json": self._json,
            "delete": self._delete,
            "replace": self._replace,
            "bind": self._bind,
            "operator": self._operator,
        }

    async def bring_about(self, case: Case) -> None:
        """Makes the set, and does one thing after the other."""
        if "before" in case:
            await self._world.apply(case["before"])
        await self._world.apply(the_set(case))
        for step in case.get("then", []):
            [(act, what)] = step.items()
            await self._acts[act](what)

    async def real(self, place: str) -> str:
        """What `grove why` and kubectl call an object. Waits for pods to be there."""
        kind, _, name = place.partition("/")
        return f"{kind}/{await self._pod_name(name) if kind == 'Pod' else name}"

    async def _pod_name(self, hostname: str) -> str:
        await self._until(lambda: self._pod(hostname))
        pod = await self._pod(hostname)
        assert pod is not None
        return str(pod["metadata"]["name"])

    async def _pod(self, hostname: str) -> Manifest | None:
        return next((pod for pod in await self._world.objects("pods") if pod["spec"]["hostname"] == hostname), None)

    async def _until(self, look: Callable[[], Awaitable[Any]]) -> None:
        async def is_so() -> bool:
            return bool(await look())

        await self._world.until(is_so, True)

    async def _wait(self, wanted: dict[str, str]) -> None:
        for name, state in wanted.items():
            await self._until(partial(self._is, name, state))

    async def _is(self, name: str, state: str) -> bool:
        """Whether a pod is in a state, or a PodClique of a training workload has started."""
        if state == "started":
            cliques = await self._world.objects("cliques")
            return any(one["metadata"]["name"] == name and "startTime" in one.get("status", {}) for one in cliques)
        pod = await self._pod(name)
        if pod is None:
            return False
        gated, placed = bool(pod["spec"].get("schedulingGates")), "nodeName" in pod["spec"]
        named = json.dumps(pod["metadata"]["name"]) in json.dumps(await self._world.objects("gangs"))
        states = {"there": True, "gated": gated, "named": gated and named, "placed": placed, "unplaced": not gated and not placed}
        return {**states, "ready": is_ready(pod)}[state]

    async def _merge(self, changes: dict[str, Manifest]) -> None:
        await self._patch(changes, "--type=merge")

    async def _status(self, changes: dict[str, Manifest]) -> None:
        await self._patch({place: {"status": status} for place, status in changes.items()}, "--type=merge", "--subresource=status")

    async def _json(self, changes: dict[str, list[Manifest]]) -> None:
        await self._patch(changes, "--type=json")

    async def _patch(self, changes: dict[str, Any], *options: str) -> None:
        for place, change in changes.items():
            await self._world.kubectl("patch", await self.real(place), *options, "-p", json.dumps(change))

    async def _delete(self, place: str) -> None:
        await self._world.kubectl("delete", await self.real(place), "--wait=false")

    async def _replace(self, changes: dict[str, Manifest]) -> None:
        """Makes an object anew that is a little different, as where a webhook has had its way with it."""
        for place, change in changes.items():
            live = json.loads(await self._world.kubectl("get", await self.real(place), "-o", "json"))
            await self._delete(place)
            kept = {key: value for key, value in live["metadata"].items() if key in ("name", "labels", "annotations", "ownerReferences")}
            await self._world.kubectl("create", "-f", "-", input=merged({**live, "metadata": kept}, change))

    async def _bind(self, nodes: dict[str, str]) -> None:
        """Does a scheduler's work."""
        for hostname, node in nodes.items():
            name, namespace = await self._pod_name(hostname), self._world.namespace
            binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": {"kind": "Node", "name": node}}
            await self._world.kubectl("create", "--raw", f"/api/v1/namespaces/{namespace}/pods/{name}/binding", "-f", "-", input=binding)

    async def _operator(self, where: str) -> None:
        await (self._world.kill() if where == "away" else self._world.start())
