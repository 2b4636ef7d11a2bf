"""What tests ask an open page."""

from __future__ import annotations

from typing import Any

import pytest


def position(page: Any, name: str) -> int:
    return int(page.evaluate("name => grove.graph.nodes.findIndex((node) => node.name === name)", name))


def centre(page: Any, name: str) -> tuple[float, float]:
    """Where an object's card is on the screen."""
    return point(page, f"grove.state.layout.items[grove.state.layout.of[{position(page, name)}]]", 100, 20)


def point(page: Any, place: str, right: float, down: float) -> tuple[float, float]:
    """Where on the screen a point of a card or box is, `right` and `down` from its left top; `place` is an expression that gives it."""
    x, y = page.evaluate(
        f"([right, down]) => {{ const at = {place}; return grove.viewport.toStage(at.x + right, at.y + down); }}", [right, down]
    )
    frame = page.locator("#stage").bounding_box()
    return frame["x"] + x, frame["y"] + y


def open_all(page: Any) -> None:
    """Opens every gang and stack."""
    button = page.locator("#fold")
    if button.is_visible() and button.inner_text() == "Open all":
        button.click()


def cards(page: Any) -> list[tuple[str, str, int]]:
    """What is drawn: of each card its type, the name on it, and how many objects are on it."""
    found = page.evaluate(
        "grove.state.layout.items.map(({ type, index, members }) => [type, grove.graph.nodes[index].name, members.length])"
    )
    return [tuple(each) for each in found]


def selected(page: Any) -> str:
    """The name of the selected object, empty if there is none."""
    return str(page.evaluate("grove.graph.nodes[grove.state.selected]?.name ?? ''"))


def view(page: Any) -> list[float]:
    return list(page.evaluate("[grove.viewport.scale, grove.viewport.x, grove.viewport.y]"))


def wait_until(page: Any, expression: str) -> None:
    """Asks until it is so; the page's policy does not let playwright's own waiting evaluate text."""
    for _ in range(250):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(20)
    pytest.fail(f"never came true: {expression}")


def listed(page: Any) -> list[str]:
    return list(page.evaluate("grove.outline.items.map((index) => grove.graph.nodes[index].name)"))
