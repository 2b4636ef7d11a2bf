"""What lint and a real API server say about the same template.

The server is asked about everything that becomes of it, and about the PodCliqueSet that holds it, for a set is what people write, and its
CRD says no where the API of a part is silent (a required text that is absent is an empty one to Go).
"""

from __future__ import annotations

import http.client
import json
import ssl
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from applier.testing.control_plane import ControlPlane
from grove_compiler.api.crd import crds
from grove_compiler.compile import Inputs, lint
from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.node import Manifest
from grove_compiler.source.document import Document
from tests.validation.server_check.subjects import ANY, Subject, a_set


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
        while self._refused(a_set()):
            time.sleep(0.1)  # definitions are served some time after they are stored

    def judge(self, subject: Subject, value: Any) -> Verdict:
        """Returns what both say about a template."""
        manifest = subject.set_with(value)
        said = self._lint(subject, manifest)
        answers = (self._refused(one) for one in [*([] if subject.stricter and said else subject.objects(value)), manifest])
        return Verdict(said, next(filter(None, answers), ""))

    def _lint(self, subject: Subject, manifest: Manifest) -> str:
        found = lint(Inputs([Document(manifest)]), self._program)
        # A field of ours that does not exist is an error to lint, and a warning to a server that is not asked to be strict.
        known = [one for one in found if one.severity == "error" and one.code != "schema/unknown-field"]
        errors = [one for one in known if {ANY, one.code.partition("/")[0]} & {*subject.topics}]
        return "; ".join(f"{finding.code} {finding.path}: {finding.message}" for finding in errors[:2])

    def _refused(self, manifest: Manifest) -> str:
        version, kind = manifest.get("apiVersion") or "", manifest.get("kind") or ""
        root = f"/apis/{version}" if "/" in str(version) else f"/api/{version}"
        answer = self._post(f"{root}/namespaces/default/{str(kind).lower()}s?dryRun=All", manifest)
        return f"{kind}: {answer}" if answer else ""

    def _post(self, path: str, manifest: Manifest) -> str:
        """Returns why the server refuses; empty where it does not."""
        self._connection.request("POST", quote(path, safe="/?="), json.dumps(manifest), self._headers)
        response = self._connection.getresponse()
        text = response.read()
        if response.status < 300:
            return ""
        is_json = response.headers.get_content_type() == "application/json"  # a path that is not served yet answers in plain text
        return str(json.loads(text)["message"]) if is_json else text.decode()
