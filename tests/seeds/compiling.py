"""Compilations in the form of the designs."""

from __future__ import annotations

import copy
from typing import Any

from grove_compiler.compile import CompileResult, Inputs, lint
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.source.document import Document
from tests.features.compiling import shipped_program

from .pages import Manifest

Objects = dict[tuple[str, str], Manifest]


def result_of(manifest: Manifest, **settings: Any) -> CompileResult:
    """What a set becomes, Pods included, in the form that the designs propose."""
    chosen: dict[str, Any] = {"pods": True, "mnnvl_shape": "as-proposed", **settings}
    return compile_inputs(Inputs([Document(copy.deepcopy(manifest))], settings=Settings(**chosen)), shipped_program())


def objects_of(manifest: Manifest, **settings: Any) -> Objects:
    """The objects by kind and name; there must be nothing to find."""
    result = result_of(manifest, **settings)
    assert [(finding.code, finding.message) for finding in result.diagnostics] == []
    return {(node.object["kind"], node.object["metadata"]["name"]): node.object for node in result.graph.nodes}


def findings_of(manifest: Manifest, **settings: Any) -> list[Diagnostic]:
    """What linting finds."""
    chosen: dict[str, Any] = {"mnnvl_shape": "as-proposed", **settings}
    return lint(Inputs([Document(copy.deepcopy(manifest))], settings=Settings(**chosen)), shipped_program())


def of_kind(objects: Objects, kind: str) -> list[Manifest]:
    return [manifest for (found, _), manifest in objects.items() if found == kind]


def names_of(objects: Objects, kind: str) -> list[str]:
    return [name for found, name in objects if found == kind]


def owners_of(manifest: Manifest) -> list[tuple[str, str]]:
    return [(owner["kind"], owner["name"]) for owner in manifest["metadata"]["ownerReferences"]]
