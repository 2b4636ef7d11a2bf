"""A namespace of a real API server, for tests that apply to it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from applier import ApplyOptions, Report, apply
from applier.desired import DEFAULT_POLICY, Desired, Graph, Policy
from applier.execute.options import Timeouts
from applier.ref import Manifest, Ref
from applier.testing.control_plane import ControlPlane
from applier.transport import ApiCluster, connect
from tests.compiled_schemas import share

from ..things import manifest
from .lab import said


class Shop:
    """A namespace of a real server, and runs in it."""

    def __init__(self, cluster: ApiCluster, plane: ControlPlane, namespace: str) -> None:
        self.cluster, self.plane, self.namespace = cluster, plane, namespace
        self.report = Report([])

    def desired(self, name: str, kind: str = "ConfigMap", *, policy: Policy = DEFAULT_POLICY, owner: str = "", **fields: Any) -> Desired:
        """A desired object; `owner` is a config map."""
        made = manifest(name, kind, self.namespace, **fields)
        if owner:
            made["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": "ConfigMap", "name": owner}]
        return Desired(made, policy=policy, owner=Ref("", "ConfigMap", self.namespace, owner) if owner else None)

    async def apply(self, *objects: Desired, **options: Any) -> str:
        """What became of each object."""
        options.setdefault("timeouts", Timeouts(gone=1.0))
        self.report = await apply(Graph(objects), self.cluster, ApplyOptions("me", **options))
        return said(self.report.outcomes)

    def reason(self, number: int = 0) -> str:
        """Why."""
        return self.report.outcomes[number].reason

    def live(self, name: str, kind: str = "configmap") -> Manifest:
        """An object, with who owns its fields."""
        found: Manifest = json.loads(
            self.plane.kubectl("get", kind, name, "-n", self.namespace, "-o", "json", "--show-managed-fields").stdout
        )
        return found

    def kubectl(self, *arguments: str, given: Manifest | None = None) -> str:
        """Runs kubectl in the namespace."""
        return self.plane.kubectl(*arguments, "-n", self.namespace, input=json.dumps(given) if given else None).stdout


@asynccontextmanager
async def opened(control_plane: ControlPlane, namespace: str) -> AsyncIterator[Shop]:
    async with connect(kubeconfig=str(control_plane.kubeconfig)) as cluster:
        yield Shop(share(cluster, control_plane), control_plane, namespace)
