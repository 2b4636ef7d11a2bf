"""What lint and a real API server say about the same pod spec.

The server is asked twice: whether it takes the Pod, and whether it takes the PodCliqueSet that holds its template, for a set is what people
write, and its CRD says no where the Pod API is silent (a required text that is absent is an empty one to Go).
"""

from __future__ import annotations

import http.client
import json
import ssl
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from applier.testing.control_plane import ControlPlane
from grove_compiler.api.crd import crds
from grove_compiler.compile import Inputs, lint
from grove_compiler.engine.runtime.program import Program
from grove_compiler.source.document import Document

SETS = "/apis/grove.io/v1alpha1/namespaces/default/podcliquesets"
ANSWERS = {"pod", "schema"}
"""The topics of findings that stand for the Pod API; those of `validate` are Grove's own demands."""


@dataclass
class Verdict:
    """Why each of the two refuses; empty where it does not."""

    lint: str
    server: str

    @property
    def differs(self) -> bool:
        return bool(self.lint) != bool(self.server)


class Judge:
    """Asks both. The server is asked by a dry run, which stores nothing."""

    def __init__(self, plane: ControlPlane, program: Program) -> None:
        self._program = program
        address = urlsplit(plane.url)
        context = ssl.create_default_context(cafile=str(plane.certificate_authority))
        self._connection = http.client.HTTPSConnection(address.hostname or "", address.port, context=context)
        self._headers = {"Authorization": f"Bearer {plane.token}", "Content-Type": "application/json"}

        for definition in crds():
            self._post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
        while self._post(f"{SETS}?dryRun=All", _set({"containers": [{"name": "a", "image": "b"}]})):
            time.sleep(0.1)  # definitions are served some time after they are stored

    def judge(self, pod_spec: dict[str, Any]) -> Verdict:
        """Returns what both say about a pod spec."""
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "demo-0-worker"}, "spec": pod_spec}
        pod_refused = self._post("/api/v1/namespaces/default/pods?dryRun=All", pod)
        return Verdict(self._lint(pod_spec), pod_refused or self._post(f"{SETS}?dryRun=All", _set(pod_spec)))

    def _lint(self, pod_spec: dict[str, Any]) -> str:
        found = lint(Inputs([Document(_set(pod_spec))]), self._program)
        errors = [finding for finding in found if finding.severity == "error" and finding.code.partition("/")[0] in ANSWERS]
        return "; ".join(f"{finding.code} {finding.path.partition('podSpec.')[2]}: {finding.message}" for finding in errors[:2])

    def _post(self, path: str, manifest: dict[str, Any]) -> str:
        """Returns why the server refuses; empty where it does not."""
        self._connection.request("POST", path, json.dumps(manifest), self._headers)
        response = self._connection.getresponse()
        text = response.read()
        if response.status < 300:
            return ""
        is_json = response.headers.get_content_type() == "application/json"  # a path that is not served yet answers in plain text
        return str(json.loads(text)["message"]) if is_json else text.decode()


def _set(pod_spec: dict[str, Any]) -> dict[str, Any]:
    clique = {"name": "worker", "spec": {"roleName": "worker", "replicas": 1, "podSpec": pod_spec}}
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": "demo"},
        "spec": {"replicas": 1, "template": {"cliques": [clique]}},
    }
