"""Reads the types of the API, which the YAML files of this folder define, and from which CRDs and what `compile` checks by are made.

A type is a table in the language of `grove_compiler.kube.structure`, with `doc` (the description), `default`, and `validations` (CEL rules,
as CRDs hold them) besides. `is` stands for what `shared` defines under that name, else for a type of the same group. A type with `served`
is a kind that an API server stores; what all of these have is added here.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from grove_compiler.kube.structure import Definitions, Schema
from grove_compiler.record import record
from grove_compiler.source.reader import read_bytes

FILES = (
    *("metadata.yaml", "podcliqueset.yaml", "podcliqueset_status.yaml", "podclique.yaml", "podcliquescalinggroup.yaml"),
    *("resource_sharing.yaml", "topology_constraint.yaml", "clustertopologybinding.yaml", "clustertopology.yaml", "podgang.yaml"),
    *("operatorconfiguration.yaml", "preflightvalues.yaml"),
)
_FOLDER = __file__.rpartition("tables.py")[0]


@record
class ApiTypes:
    """Holds all types by group, version and name, such as `grove.io/v1alpha1.PodClique`; `served` says how the stored kinds are served."""

    definitions: Definitions
    served: dict[str, dict[str, Any]]


@cache
def api_types() -> ApiTypes:
    """Returns the types, in the order in which they are written. Nobody may change them."""
    files = [_read(name) for name in FILES]
    shared: Definitions = {name: schema for file in files for name, schema in file.get("shared", {}).items()}
    types = ApiTypes({}, {})
    for file in files:
        for name, written in file["types"].items():
            key = f"{file['group']}.{name}"
            if "served" in written:
                types.served[key] = written["served"]
                written = _stored(file["group"], name, written)
            types.definitions[key] = _type(written, file, shared)
    return types


def documents() -> dict[str, Definitions]:
    """Returns the tables in `grove_compiler/kube/schemas` by group and version: the types without what only CRDs need."""
    result: dict[str, Definitions] = {}
    for name, definition in api_types().definitions.items():
        group, _, type_ = name.rpartition(".")
        result.setdefault(group, {})[type_] = _bare(definition)
    return result


def _read(name: str) -> dict[str, Any]:
    """Reads a file by the loader of this module, wherever the package is; to the purity of the compiler it is like an import."""
    (document,), findings = read_bytes(__loader__.get_data(f"{_FOLDER}{name}"), name)  # type: ignore[name-defined]
    if findings:
        raise ValueError(f"{findings[0].place}: {findings[0].message}")
    file: dict[str, Any] = document.value
    return file


def _stored(api_version: str, kind: str, written: Schema) -> Schema:
    """Returns the table of a stored kind with what every object has."""
    head = {
        "apiVersion": {"kind": "string", "enum": [api_version], "doc": "Version of the API that the object is written in."},
        "kind": {"kind": "string", "enum": [kind], "doc": "Kind of the object."},
        "metadata": {"ref": "grove.io/v1alpha1.ObjectMeta", "doc": "Standard object metadata."},
    }
    return {**written, "fields": {**head, **written["fields"]}, "required": [*head, *written["required"]]}


def _type(written: Schema, file: dict[str, Any], shared: Definitions) -> Schema:
    """Returns the table of a type, with all names of the file replaced."""
    table: Schema = {"kind": "object", "fields": {name: _node(field, file, shared) for name, field in written["fields"].items()}}
    if "unknown" in file:
        table["unknown"] = file["unknown"]
    others = {name: value for name, value in written.items() if name not in ("fields", "served")}
    return {**table, **_with_cel(others, file)}


def _node(written: Schema, file: dict[str, Any], shared: Definitions) -> Schema:
    """Returns the table of one field, item or value."""
    node: Schema = {}
    for name, value in _with_cel(written, file).items():
        if name == "is":
            node |= shared.get(value) or {"ref": f"{file['group']}.{value}"}
        else:
            node[name] = _node(value, file, shared) if name in ("items", "values") else value
    return node


def _with_cel(table: Schema, file: dict[str, Any]) -> Schema:
    """Returns a table whose CEL rules have the parts that the file gives names to, written there as `$NAME`."""
    if "validations" not in table:
        return table
    rules = [dict(rule) for rule in table["validations"]]
    for rule in rules:
        for name, part in file.get("cel", {}).items():
            rule["rule"] = rule["rule"].replace(f"${name}", part)
    return {**table, "validations": rules}


def _bare(value: Any) -> Any:
    """Returns a copy without descriptions and CEL rules. Fields of such names are safe: they stand one level down, under `fields`."""
    if isinstance(value, list):
        return [_bare(item) for item in value]
    if not isinstance(value, dict):
        return value
    node = isinstance(value.get("kind", value.get("ref")), str)
    return {name: _bare(item) for name, item in value.items() if not (node and name in ("doc", "validations"))}
