"""Generates applier/decision/go_fields.json from Go's sources of Kubernetes' kinds and a server's OpenAPI documents.

    python tools/generate_go_fields.py MODULES VERSION

MODULES is the folder that holds api@VERSION, apimachinery@VERSION and their like ($GOPATH/pkg/mod/k8s.io, which building the control plane
of the tests fills); VERSION such as v0.35.4. The server is the control plane of the tests, which is of the same release.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from applier.testing.control_plane import ControlPlane

FILE = Path(__file__).parent.parent / "applier" / "decision" / "go_fields.json"
PREFIX = "io.k8s."
STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.M | re.S)
FIELD = re.compile(r"((?:^\t//.*\n)*)^\t(?:\w+[ \t]+)?(\*?[\w.\[\]*]+)[ \t]+`[^`]*json:\"([^\"]*)\"", re.M)
POINTER, GATED = "*", "?"


class Field(NamedTuple):
    """One line of a struct: the comment before it, its Go type, its JSON name and the rest of its tag."""

    comment: str
    type: str
    name: str
    options: tuple[str, ...]

    def word(self) -> str:
        """The JSON name, after `*` for a pointer and `?` for what a server without a feature leaves out."""
        return GATED * ("+featureGate" in self.comment) + POINTER * self.type.startswith("*") + self.name


def main(arguments: list[str]) -> int:
    """Writes the file; the exit status is 2 when the arguments are wrong."""
    if len(arguments) != 2:
        sys.stderr.write(__doc__ or "")
        return 2
    sources = Sources(Path(arguments[0]), arguments[1])
    table = {}
    for definition, schema in sorted(_definitions(), key=lambda one: one[0]):
        fields = sources.fields(*definition.rpartition(".")[::2])
        missing = schema["properties"].keys() - fields.keys()
        if missing:
            sys.stderr.write(f"{definition}: no {', '.join(sorted(missing))} in the sources\n")
            return 1
        table[definition.removeprefix(PREFIX)] = " ".join(fields[name].word() for name in sorted(schema["properties"]))
    FILE.write_text(json.dumps(table, separators=(",\n", ":")) + "\n", "utf-8")
    return 0


def _definitions() -> Iterator[tuple[str, Any]]:
    """The structs that the server describes, each by its name; lists of kinds left out, which nobody applies."""
    found: dict[str, Any] = {}
    with ControlPlane.start(parts=()) as plane:
        for path in json.loads(plane.request("GET", "/openapi/v3"))["paths"]:
            if path.startswith(("api/", "apis/")):
                found |= plane.request("GET", f"/openapi/v3/{path}").get("components", {}).get("schemas", {})
    for name, schema in found.items():
        if name.startswith(PREFIX) and "properties" in schema and not (name.endswith("List") and "items" in schema["properties"]):
            yield name, schema


class Sources:
    """The structs of Go packages, which OpenAPI names after their folders: io.k8s.api.core.v1 is k8s.io/api/core/v1."""

    def __init__(self, modules: Path, version: str) -> None:
        self.modules, self.version = modules, version
        self.read: dict[str, dict[str, list[Field]]] = {}

    def fields(self, package: str, struct: str) -> dict[str, Field]:
        """The fields of a struct by their JSON names, those of the structs in it that JSON writes inline included."""
        fields: dict[str, Field] = {}
        for field in self._structs(package).get(struct, ()):
            if "inline" in field.options:
                at, _, name = field.type.lstrip("*").rpartition(".")
                fields |= self.fields("io.k8s.apimachinery.pkg.apis.meta.v1" if at == "metav1" else package, name)
            elif field.name != "-":
                fields[field.name] = field
        return fields

    def _structs(self, package: str) -> dict[str, list[Field]]:
        if package not in self.read:
            self.read[package] = self._read(package)
        return self.read[package]

    def _read(self, package: str) -> dict[str, list[Field]]:
        module, *folders = package.removeprefix(PREFIX).split(".")
        files = (self.modules / f"{module}@{self.version}").joinpath(*folders).glob("*.go")
        texts = [path.read_text("utf-8") for path in files if not path.name.startswith(("zz_", "generated"))]
        return {name: [_field(match) for match in FIELD.finditer(body)] for text in texts for name, body in STRUCT.findall(text)}


def _field(match: re.Match[str]) -> Field:
    name, *options = match[3].split(",")
    return Field(match[1], match[2], name, tuple(options))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
