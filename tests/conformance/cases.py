"""The cases that the shipped operator made, and our compilation of their inputs."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from grove_compiler import compile as compiler
from grove_compiler.engine.runtime.program import Program
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.source.document import Document
from grove_compiler.source.reader import read_bytes

from .server_defaults import Manifest

FOLDER = Path(os.environ.get("GROVE_CONFORMANCE") or Path(__file__).parents[2] / "../shared/conformance")
KUBE_VERSION = "1.35"

# The configuration of the operator that made the cases, as their README tells it.
CONFIGURATION: Manifest = {
    "apiVersion": "operator.config.grove.io/v1alpha1",
    "kind": "OperatorConfiguration",
    "topologyAwareScheduling": {"enabled": True},
    "network": {"autoMNNVLEnabled": True},
    "scheduler": {"profiles": [{"name": "default-scheduler"}, {"name": "kai-scheduler"}]},
}


@dataclass
class Case:
    """One input and what came of it: objects as stored, or the reason why it was rejected."""

    name: str
    namespace: str
    input: list[Manifest]
    objects: list[Manifest]
    rejected: str

    @property
    def set(self) -> Manifest:
        return next(manifest for manifest in self.input if manifest["kind"] == "PodCliqueSet")

    def stored(self, kind: str) -> list[Manifest]:
        """The objects of one kind."""
        return [manifest for manifest in self.objects if manifest["kind"] == kind]

    def compile(self, program: Program, snapshot: list[Manifest] | None = None) -> compiler.CompileResult:
        """Our result for the input, Pods included, in the namespace that the case was applied to."""
        documents = [Document(_in_namespace(manifest, self.namespace), self.name) for manifest in self.input] + topologies()
        settings = Settings(namespace=self.namespace, pods=True, kube_version=KUBE_VERSION)
        return compiler.compile(compiler.Inputs(documents, snapshot or [], config=Document(CONFIGURATION), settings=settings), program)


@cache
def topologies() -> list[Document]:
    """The topologies that the cluster had."""
    documents, _ = read_bytes((FOLDER / "topologies.yaml").read_bytes(), "topologies.yaml")
    return documents


@cache  # several files of tests read all of them
def read_cases() -> list[Case]:
    """All cases in order of their names; none when the folder is not there."""
    return [_case(json.loads(path.read_text()), path.stem) for path in sorted((FOLDER / "cases").glob("*.json"))]


def _case(data: dict[str, Any], name: str) -> Case:
    return Case(name, data["namespace"], data["input"], data.get("objects", []), data.get("rejected", ""))


def _in_namespace(manifest: Manifest, namespace: str) -> Manifest:
    return {**manifest, "metadata": {**manifest["metadata"], "namespace": namespace}}
