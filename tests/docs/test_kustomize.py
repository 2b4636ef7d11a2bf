"""Kustomize follows the names that sets have of other objects, as the example has it."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from grove_compiler.api.crd import crds
from tests.go_programs import find

from .pages import DOCS

EXAMPLE = DOCS.parent / "examples" / "kustomize" / "podcliquesets.yaml"
VERSIONS = {"ResourceClaim": "resource.k8s.io/v1", "ResourceClaimTemplate": "resource.k8s.io/v1", "PriorityClass": "scheduling.k8s.io/v1"}
"""The kinds that are not of v1."""
A_NAME = re.compile(
    r"(configMap|secret)(Key)?(Ref)?/name$|SecretRef/name$|imagePullSecrets/name$|(secret|claim|resourceClaim|resourceClaimTemplate)Name$"
    r"|serviceAccountName$|riorityClassName$"
)
"""The fields of a set that name objects of these kinds. Ephemeral containers are not in templates."""
LISTS = {"cliques", "containers", "initContainers", "env", "envFrom", "volumes", "sources", "imagePullSecrets", "resourceClaims"}
"""The fields on these paths that are lists."""


def references() -> list[tuple[str, str]]:
    """The kind of each name that a set has, and where it has it."""
    entries = yaml.safe_load(EXAMPLE.read_text())["nameReference"]
    return [(entry["kind"], spec["path"]) for entry in entries for spec in entry["fieldSpecs"]]


def fields(schema: dict[str, Any], *path: str) -> Iterator[str]:
    """Yields the paths of all fields without fields, as Kustomize writes them."""
    if "items" in schema:
        yield from fields(schema["items"], *path)
    for name, field in schema.get("properties", {}).items():
        yield from fields(field, *path, name)
    if "items" not in schema and not schema.get("properties"):
        yield "/".join(path)


def put(tree: Any, path: list[str], value: str) -> Any:
    """Returns a tree with a value at a path, in an item of its own of a list; but there is one clique, and one container of each kind."""
    name, *rest = path
    if not rest:
        return {**tree, name: value}
    if name not in LISTS:
        return {**tree, name: put(tree.get(name, {}), rest, value)}
    items = tree.get(name, [])
    if name in ("cliques", "containers", "initContainers") and items:
        return {**tree, name: [put(items[0], rest, value)]}
    return {**tree, name: [*items, put({"name": f"{name.lower()}-{len(items)}"} if rest != ["name"] else {}, rest, value)]}


@pytest.fixture
def built(tmp_path: Path) -> list[dict[str, Any]]:
    """What Kustomize makes of a set with all these names, and of the objects that it names, with a prefix."""
    program, missing = find("kustomize")
    if not program:
        pytest.skip(missing)
    pcs: dict[str, Any] = {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": {"name": "chat"}}
    for kind, path in references():
        pcs = put(pcs, path.split("/"), f"the-{kind.lower()}")
    kinds = dict.fromkeys(kind for kind, _ in references())
    named = [{"apiVersion": VERSIONS.get(kind, "v1"), "kind": kind, "metadata": {"name": f"the-{kind.lower()}"}} for kind in kinds]
    (tmp_path / "all.yaml").write_text("\n---\n".join(map(json.dumps, [pcs, *named])))
    (tmp_path / EXAMPLE.name).write_text(EXAMPLE.read_text())
    kustomization = {"resources": ["all.yaml"], "namespace": "team", "namePrefix": "dev-", "configurations": [EXAMPLE.name]}
    (tmp_path / "kustomization.yaml").write_text(json.dumps(kustomization))
    ended = subprocess.run([program, "build", str(tmp_path)], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return list(yaml.safe_load_all(ended.stdout))


def test_the_example_has_each_name() -> None:
    schema = next(one for one in crds() if one["spec"]["names"]["kind"] == "PodCliqueSet")["spec"]["versions"][0]["schema"]
    names = {path for path in fields(schema["openAPIV3Schema"]["properties"]["spec"], "spec") if A_NAME.search(path)}
    assert {path for path in names if "ephemeralContainers" not in path} == {path for _, path in references()}


def test_kustomize_follows_each_name(built: list[dict[str, Any]]) -> None:
    pcs = next(one for one in built if one["kind"] == "PodCliqueSet")
    names = re.findall(r'"(?:dev-)?the-\w+"', json.dumps(pcs["spec"]))
    assert len(names) == len(references())
    assert [name for name in names if not name.startswith('"dev-')] == []
