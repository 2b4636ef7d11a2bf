"""The pages for people who do not see them or use no mouse: axe finds nothing in any of their states."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grove_cli.render.picture import Picture
from tests.cli.running import ROOT, run
from tests.serve.serving import SET

from .conftest import OpenPage
from .live_cluster import STALLED, Cluster
from .looking import centre, open_all, wait_until
from .sample import for_people, of_sets, workload

SCHEMES = ["light", "dark"]
PICTURES = {
    "a set": for_people,
    "several sets": lambda: of_sets("chat", "code", "draw"),
    "folded": lambda: for_people(workload(replicas=30)),
}
UNSURE = "color-contrast"
"""What axe cannot tell of symbols and of texts on a picture; the contrast of all colours of the page has a test of its own."""


def faults(page: Any) -> list[str]:
    """What axe finds wrong, of any impact, or cannot tell; each with the first element that has it."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options={"resultTypes": ["violations", "incomplete"]}).response
    assert len(found["passes"]) > 5, "nothing was looked at"
    unsure = [one for one in found["incomplete"] if one["id"] != UNSURE]
    return [f"{one['impact']} {one['id']}: {one['nodes'][0]['html']}" for one in (*found["violations"], *unsure)]


def open_sections(page: Any) -> None:
    """Opens whatever the page shows on demand."""
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("picture", PICTURES.values(), ids=PICTURES)
def test_axe_finds_nothing_in_a_picture(picture: Any, scheme: str, open_page: OpenPage) -> None:
    drawn: Picture = picture()
    page = open_page(drawn, color_scheme=scheme)
    assert faults(page) == []
    open_all(page)
    open_sections(page)
    page.evaluate("grove.choose(grove.graph.nodes.findIndex((node) => node.kind === 'PodClique'), 'reveal')")
    assert page.locator("#yaml").is_visible()
    assert faults(page) == []


def test_axe_finds_nothing_in_a_narrow_window(open_page: OpenPage) -> None:
    page = open_page(for_people(), viewport={"width": 420, "height": 800})
    assert faults(page) == []
    page.locator("#sidebar-toggle").click()
    assert faults(page) == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_axe_finds_nothing_in_a_live_page_with_a_timeline(scheme: str, live_page: Any, cluster: Cluster) -> None:
    live_page.emulate_media(color_scheme=scheme)
    assert faults(live_page) == []
    cluster.do(lambda: cluster.served.report("PodCliqueSet", "demo", conditions=[STALLED]))
    wait_until(live_page, "!document.getElementById('notes').hidden")
    live_page.evaluate(f"location.hash = '{SET}'")
    wait_until(live_page, "!document.getElementById('why').hidden && !document.getElementById('timeline-of').hidden")
    open_sections(live_page)
    assert faults(live_page) == []
    live_page.locator("#timeline-open").click()
    wait_until(live_page, "document.querySelector('#timeline[open] svg') !== null")
    assert faults(live_page) == []


def test_axe_finds_nothing_in_the_picture_of_a_timeline(browser: Any, tmp_path: Path) -> None:
    drawn = tmp_path / "timeline.html"
    picture = run("timeline", "chat", "--snapshot", str(ROOT / "docs/snapshots/rolled-service.yaml"), "-o", "svg").out
    drawn.write_text(f'<!doctype html><html lang="en"><title>Timeline</title><main><h1>Timeline</h1>{picture}</main></html>', "utf-8")
    page = browser.new_page()
    page.goto(drawn.as_uri())
    assert "chat" in page.locator("svg title").first.inner_html()
    assert faults(page) == []
    page.close()


def test_axe_does_find_what_is_wrong(open_page: OpenPage) -> None:
    page = open_page(for_people())
    page.mouse.click(*centre(page, "demo-0-router"))
    page.evaluate("document.getElementById('details-close').removeAttribute('aria-label')")
    page.evaluate("document.getElementById('details-close').replaceChildren()")
    assert [one.split(":")[0] for one in faults(page)] == ["critical button-name"]
