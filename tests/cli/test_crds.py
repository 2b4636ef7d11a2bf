"""`grove crds`: the definitions of the input kinds."""

from __future__ import annotations

import json

import pytest
import yaml

from .processes import Grove


@pytest.mark.parametrize("output", ["yaml", "json"])
def test_crds_are_printed(grove: Grove, output: str) -> None:
    text = grove("crds", "-o", output).out
    documents = json.loads(text)["items"] if output == "json" else list(yaml.load_all(text, yaml.CSafeLoader))
    assert "podcliquesets.grove.io" in {document["metadata"]["name"] for document in documents}
