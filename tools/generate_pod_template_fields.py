"""Generates grove_compiler/kube/pod_template_fields.json from a dump of Kubernetes' Go types.

    python tools/generate_pod_template_fields.py TYPES.json

TYPES.json maps each Go struct that a v1.PodTemplateSpec reaches to its fields in declaration order, each with `name`, `type`,
`kind`, and, if applicable, `elem`, `json` and `inline`. What Go's types do not contain (required fields, merge keys of lists, values of
enums) is in grove_compiler/kube/schemas.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TABLE = Path(__file__).parent.parent / "grove_compiler" / "kube" / "pod_template_fields.json"
ROOT = "v1.PodTemplateSpec"
MAPS = {"v1.ResourceList": "resource.Quantity"}
"""Named map types with the type of their values, which the dump does not contain."""
LEAVES = {"resource.Quantity", "intstr.IntOrString", "v1.Time", "v1.FieldsV1"}
"""Structs that are scalars in JSON, whose fields are not needed."""

Types = dict[str, list[dict[str, Any]]]


def main(arguments: list[str]) -> int:
    """Writes the table; returns the exit status, 2 for invalid arguments."""
    if len(arguments) != 1:
        sys.stderr.write(__doc__ or "")
        return 2
    types: Types = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    table = {name: "; ".join(line(field) for field in types[name]) for name in reachable(types)}
    TABLE.write_text(json.dumps(table, indent=0) + "\n", encoding="utf-8")
    return 0


def reachable(types: Types) -> list[str]:
    """Returns the sorted names of the structs that a pod template reaches, except through leaves."""
    seen: set[str] = set()
    waiting = [ROOT]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            below = {below_of(field) for field in types[name]}
            waiting += [struct for struct in below if struct in types and struct not in LEAVES]
    return sorted(seen)


def line(field: dict[str, Any]) -> str:
    """Returns one field in the notation that `grove_compiler.kube.go_dump` reads."""
    prefix = {"ptr": "*", "slice": "[]", "map": "{}"}.get(field["kind"], "")
    return f"{field.get('json', '-')} {field['name']}:({field['type']}) {prefix}{below_of(field)}"


def below_of(field: dict[str, Any]) -> str:
    """Returns the element type of a pointer, list or map: a struct's name or a basic kind."""
    kind = str(field.get("elem", field["kind"]))
    if kind != "struct":
        return kind
    named = MAPS.get(field["type"])
    return named or str(field["type"]).removeprefix("[]").removeprefix("*").removeprefix("map[string]")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
