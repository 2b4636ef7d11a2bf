"""Annotations of one object have a size together, which no case file should have."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.compile import Inputs, lint
from grove_compiler.engine.runtime.program import Program
from grove_compiler.source.document import Document

from .sets import clique, group

MOST = 262144


def found(program: Program, holder: str, size: int) -> list[tuple[str, str]]:
    """What lint says when the annotations of one part of a set have so many bytes."""
    annotations = {"a": "x" * (size - 1 - 14), "b" * 12: "ä"}
    parts: dict[str, Any] = {part: {"annotations": annotations} if part == holder else {} for part in ("set", "clique", "group")}
    template = {"cliques": [clique("a", **parts["clique"])], "podCliqueScalingGroups": [group("g", ["a"], **parts["group"])]}
    manifest = {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": "demo", **parts["set"]},
        "spec": {"replicas": 1, "template": template},
    }
    return [(one.code, one.path) for one in lint(Inputs([Document(manifest)]), program)]


PATHS = {
    "set": "metadata.annotations",
    "clique": "spec.template.cliques[0].annotations",
    "group": "spec.template.podCliqueScalingGroups[0].annotations",
}


@pytest.mark.parametrize(("holder", "path"), PATHS.items())
def test_annotations_fit_to_the_byte(holder: str, path: str, program: Program) -> None:
    assert found(program, holder, MOST) == []
    assert found(program, holder, MOST + 1) == [(f"validate/{holder}-annotation-sizes", path)]
