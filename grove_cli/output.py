"""Writes objects, text and reports to standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from grove_compiler.graph.node import Manifest
from kube_objects.manifest import resource_name


def write(chunks: Iterable[bytes]) -> None:
    """Writes chunks to standard output once all of them were produced, so that an error leaves no partial output.

    Raises `OSError` when standard output is closed, `BrokenPipeError` when its reader has gone.
    """
    whole = list(chunks)
    if sys.stdout is None:  # started with >&-
        raise OSError("standard output is closed")
    sys.stdout.flush()
    sys.stdout.buffer.writelines(whole)
    sys.stdout.buffer.flush()


def encoded(text: str) -> bytes:
    """Encodes in UTF-8, with escapes for surrogates."""
    return text.encode("utf-8", "backslashreplace")


def json_report(value: Any) -> bytes:
    """Returns a value as indented JSON with a final newline."""
    import json  # not for `grove compile`, whose objects have a writer of their own

    return encoded(json.dumps(value, indent=2, ensure_ascii=False, default=str) + "\n")


def write_text(text: str) -> None:
    """Writes a text."""
    write([encoded(text)])


def write_report(value: Any, output: str = "json") -> None:
    """Writes a value as indented JSON, or with the `output` yaml as a YAML document."""
    write(as_yaml([value]) if output == "yaml" else [json_report(value)])


def as_yaml(objects: Iterable[Manifest]) -> Iterable[bytes]:
    """Returns a YAML document for each object."""
    from grove_compiler.source.yaml_writer import iter_yaml

    return map(encoded, iter_yaml(objects))


def as_json(objects: Sequence[Manifest]) -> Iterable[bytes]:
    """Returns objects as kubectl does: a single object, or a `List`."""
    from grove_compiler.source.json_writer import write_json

    yield encoded(write_json(objects))


def as_names(objects: Iterable[Manifest]) -> Iterable[bytes]:
    """Returns a line `kind.group/name` for each object, as kubectl does."""
    return (f"{resource_name(manifest)}\n".encode() for manifest in objects)


def for_kubectl(objects: Iterable[Manifest]) -> Iterable[bytes]:
    """Returns a YAML document for each object that kubectl and other tools can apply."""
    return as_yaml(map(without_unknown_owners, objects))


WRITERS: dict[str, Callable[[Sequence[Manifest]], Iterable[bytes]]] = {
    "yaml": as_yaml,
    "kubectl": for_kubectl,
    "json": as_json,
    "name": as_names,
}


def without_unknown_owners(manifest: Manifest) -> Manifest:
    """Returns an object without owner references that have no UID, which an API server rejects; the same object if there are none."""
    references = (manifest.get("metadata") or {}).get("ownerReferences") or []
    known = [reference for reference in references if reference.get("uid")]
    if len(known) == len(references):
        return manifest
    metadata = {key: value for key, value in manifest["metadata"].items() if key != "ownerReferences"}
    return {**manifest, "metadata": {**metadata, "ownerReferences": known} if known else metadata}


def is_redirected() -> bool:
    """Returns whether standard output is a file or a pipe, and no terminal."""
    try:
        return not os.isatty(sys.stdout.fileno())
    except (AttributeError, OSError):  # closed, or no stream of the system's
        return False
