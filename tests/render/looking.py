"""What tests ask an open page."""

from __future__ import annotations

from typing import Any

import pytest


def position(page: Any, name: str) -> int:
    return int(page.evaluate("name => grove.graph.nodes.findIndex((node) => node.name === name)", name))


def centre(page: Any, name: str) -> tuple[float, float]:
    """Where an object's card is on the screen."""
    index = position(page, name)
    x, y = page.evaluate("at => grove.viewport.toStage(grove.state.layout.x[at] + 100, grove.state.layout.y[at] + 20)", index)
    frame = page.locator("#stage").bounding_box()
    return frame["x"] + x, frame["y"] + y


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
