"""Puts what the shipped operator stored into a cluster, as it was, but for UIDs, which a server gives anew."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from applier.testing.control_plane import ControlPlane
from applier.testing.errors import RequestRefused

Manifest = dict[str, Any]
FOLDER = Path(os.environ.get("GROVE_CONFORMANCE") or Path(__file__).parents[3] / "shared" / "conformance")
MANAGER = "grove-operator"
"""Under which the shipped operator writes: the name of its program."""
ORDER = ("PodCliqueSet", "PodCliqueScalingGroup", "PodClique", "PodGang", "ServiceAccount", "Role")
PLURALS = {"HorizontalPodAutoscaler": "horizontalpodautoscalers"}
BY_SERVER = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "selfLink", "generation")


def case(name: str) -> Manifest:
    """A recorded case."""
    made: Manifest = json.loads((FOLDER / "cases" / f"{name}.json").read_text("utf-8"))
    return made


def put(plane: ControlPlane, recorded: Manifest) -> None:
    """Creates the objects of a case in its namespace, owners first, each with its status."""
    plane.request("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": recorded["namespace"]}})
    uids: dict[str, str] = {}
    for one in sorted(recorded["objects"], key=_rank):
        if one["kind"] == "ServiceAccount" and one["metadata"]["name"] == "default":
            continue
        old = one["metadata"]["uid"]
        made = {**one, "metadata": {key: value for key, value in one["metadata"].items() if key not in BY_SERVER}}
        for owner in made["metadata"].get("ownerReferences") or ():
            owner["uid"] = uids.get(owner["uid"], owner["uid"])
        uids[old] = _create(plane, made)


def _rank(one: Manifest) -> int:
    return ORDER.index(one["kind"]) if one["kind"] in ORDER else len(ORDER)


def _create(plane: ControlPlane, manifest: Manifest) -> str:
    path = collection(manifest["apiVersion"], manifest["kind"], manifest["metadata"]["namespace"])
    status = manifest.pop("status", None)
    live = plane.request("POST", f"{path}?fieldManager={MANAGER}", manifest)
    if status:
        name = live["metadata"]["name"]
        body = {"apiVersion": live["apiVersion"], "kind": live["kind"], "metadata": {"name": name}, "status": status}
        try:
            patch = "application/merge-patch+json"
            plane.request("PATCH", f"{path}/{name}/status?fieldManager={MANAGER}", body, content_type=patch)
        except RequestRefused as refusal:
            if refusal.status != 404:  # a kind whose status is a field like any other
                raise
    return str(live["metadata"]["uid"])


def collection(api_version: str, kind: str, namespace: str) -> str:
    """The path of a kind's objects in a namespace."""
    start = "/api" if "/" not in api_version else "/apis"
    return f"{start}/{api_version}/namespaces/{namespace}/{PLURALS.get(kind, kind.lower() + 's')}"
