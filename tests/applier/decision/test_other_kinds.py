"""What a server stores of any kind stays as it is when it is applied again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from applier.decision import Verdict, decide, read_openapi
from applier.ref import Kind, Manifest
from applier.testing.control_plane import ControlPlane

from .oracle import Server

_FILE = Path(__file__).with_name("other-kinds.yaml")


def _manifests(name: str) -> list[Manifest]:
    found: list[Manifest] = yaml.safe_load(_FILE.read_text("utf-8").replace("${NAME}", name))
    for number, manifest in enumerate(found):
        manifest.setdefault("metadata", {}).setdefault("name", f"{name}-{number}")
    return found


def _group_version(manifest: Manifest) -> str:
    version: str = manifest["apiVersion"]
    return ("/apis/" if "/" in version else "/api/") + version


def _collection(server: Server, manifest: Manifest, namespace: str) -> str:
    start = _group_version(manifest)
    resources = server.ask("GET", start).body["resources"]
    served: dict[str, Any] = next(one for one in resources if one["kind"] == manifest["kind"] and "/" not in one["name"])
    return start + (f"/namespaces/{namespace}" if served["namespaced"] else "") + f"/{served['name']}"


@pytest.mark.cluster
@pytest.mark.parametrize("number", range(len(_manifests("a"))), ids=[manifest["kind"] for manifest in _manifests("a")])
def test_applying_it_again_changes_nothing(control_plane: ControlPlane, namespace: str, number: int) -> None:
    server, manifest = Server(control_plane), _manifests(namespace)[number]
    path = _collection(server, manifest, namespace) + "/" + manifest["metadata"]["name"]
    applied = server.apply(path, manifest, "us")
    assert applied.status == 201, applied.body.get("message")
    schema = read_openapi(server.ask("GET", "/openapi/v3" + _group_version(manifest)).body)
    try:
        decision = decide(manifest, server.ask("GET", path).body, schema.get(Kind.of(manifest)), manager="us")
        assert (decision.verdict, decision.why) == (Verdict.SAME, "")
    finally:
        server.ask("DELETE", path)
