"""The lines of the input behind each field, beside the YAML on the page."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ..cli.running import ROOT, run
from .conftest import OpenPage
from .sample import for_people, unpack

SET = str(ROOT / "examples" / "minimal.yaml")


@pytest.fixture
def data() -> dict[str, Any]:
    return embedded_data()


@cache
def embedded_data() -> dict[str, Any]:
    """The data of the page of an example. Its tests only read it."""
    ended = run("graph", SET, "-o", "html", "--lines")
    assert ended.code == 0, ended.err
    (embedded,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', ended.out, re.DOTALL)
    return dict(json.loads(embedded))


def beside(data: dict[str, Any], kind: str) -> dict[str, str]:
    """For each line of an object's YAML the places beside it, where there are any."""
    number, node = next((number, node) for number, node in enumerate(data["nodes"]) if node[0] == kind)
    places = next(unpack(data["parts"], part) for index, part in data["lines"] if index == number)
    lines = unpack(data["parts"], node[7]).splitlines()
    return {line.strip(): place for line, place in zip(lines, places.splitlines(), strict=True) if place}


def test_a_field_that_is_copied_names_the_line_that_it_stands_in(data: dict[str, Any]) -> None:
    text = Path(SET).read_text().splitlines()
    line = next(number for number, each in enumerate(text, 1) if "image:" in each)
    found = next(place for each, place in beside(data, "PodClique").items() if each.startswith("image:"))
    assert found == f"{SET}:{line}"


def test_a_constant_of_a_template_names_none(data: dict[str, Any]) -> None:
    assert "kind: PodClique" not in beside(data, "PodClique")


def test_every_object_of_the_result_has_them(data: dict[str, Any]) -> None:
    assert {index for index, _ in data["lines"]} == {number for number, node in enumerate(data["nodes"]) if node[4] >= 0}


def test_they_are_shown_and_not_copied(open_page: OpenPage) -> None:
    picture = for_people()
    id = next(vertex.id for vertex in picture.vertices if vertex.kind == "PodClique")
    page = open_page(picture, lines={id: {("spec", "roleName"): "set.yaml:7, :9"}})
    index = page.evaluate("id => grove.graph.nodes.findIndex((node) => node.id === id)", id)
    page.evaluate(f"grove.choose({index}, 'show')")
    shown = page.evaluate("[...document.querySelectorAll('.y-from')].map((each) => [each.dataset.from, each.title])")
    assert shown == [[":7, :9", "set.yaml:7, :9"]]
    assert "set.yaml" not in page.locator("#yaml").text_content()


@pytest.mark.parametrize("output", ["tree", "dot", "json", "mermaid"])
def test_other_pictures_have_no_room_for_them(output: str) -> None:
    ended = run("graph", SET, "-o", output, "--lines")
    assert ended.code == 2
    assert "requires -o html" in " ".join(ended.err.split())
