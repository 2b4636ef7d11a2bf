"""Writes the Helm chart, and the tables about installations, from `grove_operator.install`: python -m tools.generate_chart."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel

from grove_compiler.api.operatorconfiguration import OperatorConfiguration
from grove_compiler.api.preflightvalues import PreflightValues
from grove_compiler.preflight import BLOCK
from grove_compiler.version import __version__
from grove_operator.install.manifests import NAME, dashboard, templates
from grove_operator.install.values import Values
from tools.go_templates import document

ROOT = Path(__file__).parent.parent
CHART = ROOT / "charts" / NAME
PAGE = ROOT / "docs" / "install.md"
TABLE = re.compile(r"\| value \| default \|.*?\n(?=\n)", re.DOTALL)
HEADER = "{{/* Written by `python -m tools.generate_chart`: what is to change is in grove_operator/install. */}}\n"
FORMS: dict[str, type[BaseModel]] = {BLOCK: PreflightValues}
"""Values that are told by types of the API."""
NOT_IN_THE_CHART = ("namespace",)
"""Helm makes the namespace of a release itself."""

HELPERS = Path(__file__).with_name("chart_helpers.tpl")
"""What templates call by name: the image, the labels and the configuration, which `install/manifests.py` makes in Python."""


def chart() -> dict[str, str]:
    """Returns the text of each file of the chart by its name."""
    made = {
        "Chart.yaml": yaml.safe_dump(about(), sort_keys=False, width=140),
        "values.yaml": values_text(),
        "values.schema.json": json.dumps(schema(), indent=1, sort_keys=True) + "\n",
        "dashboard.json": dashboard(),
        "templates/_helpers.tpl": HEADER + HELPERS.read_text("utf-8"),
    }
    for name, some in templates().items():
        if name not in NOT_IN_THE_CHART:
            made[f"templates/{name}.yaml"] = HEADER + "".join(map(document, some))
    return made


def about() -> dict[str, Any]:
    return {
        "apiVersion": "v2",
        "name": NAME,
        "description": "Keeps a cluster's PodCliqueSets as the rules say",
        "type": "application",
        "version": __version__,
        "appVersion": __version__,
        "kubeVersion": ">=1.32.0-0",
    }


def values_table() -> str:
    """Returns the table of `docs/install.md`."""
    rows = [
        f"| `{path}` | {_short(value)} | {text} |"
        for path, value, text in _rows(Values, Values().model_dump(by_alias=True, mode="json"), "")
    ]
    return "\n".join(["| value | default | description |", "|---|---|---|", *rows]) + "\n"


def _rows(model: type[BaseModel], values: dict[str, Any], prefix: str) -> Iterator[tuple[str, Any, str]]:
    for name, field in model.model_fields.items():
        path, inner = f"{prefix}{field.alias or name}", _model(field.alias or name, field.annotation)
        if inner is not None:
            yield from _rows(inner, values[field.alias or name], f"{path}.")
        else:
            yield path, values.get(field.alias or name, ""), field.description or ""


def _model(key: str, annotation: Any) -> type[BaseModel] | None:
    """The type that says which values there are below a key; none for what is written as it stands."""
    if key in FORMS:
        return FORMS[key]
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


def _short(value: Any) -> str:
    text = json.dumps(value)
    return "" if value in ("", [], {}) else f"`{text}`" if len(text) < 60 else "see `values.yaml`"


def values_text() -> str:
    """Returns the defaults, each below a comment that says what it is."""
    lines = ["# The values of this chart. Written by `python -m tools.generate_chart`."]
    return "\n".join([*lines, *_section(Values, Values().model_dump(by_alias=True, mode="json"), "")]) + "\n"


def _section(model: type[BaseModel], values: dict[str, Any], pad: str) -> Iterator[str]:
    for name, field in model.model_fields.items():
        key = field.alias or name
        yield f"{pad}# {field.description}"
        if key not in values:
            yield f"{pad}# {key}:"
            continue
        value, inner = values[key], _model(key, field.annotation)
        if inner is not None:
            yield f"{pad}{key}:"
            yield from _section(inner, value, pad + "  ")
        elif isinstance(value, (dict, list)) and value:
            yield f"{pad}{key}:"
            text = yaml.safe_dump(value, sort_keys=False, width=140)
            yield from (f"{pad}  {line}" for line in text.rstrip().split("\n"))
        else:
            yield f"{pad}{key}: {json.dumps(value)}"


def schema() -> dict[str, Any]:
    """Returns the JSON Schema of values, with those of the types of the API that some of them have, of which nothing is required."""
    made = Values.model_json_schema(by_alias=True)
    models: dict[str, type[BaseModel]] = {"config": OperatorConfiguration, **FORMS}
    for key, model in models.items():
        made = _with(made, key, model.model_json_schema(by_alias=True, mode="validation"))
    made["properties"][BLOCK]["description"] = Values.model_fields["preflight_injector"].description
    made["allOf"] = [
        {"if": _has(True, "webhooks", "only"), "then": _has(True, "config", "admission", "mnnvlWebhooks")},
        {"if": _has(False, "config", "leaderElection", "enabled"), "then": {"properties": {"replicas": {"maximum": 1}}}},
        {"if": _has(False, "config", "server", "webhooks", "enabled"), "then": _has(False, "webhooks", "enabled")},
        {"if": _has(False, "webhooks", "enabled"), "then": {"not": _has(True, "config", "authorizer", "enabled")}},
    ]
    made["properties"]["global"] = {"type": "object", "description": "Helm's own."}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}


def _has(switch: bool, *path: str) -> dict[str, Any]:
    """The schema of values of which one is on, or off."""
    inner: dict[str, Any] = {"const": switch}
    for name in reversed(path):
        inner = {"properties": {name: inner}, "required": [name]}
    return inner


def _with(made: dict[str, Any], key: str, part: dict[str, Any]) -> dict[str, Any]:
    """The schema with that of one value in it, whose definitions stand below the value's name."""
    definitions = part.pop("$defs", {})
    for one in (part, *definitions.values()):
        _strip(one)
    part["required"] = []
    made.setdefault("$defs", {})
    made["$defs"] |= {f"{key}.{name}": one for name, one in definitions.items()}
    made["properties"][key] = part
    text = json.dumps(made)
    for name in definitions:
        text = text.replace(f'"#/$defs/{name}"', f'"#/$defs/{key}.{name}"')
    replaced: dict[str, Any] = json.loads(text)
    return replaced


def _strip(node: Any) -> None:
    """Takes out what is said in our own words and means nothing to Helm."""
    for key in ("definition", "structure", "validations", "title"):
        node.pop(key, None)


def main() -> None:
    """Writes the files, and takes away templates that are no more."""
    made = chart()
    for path in CHART.glob("templates/*"):
        if path.relative_to(CHART).as_posix() not in made:
            path.unlink()
    for name, text in made.items():
        path = CHART / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    page = PAGE.read_text("utf-8")
    PAGE.write_text(TABLE.sub(lambda _: values_table(), page), "utf-8")


if __name__ == "__main__":
    main()
