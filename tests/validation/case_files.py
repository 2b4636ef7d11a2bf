"""Cases as data: `cases/<topic>/<case>.yaml`, a head and an input.

The first document is the head:

    expect:                                    every finding, in any order; empty for input that is accepted
      - rule: validate/clique-replicas
        path: spec.template.cliques[0].spec.replicas
        type: Invalid value                    left out for warnings that have none
        at: "replicas: -1"                     what stands in the line that the finding points to, and in no other
        says: must be greater than 0           optional: part of the message
        nearest: worker                        optional: the suggestion
        severity: warning                      error unless said otherwise
    was: {spec.replicas: 2}                    optional: an update; fields of the first document as they were before, null for absent
    snapshot: [{kind: PodClique, …}]           optional: what exists
    config: {scheduler: …}                     optional: an OperatorConfiguration, without apiVersion and kind
    kube: "1.36"                               optional: the version of Kubernetes
    shape: driver                              optional: the form of ComputeDomains and claims

The other documents are the input.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from grove_compiler.compile import Inputs, lint
from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.field_path import parse
from grove_compiler.model.inputs.settings import OFFLINE_KUBE_VERSION, Settings
from grove_compiler.source.document import Document
from grove_compiler.source.reader import read_text

FOLDER = Path(__file__).parent / "cases"
FILES = sorted(FOLDER.glob("*/*.yaml"))


@dataclass
class Case:
    """A case as read; `lines` are those of its file."""

    head: dict[str, Any]
    documents: list[Document]
    lines: list[str]

    @property
    def expected(self) -> list[dict[str, str]]:
        expected: list[dict[str, str]] = self.head["expect"]
        return expected

    def findings(self, program: Program) -> list[Diagnostic]:
        """What linting the case's input finds."""
        settings = Settings(kube_version=self.head.get("kube", OFFLINE_KUBE_VERSION), mnnvl_shape=self.head.get("shape"))
        snapshot = self.head.get("snapshot", [])
        return lint(Inputs(self.documents, snapshot, [self.old] if self.old else [], self.config, settings), program)

    @property
    def old(self) -> Document | None:
        """The first document as it was before; none where the case is no update."""
        return Document(_former(self.documents[0].value, self.head["was"])) if "was" in self.head else None

    def text_of(self, line: int) -> str:
        """What stands in a line, counted from 1, without the dash of a list."""
        return self.lines[line - 1].strip().removeprefix("- ")

    @property
    def config(self) -> Document | None:
        """The configuration that the case names; none if it names none."""
        if "config" not in self.head:
            return None
        return Document({"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration", **self.head["config"]})

    def described(self, finding: Diagnostic, like: dict[str, str]) -> dict[str, str]:
        """A finding in the form of a case's expectations, with the optional keys that `like` has."""
        found = {"rule": finding.code, "path": finding.path, "at": self.text_of(finding.line)}
        if finding.type:
            found["type"] = finding.type
        if finding.severity != "error":
            found["severity"] = finding.severity
        if "nearest" in like:
            found["nearest"] = finding.nearest
        if "says" in like:
            found["says"] = like["says"] if like["says"] in finding.message else finding.message
        return found


@cache  # several files of tests read all of them
def read_case(path: Path) -> Case:
    """The case in a file; an unreadable one is a mistake of the test."""
    text = path.read_text()
    documents, problems = read_text(text, path.name)
    assert not problems, [f"{problem.place}: {problem.message}" for problem in problems]
    head, *inputs = documents
    return Case(head.value, inputs, text.splitlines())


def name_of(path: Path) -> str:
    """`topic/case`, as tests show it."""
    return f"{path.parent.name}/{path.stem}"


def _former(manifest: Any, was: dict[str, Any]) -> Any:
    former = copy.deepcopy(manifest)
    for text, value in was.items():
        *steps, last = parse(text)
        holder = former
        for step in steps:
            holder = holder[step]
        if value is None:
            holder.pop(last, None)
        else:
            holder[last] = value
    return former
