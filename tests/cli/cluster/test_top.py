"""`grove top`: what the pods of a set ask for and use, by gang and by domain."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from applier.cluster import Listing, Resource
from applier.errors import Forbidden
from applier.ref import Kind, Manifest
from applier.testing.memory import MemoryCluster
from grove_cli.top.as_text import cores, memory
from tests.suite.rows import rows

from ...applier.free_schemas import FreeSchemas
from .in_memory import Bench

GROVE, RACK = "grove.io/v1alpha1", "example.com/rack"
DOMAIN = Resource(Kind("resource.nvidia.com", "v1beta1", "ComputeDomain"), "computedomains", True)
METRICS = Resource(Kind("metrics.k8s.io", "v1beta1", "PodMetrics"), "pods", True)
PART = {"app.kubernetes.io/part-of": "qwen"}


def made(kind: str, name: str, api: str = "v1", labels: dict[str, str] | None = None, **rest: Any) -> Manifest:
    namespace = {} if kind == "Node" else {"namespace": "shop"}
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, "labels": labels or {}, **namespace}, **rest}


def gang(name: str, **spec: Any) -> Manifest:
    group = {"name": f"{name}-worker", "minReplicas": 2, "podReferences": []}
    return made("PodGang", name, "scheduler.grove.io/v1alpha1", PART, spec={"podgroups": [group], **spec})


def pod(name: str, of: str, node: str = "", phase: str = "Running", **spec: Any) -> Manifest:
    resources = {"requests": {"cpu": "500m", "memory": "64Gi"}, "limits": {"nvidia.com/gpu": 8}}
    place = {"nodeName": node} if node else {}
    status = {"phase": phase, "conditions": [{"type": "Ready", "status": "True" if node else "False"}]}
    labels = PART | {"grove.io/podgang": of, "grove.io/podclique": f"{of}-worker"}
    return made("Pod", name, labels=labels, spec={"containers": [{"name": "main", "resources": resources}], **place, **spec}, status=status)


def metrics(name: str, cpu: str, memory: str) -> Manifest:
    containers = [{"name": "main", "usage": {"cpu": cpu, "memory": memory}}]
    return made("PodMetrics", name, "metrics.k8s.io/v1beta1", PART, containers=containers)


CHANNEL: Manifest = {"resourceClaims": [{"name": "channel", "resourceClaimTemplateName": "qwen-1-channel"}]}
OBJECTS = [
    made("PodCliqueSet", "qwen", GROVE, spec={"replicas": 2}),
    gang("qwen-0", topologyConstraint={"packConstraint": {"required": RACK}}),
    gang("qwen-1"),
    pod("a", "qwen-0", "node-1"),
    pod("b", "qwen-0", "node-2"),
    pod("c", "qwen-0"),
    pod("d", "qwen-1", "node-2", **CHANNEL),
    pod("done", "qwen-1", "node-2", phase="Succeeded"),
    {
        **pod("other", "chat-0", "node-1"),
        "metadata": {"name": "other", "namespace": "shop", "labels": {"app.kubernetes.io/part-of": "chat"}},
    },
    made("Node", "node-1", labels={RACK: "r1"}),
    made("Node", "node-2"),
    made("ComputeDomain", "qwen-1", "resource.nvidia.com/v1beta1", spec={"channel": {"resourceClaimTemplate": {"name": "qwen-1-channel"}}}),
]


def bench_of(folder: Path, *more: Manifest, cluster: MemoryCluster | None = None) -> Bench:
    bench = Bench(folder, cluster)
    bench.define_ours()
    bench.cluster.serve(DOMAIN)
    if any(each["kind"] == "PodMetrics" for each in more):
        bench.cluster.serve(METRICS)
    bench.cluster.seed(*OBJECTS, *more)
    return bench


def tables(bench: Bench) -> list[list[list[str]]]:
    ended = bench.run("top", "qwen", "-n", "shop")
    assert (ended.code, ended.err) == (0, "")
    return [[line.split() for line in part.splitlines()] for part in ended.out.split("\n\n")]


def test_gangs_are_added_up_without_pods_that_have_ended(tmp_path: Path) -> None:
    gangs, _ = tables(bench_of(tmp_path))
    assert gangs == [
        ["GANG", "PODS", "READY", "NODES", "GPUS", "CPU", "MEMORY"],
        ["qwen-0", "3", "2", "2", "24", "1.5", "192Gi"],
        ["qwen-1", "1", "1", "1", "8", "500m", "64Gi"],
        ["TOTAL", "4", "3", "2", "32", "2", "256Gi"],
    ]


def test_domains_are_where_pods_are_and_what_connects_them(tmp_path: Path) -> None:
    _, domains = tables(bench_of(tmp_path))
    assert domains == [
        ["DOMAIN", "OF", "PODS", "READY", "NODES", "GPUS", "CPU", "MEMORY"],
        [f"{RACK}=<none>", "gang", "qwen-0", "1", "0", "0", "8", "500m", "64Gi"],
        [f"{RACK}=<unknown>", "gang", "qwen-0", "1", "1", "1", "8", "500m", "64Gi"],
        [f"{RACK}=r1", "gang", "qwen-0", "1", "1", "1", "8", "500m", "64Gi"],
        ["ComputeDomain", "qwen-1", "1", "1", "1", "8", "500m", "64Gi"],
    ]


def test_use_is_shown_where_it_is_measured(tmp_path: Path) -> None:
    gangs, _ = tables(bench_of(tmp_path, metrics("a", "1500m", "20Gi"), metrics("b", "250000001n", "700Mi"), metrics("other", "9", "9Gi")))
    assert [line[7:] for line in gangs] == [
        ["CPU", "USED", "MEMORY", "USED"],
        ["1.751", "20.68Gi"],
        ["<unknown>"] * 2,
        ["1.751", "20.68Gi"],
    ]


def test_programs_get_exact_numbers(tmp_path: Path) -> None:
    value = json.loads(bench_of(tmp_path, metrics("d", "1", "1Gi")).run("top", "qwen", "-n", "shop", "-o", "json").out)
    assert value["total"] == {
        "pods": 4, "ready": 3, "nodes": 2, "gpus": 32, "cpu": 2000, "memory": 256 * 2**30, "cpuUsed": 1000, "memoryUsed": 2**30,
    }  # fmt: skip
    assert [each["name"] for each in value["gangs"]] == ["qwen-0", "qwen-1"]
    assert [(each["type"], each.get("name")) for each in value["domains"]][-1] == ("ComputeDomain", "qwen-1")


def test_recorded_objects_tell_the_same(tmp_path: Path) -> None:
    bench = bench_of(tmp_path)
    file = bench.file(*OBJECTS)
    assert bench.run("top", "qwen", "-n", "shop", "--snapshot", file) == bench.run("top", "qwen", "-n", "shop")


class NoNodes(MemoryCluster):
    """A cluster whose nodes may not be read."""

    async def list(self, resource: Resource, namespace: str = "", *, labels: str = "", fields: str = "") -> Listing:
        if resource.kind.kind == "Node":
            raise Forbidden(403, "Forbidden", "may not list nodes")
        return await super().list(resource, namespace, labels=labels, fields=fields)


def test_what_may_not_be_read_is_told_beside_the_numbers(tmp_path: Path) -> None:
    cluster = NoNodes(namespaces=("default", "shop"), schemas=FreeSchemas())
    ended = bench_of(tmp_path, cluster=cluster).run("top", "qwen", "-n", "shop")
    assert (ended.code, ended.err) == (0, "grove: not read: Node: may not list nodes\n")
    assert f"{RACK}=<unknown>" in ended.out


def test_nodes_are_only_read_for_a_constraint(tmp_path: Path) -> None:
    bench = bench_of(tmp_path)
    bench.cluster.seed(gang("qwen-0"))
    bench.cluster.forget_requests()
    assert len(tables(bench)) == 2
    assert {"pods", "nodes"} & {request.resource.plural for request in bench.cluster.log} == {"pods"}


WRONG = {
    "nope": "grove: there is no PodCliqueSet 'nope' in the namespace shop\n",
    "pg/qwen-0": "grove: 'pg/qwen-0' is not a PodCliqueSet: expected its name\n",
    "pcs/": "grove: 'pcs/' is not an object: expected NAME or KIND/NAME\n",
}


@pytest.mark.parametrize(("name", "told"), WRONG.items(), ids=WRONG)
def test_what_is_no_set_is_an_error(name: str, told: str, tmp_path: Path) -> None:
    ended = bench_of(tmp_path).run("top", name, "-n", "shop")
    assert (ended.code, ended.out, ended.err) == (2, "", told)


@rows(("amount", "text"), {0: "0", 250: "250m", 1000: "1", 1500: "1.5", 12_345_678: "12345"}.items(), ids=str)
def test_cpu_is_told_in_cores(amount: int, text: str) -> None:
    assert cores(amount) == text


SIZES = {0: "0", 1: "1Mi", 700 * 2**20: "700Mi", 2**30: "1Gi", 20 * 2**30 + 2**29: "20.5Gi", 1536 * 2**30: "1.5Ti"}


@rows(("amount", "text"), SIZES.items(), ids=str)
def test_memory_is_told_in_a_unit_of_its_size(amount: int, text: str) -> None:
    assert memory(amount) == text
