"""How the page moves: keys, the panel beside the picture, the map, the files it saves."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from .conftest import OpenPage
from .looking import centre, position, selected, view, wait_until
from .sample import for_people, workload

LARGE = workload(replicas=3, members=9, worker_pods=5)


@pytest.fixture
def page(open_page: OpenPage) -> Any:
    return open_page(for_people())


def test_keys_work_at_once_without_a_click_on_the_picture(page: Any) -> None:
    before = view(page)
    page.keyboard.press("+")
    assert view(page)[0] == pytest.approx(before[0] * 1.25)
    page.keyboard.press("0")
    assert view(page) == pytest.approx(before)
    page.keyboard.press("ArrowRight")
    assert selected(page)


def test_keys_work_after_a_button_was_pressed(page: Any) -> None:
    page.locator("#zoom-in").click()
    before = view(page)[0]
    page.keyboard.press("-")
    assert view(page)[0] == pytest.approx(before / 1.25)


@pytest.mark.parametrize("key", ["+", "-", "0"])
def test_keys_are_text_where_text_is_typed(page: Any, key: str) -> None:
    before = view(page)
    page.locator("#query").press(key)
    assert view(page) == before
    assert page.locator("#query").input_value() == key


def in_view(page: Any, name: str) -> bool:
    """Whether the whole card of an object is on the stage, and no panel lies on it."""
    at = position(page, name)
    found: bool = page.evaluate(
        """at => { const { x, y, width, height } = grove.state.layout.items[grove.state.layout.of[at]];
        const [stage, panel] = ["stage", "details"].map((id) => document.getElementById(id).getBoundingClientRect());
        const [left, top] = grove.viewport.toStage(x, y), [right, bottom] = grove.viewport.toStage(x + width, y + height);
        const free = panel.width && panel.width < stage.width ? Math.min(stage.right, panel.left) : stage.right;
        return left >= 0 && top >= 0 && stage.left + right <= free && bottom <= stage.height; }""",
        at,
    )
    return found


@pytest.mark.parametrize("width", [1280, 1000, 850])
def test_a_selected_object_stands_beside_the_panel_and_not_under_it(width: int, open_page: OpenPage) -> None:
    page = open_page(for_people(), viewport={"width": width, "height": 800})
    for name in ("demo-0-model-1-worker-00001", "demo-0-router", "demo-0-model-0-cd"):
        page.evaluate(f"grove.choose({position(page, name)}, 'reveal')")
        assert in_view(page, name), name


def test_a_map_is_there_only_while_something_is_out_of_sight(page: Any) -> None:
    assert page.locator("#minimap").is_hidden()
    for _ in range(4):
        page.keyboard.press("+")
    page.locator("#minimap").wait_for(state="visible")
    page.keyboard.press("0")
    page.locator("#minimap").wait_for(state="hidden")


def test_a_click_on_the_map_goes_there(page: Any) -> None:
    for _ in range(5):
        page.keyboard.press("+")
    page.locator("#minimap").wait_for(state="visible")
    page.locator("#minimap").click(position={"x": 5, "y": 5})
    left, top, right, bottom = page.evaluate("grove.viewport.window")
    assert left < 0 < right
    assert top < 0 < bottom
    assert selected(page) == ""


def saved(page: Any, button: str) -> Path:
    with page.expect_download() as download:
        page.locator(button).click()
    return Path(download.value.path())


def test_the_whole_picture_is_saved_as_svg(open_page: OpenPage) -> None:
    page = open_page(for_people(LARGE))
    root = ElementTree.parse(saved(page, "#save-svg")).getroot()
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"demo-0", "demo-2-model-7", "Step 1", "2 cliques · 6 pods · 24 GPUs"} <= set(texts)
    assert root.get("width") == str(page.evaluate("Math.ceil(grove.state.layout.width + 28)"))


def test_an_svg_can_be_read_whatever_names_hold(open_page: OpenPage) -> None:
    picture = for_people()
    for vertex, name in zip(picture.vertices, ["<b>&", "\x00", "\ud800", '"', "\u2028"], strict=False):
        vertex.name = name
    root = ElementTree.parse(saved(open_page(picture), "#save-svg")).getroot()
    assert "<b>&" in [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]


def test_the_whole_picture_is_saved_as_png(open_page: OpenPage) -> None:
    page = open_page(for_people(LARGE))
    data = saved(page, "#save-png").read_bytes()
    assert data.startswith(b"\x89PNG")
    width, height = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
    assert width / height == pytest.approx(page.evaluate("(grove.state.layout.width + 28) / (grove.state.layout.height + 28)"), abs=0.01)


def test_the_start_up_order_is_drawn_and_can_be_switched_off(page: Any) -> None:
    arrows = """() => { let arrows = 0; const { context } = grove.painter; const close = context.closePath;
      context.closePath = function () { arrows++; close.call(this); };
      grove.painter.draw(); context.closePath = close; return arrows; }"""
    assert page.evaluate(arrows) == 2  # the workers of two replicas wait for their leaders
    page.get_by_text("Lines and keys").click()
    page.uncheck("#show-startup")
    assert page.evaluate(arrows) == 0


STROKES = """() => { const seen = []; const { context } = grove.painter; const stroke = context.stroke;
  context.stroke = function () { if (context.lineWidth < 3) seen.push([context.strokeStyle, context.globalAlpha]); stroke.call(this); };
  grove.painter.draw(); context.stroke = stroke; return seen; }"""


def test_lines_are_faint_but_those_of_the_card_under_the_pointer(page: Any) -> None:
    page.mouse.move(5, 790)
    before = page.evaluate(STROKES)
    line = page.evaluate(
        "(() => { const context = grove.painter.context; context.strokeStyle = grove.state.colours.line; return context.strokeStyle; })()"
    )
    assert {alpha < 0.5 for colour, alpha in before if colour == line} == {True}
    page.mouse.move(*centre(page, "demo-0-model"))
    wait_until(page, "grove.state.hovered >= 0")
    accent = page.evaluate(
        "(() => { const context = grove.painter.context; context.strokeStyle = grove.state.colours.accent; return context.strokeStyle; })()"
    )
    full = [colour for colour, alpha in page.evaluate(STROKES) if alpha == 1]
    assert full.count(accent) > [colour for colour, alpha in before if alpha == 1].count(accent)


def test_an_object_says_after_whom_it_starts(page: Any) -> None:
    page.mouse.click(*centre(page, "demo-0-model-0-worker"))
    page.get_by_text("Starts after 1").click()
    page.get_by_role("button", name="PodClique demo-0-model-0-leader").click()
    assert selected(page) == "demo-0-model-0-leader"
