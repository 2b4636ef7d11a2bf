"""Other programs that make the same objects: kustomize and Helm, built from their Go modules, and Jinja2 text with PyYAML."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.start import kubectl
from tests.benchmarks.templating import Template
from tests.go_programs import built


class Objects(NamedTuple):
    """What has to come out: `fixed` is the text of what is there once, `replica` a template for the rest, `whole` all of it."""

    fixed: str
    replica: Template
    whole: str


class Rival(NamedTuple):
    """A command that prints the objects, or why there is none."""

    name: str
    command: list[str]
    missing: str = ""


def rivals(objects: Objects, folder: Path) -> Iterator[Rival]:
    """Everybody's input is written to the folder; the commands read it from there."""
    yield from _jinja(objects, folder / "jinja")
    yield from _helm(objects, folder / "helm")
    yield from _kustomize(objects, folder / "kustomize")


def _jinja(objects: Objects, folder: Path) -> Iterator[Rival]:
    folder.mkdir()
    body = objects.replica.written("{{ r }}", "{{ v[%d] }}")
    (folder / "template.yaml").write_text(f"{objects.fixed}{{% for v in values %}}{{% set r = loop.index0 %}}---\n{body}{{% endfor %}}")
    (folder / "values.json").write_text(json.dumps(objects.replica.values))
    script = str(Path(__file__).with_name("render_jinja.py"))
    files = [str(folder / "template.yaml"), str(folder / "values.json")]
    yield Rival("Jinja2 text, unchecked", [sys.executable, script, "text", *files])
    yield Rival("Jinja2 text + PyYAML", [sys.executable, script, "parsed", *files])


def _helm(objects: Objects, folder: Path) -> Iterator[Rival]:
    program, missing = built("helm")
    if not program:
        yield Rival("Helm", [], missing)
        return
    (folder / "templates").mkdir(parents=True)
    body = objects.replica.written("{{ $r }}", "{{ index $v %d }}")
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: scale\nversion: 1.0.0\n")
    (folder / "values.yaml").write_text(f"values: {json.dumps(objects.replica.values)}\n")
    loop = f"{{{{- range $r, $v := .Values.values }}}}\n---\n{body}{{{{- end }}}}\n"
    (folder / "templates" / "objects.yaml").write_text(objects.fixed + loop)
    yield Rival("helm template", [program, "template", "scale", str(folder)])


def _kustomize(objects: Objects, folder: Path) -> Iterator[Rival]:
    """Kustomize has no loops, so it is given the finished objects and only reads, orders and writes them."""
    folder.mkdir()
    (folder / "objects.yaml").write_text(objects.whole)
    (folder / "kustomization.yaml").write_text("resources: [objects.yaml]\n")
    program, missing = built("kustomize")
    if program:
        yield Rival("kustomize build (finished objects)", [program, "build", str(folder)])
    elif kubectl():
        yield Rival("kubectl kustomize (finished objects)", [str(kubectl()), "kustomize", str(folder)])
    else:
        yield Rival("kustomize", [], missing)
