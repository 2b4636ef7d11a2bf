"""Generates grove_compiler/kube/pod_template_fields.json from a dump of Kubernetes' Go types.

    python tools/generate_pod_template_fields.py TYPES.json

TYPES.json maps each Go struct that a v1.PodTemplateSpec reaches to its fields in declaration order, each with `name`, `type`,
`kind`, and where they apply `elem`, `json` and `inline`. What Go's types do not say (which fields are required, what makes a
list item unique, the values of an enum) is in grove_compiler/kube/schemas.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TABLE = Path(__file__).parent.parent / "grove_compiler" / "kube" / "pod_template_fields.json"
ROOT = "v1.PodTemplateSpec"
MAPS = {"v1.ResourceList": "resource.Quantity"}
"""Named map types, whose dump does not say what their values are."""
LEAVES = {"resource.Quantity", "intstr.IntOrString", "v1.Time", "v1.FieldsV1"}
"""Structs that JSON writes as one value, whose fields nobody asks for."""

Types = dict[str, list[dict[str, Any]]]


def main(arguments: list[str]) -> int:
    """Writes the table; the exit status is 2 when the arguments are wrong."""
    if len(arguments) != 1:
        sys.stderr.write(__doc__ or "")
        return 2
    types: Types = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    table = {name: "; ".join(line(field) for field in types[name]) for name in reachable(types)}
    TABLE.write_text(json.dumps(table, indent=0) + "\n", encoding="utf-8")
    return 0


def reachable(types: Types) -> list[str]:
    """Returns the structs below the pod template, but not inside leaves, by name."""
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
    """Returns the Go type below pointer, list or map: a struct's name or a basic kind."""
    kind = str(field.get("elem", field["kind"]))
    if kind != "struct":
        return kind
    named = MAPS.get(field["type"])
    return named or str(field["type"]).removeprefix("[]").removeprefix("*").removeprefix("map[string]")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
