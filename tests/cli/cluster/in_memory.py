"""Runs commands that talk to a cluster in this process, against a cluster in memory."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest import mock

from click.shell_completion import ShellComplete

from applier.cluster import Resource
from applier.events import Sink
from applier.ref import Kind, Manifest, Ref
from applier.testing.memory import MemoryCluster
from grove_cli.cluster import session as sessions
from grove_cli.cluster.session import Session
from grove_cli.cluster.target import ClusterFlags
from grove_cli.commands import grove

from ...applier.free_schemas import FreeSchemas
from ..running import ROOT, Ended, run

__all__ = ["MINIMAL", "Bench", "Ended", "config_map", "deployment"]

MINIMAL = str(ROOT / "examples" / "minimal.yaml")
OURS = [
    Resource(Kind("grove.io", "v1alpha1", "PodCliqueSet"), "podcliquesets", True),
    Resource(Kind("grove.io", "v1alpha1", "PodClique"), "podcliques", True),
    Resource(Kind("grove.io", "v1alpha1", "PodCliqueScalingGroup"), "podcliquescalinggroups", True),
    Resource(Kind("scheduler.grove.io", "v1alpha1", "PodGang"), "podgangs", True),
]


class Bench:
    """A cluster in memory, a folder for manifests, and the program."""

    def __init__(self, folder: Path, cluster: MemoryCluster | None = None) -> None:
        self.folder = folder
        self.cluster = cluster or MemoryCluster(namespaces=("default", "shop"), schemas=FreeSchemas())

    def define_ours(self) -> None:
        """Serves our kinds."""
        for resource in OURS:
            self.cluster.serve(resource)

    def run(self, *arguments: str, stdin: bytes = b"") -> Ended:
        """A command line, with this cluster behind it."""
        with self.connected():
            return run(*arguments, stdin=stdin)

    def completed(self, *words: str) -> list[str]:
        """What a shell offers for the last of these words."""
        with self.connected():
            return [item.value for item in ShellComplete(grove, {}, "grove", "").get_completions(list(words[:-1]), words[-1])]

    @contextmanager
    def connected(self) -> Iterator[None]:
        """Connects what runs meanwhile to this cluster."""

        @asynccontextmanager
        async def open_session(target: ClusterFlags, sink: Sink) -> AsyncIterator[Session]:
            yield Session(self.cluster, target.namespace or "default", _version, lambda: nullcontext(self.cluster))

        with mock.patch.object(sessions, "open_session", open_session):
            yield

    def file(self, *manifests: Manifest, name: str = "all.json") -> str:
        """The path of a file with these manifests."""
        path = self.folder / name
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(manifests)}))
        return str(path)

    def writes(self) -> list[str]:
        """What was written since it was last asked: `apply settings`."""
        found = [f"{request.verb} {request.name}" for request in self.cluster.log if request.writes]
        self.cluster.forget_requests()
        return found

    def find(self, kind: str, name: str, namespace: str = "shop", group: str = "") -> Manifest:
        """An object that is there."""
        found = self.cluster.find(Ref(group, kind, namespace, name))
        assert found is not None, f"there is no {kind} {name}"
        return found


async def _version() -> str:
    return "1.35"


def config_map(name: str, namespace: str = "shop", **data: str) -> Manifest:
    metadata: dict[str, Any] = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def deployment(name: str, replicas: int | None = 1, image: str = "registry.example/app:1") -> Manifest:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": image}]}}
    spec = {"selector": {"matchLabels": labels}, "template": template} | ({} if replicas is None else {"replicas": replicas})
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "shop"}, "spec": spec}
