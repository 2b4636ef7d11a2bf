"""`grove version`: this program, the operator in a cluster, and whether the definitions there are ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from applier.cluster import Listing, Resource
from applier.errors import Forbidden
from applier.ref import Kind, Manifest
from applier.testing.memory import MemoryCluster
from grove_compiler.api.crd import crds
from grove_compiler.version import __version__

from ...applier.free_schemas import FreeSchemas
from ..running import run
from ..test_start import modules_after
from .in_memory import OURS, Bench, Ended

CLIENT = f"Client Version: v{__version__}\n"
LABELS = {"app.kubernetes.io/name": "grove-operator"}


def operator(image: str, **labels: str) -> Manifest:
    template = {"spec": {"containers": [{"name": "operator", "image": image}]}}
    metadata = {"name": "grove-operator", "namespace": "default", "labels": LABELS | labels}
    spec = {"replicas": 2, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec, "status": {"readyReplicas": 1}}


def lease(holder: str) -> Manifest:
    metadata = {"name": "grove-operator-leader-election", "namespace": "default"}
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": {"holderIdentity": holder}}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def lines(bench: Bench, *words: str) -> list[str]:
    ended = bench.run("version", *words)
    assert (ended.code, ended.err) == (0, "")
    return ended.out.splitlines()


def test_the_client_needs_no_cluster() -> None:
    assert run("version", "--client") == Ended(0, CLIENT, "")


@pytest.mark.parametrize(("output", "read"), [("json", json.loads), ("yaml", yaml.safe_load)])
def test_programs_get_the_client(output: str, read: Any) -> None:
    assert read(run("version", "--client", "-o", output).out) == {"clientVersion": {"version": f"v{__version__}"}}


def test_the_client_alone_imports_nothing_of_clusters(tmp_path: Path) -> None:
    code, modules = modules_after(tmp_path, "version", "--client")
    assert (code, "grove_cli.version.command" in modules) == (0, True)
    assert not modules & {"asyncio", "json", "jinja2", "pydantic", "applier.transport", "grove_cli.version.versions"}


def test_without_a_cluster_the_client_is_still_told(tmp_path: Path) -> None:
    (tmp_path / "config").write_text(
        "{clusters: [{name: a, cluster: {server: 'http://127.0.0.1:9'}}], contexts: [{name: a, context: {cluster: a}}], current-context: a}"
    )
    ended = run("version", "--kubeconfig", str(tmp_path / "config"))
    assert (ended.code, ended.out) == (1, CLIENT)
    assert ended.err.startswith("grove: cannot reach http://127.0.0.1:9") and ended.err.count("\n") == 1


def test_an_empty_cluster_has_neither_operator_nor_definitions(bench: Bench) -> None:
    assert lines(bench)[1:] == [
        "Operator Version: not found",
        "Definitions: not found; install them: grove crds | kubectl apply --server-side -f -",
        "Kubernetes Version: v1.35",
    ]


def test_an_operator_that_runs_elsewhere_shows_by_what_it_reports(bench: Bench) -> None:
    bench.define_ours()
    metadata = {"name": "chat", "namespace": "default"}
    bench.cluster.seed(
        {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": metadata, "status": {"observedGeneration": 1}}
    )
    told = "not found in the cluster; one that runs elsewhere, or did, has reported the status of PodCliqueSet default/chat"
    assert lines(bench)[1] == f"Operator Version: {told}"


OPERATORS = {
    "by its label": (
        operator("x/grove@sha256:ab", **{"app.kubernetes.io/version": "0.3.0"}),
        "v0.3.0 (deployment default/grove-operator, 1/2",
    ),
    "by its tag": (
        operator("reg.example:5000/x/grove:v0.2.1"),
        "v0.2.1 (deployment default/grove-operator, 1/2 ready, image reg.example:5000/",
    ),
    "unknown": (
        operator("reg.example:5000/x/grove@sha256:ab"),
        "unknown (deployment default/grove-operator, 1/2 ready, image reg.example:5000/",
    ),
    "by the lease alone": (lease("laptop_1"), "unknown; laptop_1 holds the lease in the namespace default"),
}


@pytest.mark.parametrize(("object", "told"), OPERATORS.values(), ids=OPERATORS)
def test_the_operator_is_found(object: Manifest, told: str, bench: Bench) -> None:
    bench.cluster.seed(object)
    assert lines(bench)[1].startswith(f"Operator Version: {told}")


def test_definitions_of_this_program_are_told_in_a_line(bench: Bench) -> None:
    bench.cluster.seed(*crds())
    assert lines(bench)[2] == f"Definitions: {len(crds())}, the same as this program's (v1alpha1)"


def changed(*path: Any, value: Any) -> Manifest:
    """The definition of sets, with another value somewhere."""
    found = crds()[0]
    at: Any = found
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return found


VERSION = ("spec", "versions", 0)
SCHEMA = (*VERSION, "schema", "openAPIV3Schema", "properties", "spec", "properties")
SCALE = {key: value for key, value in crds()[0]["spec"]["versions"][0]["subresources"].items() if key != "status"}
OTHERS = {
    "another schema": (
        changed(*SCHEMA, "replicas", "type", value="string"),
        "differs at schema.openAPIV3Schema.properties.spec.properties.replicas",
    ),
    "a field more": (
        changed(*SCHEMA, "later", value={"type": "string"}),
        "differs at schema.openAPIV3Schema.properties.spec.properties.later",
    ),
    "statuses written with the rest": (changed(*VERSION, "subresources", value=SCALE), "differs at subresources.status"),
    "another version": (changed(*VERSION, "name", value="v1"), "serves v1, not v1alpha1"),
    "not served": (changed(*VERSION, "served", value=False), "podcliquesets.grove.io: not found"),
}


@pytest.mark.parametrize(("definition", "told"), OTHERS.values(), ids=OTHERS)
def test_a_definition_that_is_not_ours_is_named(definition: Manifest, told: str, bench: Bench) -> None:
    ours = crds()
    bench.cluster.seed(definition, *ours[1:])
    _, _, count, line, _ = lines(bench)
    assert count == f"Definitions: {len(ours) - 1} of {len(ours)} the same as this program's"
    assert told in line
    value = json.loads(bench.run("version", "-o", "json").out)
    assert [one["matches"] for one in value["definitions"]] == [False, *[True] * (len(ours) - 1)]


class Guarded(MemoryCluster):
    """A cluster in which only our own kinds may be read."""

    async def get(self, resource: Resource, namespace: str, name: str) -> Manifest:
        raise Forbidden(403, "Forbidden", "may not get")

    async def list(self, resource: Resource, namespace: str = "", *, labels: str = "", fields: str = "") -> Listing:
        raise Forbidden(403, "Forbidden", "may not list")


def test_who_may_read_little_is_told_what_is_served(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Guarded(schemas=FreeSchemas()))
    for crd in crds():
        spec = crd["spec"]
        kind = Kind(spec["group"], spec["versions"][0]["name"], spec["names"]["kind"])
        bench.cluster.serve(Resource(kind, spec["names"]["plural"], True))
    told = lines(bench)
    assert told[1] == "Operator Version: unknown: no permission to list Deployments and Leases"
    assert told[2].startswith("Definitions: 6 served (v1alpha1); whether they are ours is unknown")


def test_a_kind_that_is_not_served_is_told_without_definitions_as_well(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Guarded(schemas=FreeSchemas()))
    bench.cluster.serve(OURS[0])
    told = lines(bench)
    assert told[3] == "  podcliquesets.grove.io: serves v1alpha1; the rest is unknown: no permission to read definitions"
    assert told[4].endswith(": not found")
