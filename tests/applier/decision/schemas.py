"""The schema tables of Kubernetes 1.35.4 and of the custom kind of these tests, as a server described them once."""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path

from applier.decision import Schemas, Type
from applier.ref import Kind

_FILE = Path(__file__).with_name("schemas.json.gz")


@cache
def recorded() -> Schemas:
    """All of them. `python -m tests.applier.decision.record` makes the file anew from a real server."""
    return Schemas.loads(gzip.decompress(_FILE.read_bytes()))


def type_of(api_version: str, kind: str) -> Type:
    """The schema of one kind."""
    found = recorded().get(Kind.read(api_version, kind))
    assert found is not None, f"{api_version} {kind} is not among the recorded schemas"
    return found
