from __future__ import annotations

import json
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from grove_compiler.api.crd import crds
from grove_compiler.api.tables import STORED, key

from .structural_crd import nodes, schema_of

NAMES = [f"{model.crd.plural}.{key(model)[0].partition('/')[0]}" for model in STORED]
FOREIGN = (".podSpec.", ".metrics[].", ".templateSpec.")
"""Kubernetes' own types, which have their own tests; only where they begin is shown."""
BELOW = ("properties", "items", "additionalProperties")


def outline(crd: dict[str, Any]) -> str:
    """The CRD with one line for each field of its schema."""
    schema = schema_of(crd)
    lines = []
    for path, node in nodes(schema):
        if not any(word in path for word in FOREIGN):
            keys = {name: value for name, value in node.items() if name not in BELOW}
            lines.append(f"{path or '.'} {json.dumps(keys, ensure_ascii=False)}")
    schema.clear()
    return "\n".join([json.dumps(crd, indent=1), *lines])


@pytest.mark.parametrize("name", NAMES)
def test_the_crd_is_as_it_was(name: str, snapshot: SnapshotAssertion) -> None:
    assert outline(next(crd for crd in crds() if crd["metadata"]["name"] == name)) == snapshot
