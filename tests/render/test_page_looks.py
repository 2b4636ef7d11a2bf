"""How the page looks and sounds: themes, contrast, names, narrow windows, the keyboard."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import OpenPage
from .looking import centre, wait_until
from .sample import for_people

SCHEMES = ["light", "dark"]


@pytest.fixture
def page(open_page: OpenPage) -> Any:
    return open_page(for_people())


def test_the_theme_follows_the_system_until_it_is_chosen(open_page: OpenPage) -> None:
    page = open_page(for_people(), color_scheme="dark")
    paper = "grove.state.colours.paper"
    dark = page.evaluate(paper)
    page.locator("#theme").click()
    assert (page.locator("#theme").inner_text(), page.evaluate(paper) == dark) == ("Theme: light", False)
    page.locator("#theme").click()
    assert (page.locator("#theme").inner_text(), page.evaluate(paper) == dark) == ("Theme: dark", True)


def test_a_system_that_turns_dark_turns_the_picture_dark(page: Any) -> None:
    before = page.evaluate("grove.state.colours.paper")
    page.emulate_media(color_scheme="dark")
    wait_until(page, f"grove.state.colours.paper !== '{before}'")


LUMINANCE = """name => {
  const probe = document.createElement("span"); probe.style.color = `var(--${name})`; document.body.append(probe);
  const [red, green, blue] = getComputedStyle(probe).color.match(/[\\d.]+/g).map((part) => {
    const value = part / 255; return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  probe.remove(); return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}"""


def contrast(page: Any, one: str, other: str) -> float:
    """By WCAG 2: from 1 for equal colours to 21 for black on white."""
    dark, light = sorted(float(page.evaluate(LUMINANCE, name)) for name in (one, other))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_texts_have_the_contrast_that_accessibility_asks_for(scheme: str, open_page: OpenPage) -> None:
    page = open_page(for_people(), color_scheme=scheme)
    texts = [(ink, paper) for ink in ("ink", "muted") for paper in ("paper", "panel", "card", "band", "gang", "hover")]
    texts += [(ink, "panel") for ink in ("accent", "yaml-key", "yaml-string", "yaml-number", "yaml-word")] + [("ink", "mark")]
    assert [pair for pair in texts if contrast(page, *pair) < 4.5] == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_colours_that_mean_something_stand_out_from_what_is_behind_them(scheme: str, open_page: OpenPage) -> None:
    page = open_page(for_people(), color_scheme=scheme)
    kinds = ("set", "group", "clique", "pod", "gang", "access", "network", "scaling", "device", "topology", "other")
    meaning = [*(f"kind-{kind}" for kind in kinds), *(f"domain-{number}" for number in range(8)), "accent"]
    assert [name for name in meaning for behind in ("card", "panel") if contrast(page, name, behind) < 3] == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_canvas_shows_the_colours_of_kinds_gangs_and_domains(scheme: str, open_page: OpenPage) -> None:
    page = open_page(for_people(), color_scheme=scheme)
    seen = set(
        page.evaluate("""() => {
      const canvas = document.getElementById("canvas"); const seen = new Set();
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      for (let at = 0; at < data.length; at += 4) seen.add(`rgb(${data[at]}, ${data[at + 1]}, ${data[at + 2]})`);
      return [...seen];
    }""")
    )
    for name in ("paper", "card", "kind-clique", "kind-gang", "kind-pod", "domain-0", "domain-1"):
        assert page.evaluate(f"grove.state.colours['{name}']") in seen, name


def test_forced_colours_do_not_make_the_picture_one_colour(open_page: OpenPage) -> None:
    page = open_page(for_people(), forced_colors="active")
    colours = page.evaluate("[...new Set(Object.values(grove.state.colours))]")
    assert len(colours) > 20


def test_everything_that_can_be_pressed_has_a_name(page: Any) -> None:
    page.mouse.click(*centre(page, "demo-0-router"))
    nameless = """[...document.querySelectorAll("button, input, [tabindex]")].filter((each) => {
      const by = each.getAttribute("aria-labelledby"); const text = each.labels?.[0]?.textContent.trim() || each.textContent.trim();
      return !(each.getAttribute("aria-label") || (by && document.getElementById(by).textContent) || text);
    }).map((each) => each.outerHTML)"""
    assert page.evaluate(nameless) == []


def test_everything_is_reached_with_the_tab_key(page: Any) -> None:
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id"))
    assert {"sidebar-toggle", "zoom-in", "theme", "query", "in-yaml", "list", "stage"} <= reached


def test_a_narrow_window_shows_the_graph_first(open_page: OpenPage) -> None:
    page = open_page(for_people(), viewport={"width": 420, "height": 800})
    assert page.locator("#sidebar").is_hidden()
    assert page.locator("#stage").bounding_box()["width"] == 420
    page.locator("#sidebar-toggle").click()
    assert page.locator("#query").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 420


def test_without_scripts_the_page_says_what_to_do(open_page: OpenPage, browser: Any) -> None:
    address = open_page(for_people()).url
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto(address)
    page.get_by_text("grove graph -o tree").wait_for(state="visible")
    context.close()
