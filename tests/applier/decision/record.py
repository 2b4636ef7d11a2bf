"""Records what the tests without a server use, from a real one: `python -m tests.applier.decision.record`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from applier.decision import prepared
from applier.testing.control_plane import ControlPlane

from .oracle import Server
from .typical import MANAGER, manifests


def _write(name: str, text: str) -> None:
    packed = gzip.compress(text.encode(), mtime=0)
    Path(__file__).with_name(name).write_bytes(packed)
    print(f"{name}: {len(text)} bytes, {len(packed)} packed")


def _stored(server: Server, namespace: str) -> list[Any]:
    return [server.apply(server.path_of(manifest, namespace), prepared(manifest), MANAGER).body for manifest in manifests()]


def main() -> None:
    with ControlPlane.start(parts=()) as plane:
        server = Server(plane)
        _write("schemas.json.gz", server.schemas().dumps())
        _write("typical.json.gz", json.dumps(_stored(server, plane.create_namespace())))


if __name__ == "__main__":
    main()
