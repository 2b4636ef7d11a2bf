"""A compiled graph on standard output."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from grove_compiler.graph.node import Manifest, Node


def write_bytes(data: bytes) -> None:
    """All of it to standard output. Raises `OSError` when that is closed, `BrokenPipeError` when its reader has gone."""
    if sys.stdout is None:
        raise OSError("standard output is closed")
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def as_yaml(nodes: Sequence[Node]) -> bytes:
    """One document an object, in apply order."""
    from grove_compiler.source.yaml_writer import write_yaml

    return write_yaml([node.object for node in nodes]).encode()


def as_json(nodes: Sequence[Node]) -> bytes:
    """A `List`, as kubectl prints and takes it."""
    from grove_compiler.source.json_writer import write_json

    items: list[Manifest] = [node.object for node in nodes]
    return write_json({"apiVersion": "v1", "kind": "List", "items": items}).encode()


def as_names(nodes: Iterable[Node]) -> bytes:
    """kubectl's `kind.group/name`, one a line."""
    return "".join(f"{_resource(node.object)}/{node.object['metadata']['name']}\n" for node in nodes).encode()


def _resource(manifest: Manifest) -> str:
    group, slash, _ = manifest["apiVersion"].partition("/")
    kind: str = manifest["kind"].lower()
    return f"{kind}.{group}" if slash else kind
