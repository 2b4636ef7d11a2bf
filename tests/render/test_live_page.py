"""The page that is served, in a browser: it follows what changes, and nobody has to load it again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.replay.kept import cluster as set_with_objects
from tests.serve.serving import CLIQUE, SET

from .live_cluster import STALLED, Cluster
from .looking import selected, wait_until

OBJECTS = set_with_objects(2)


@pytest.fixture
def page(live_page: Any) -> Any:
    return live_page


def state(page: Any, id: str) -> str:
    found: str = page.evaluate(
        "id => { const node = grove.graph.nodes.find((each) => each.id === id); return node ? `${node.mood}: ${node.state}` : ''; }", id
    )
    return found


def becomes(page: Any, id: str, wanted: str) -> None:
    wait_until(page, f"(grove.graph.nodes.find((each) => each.id === '{id}') ?? {{}}).state === '{wanted}'")


def test_states_follow_what_is_reported(page: Any, cluster: Cluster) -> None:
    assert state(page, CLIQUE) == "waiting: 0/2 ready"
    assert page.locator("#live").inner_text() == "live"
    cluster.do(lambda: cluster.served.report("PodClique", "demo-0-worker", readyReplicas=1))
    becomes(page, CLIQUE, "1/2 ready")


def test_what_dots_mean_is_explained(page: Any) -> None:
    page.get_by_text("Lines and keys").click()
    assert page.locator("#moods").inner_text().split("\n") == ["ready", "waits", "has failed", "is being deleted", "does not exist yet"]


def test_the_timeline_of_a_set_opens_and_closes_by_keyboard(page: Any, cluster: Cluster) -> None:
    page.evaluate(f"location.hash = '{CLIQUE}'")
    wait_until(page, f"grove.graph.nodes[grove.state.selected]?.id === '{CLIQUE}'")
    assert page.locator("#timeline-open").is_hidden()
    page.evaluate(f"location.hash = '{SET}'")
    wait_until(page, "!document.getElementById('timeline-of').hidden")
    page.locator("#timeline-open").focus()
    page.keyboard.press("Enter")
    wait_until(page, "document.querySelector('#timeline[open] svg') !== null")
    assert page.locator("#timeline svg title").first.inner_html().startswith("demo: 0 of 2 replicas")
    page.keyboard.press("Escape")
    assert page.locator("#timeline").is_hidden()


def test_an_object_that_is_chosen_says_what_it_waits_for_and_how_far_it_is(page: Any, cluster: Cluster) -> None:
    page.evaluate(f"location.hash = '{CLIQUE}'")
    wait_until(page, "!document.getElementById('why').hidden")
    assert "└─ " in page.locator("#why-text").inner_text()
    cluster.do(lambda: cluster.served.report("PodClique", "demo-0-worker", readyReplicas=1))
    wait_until(page, "document.getElementById('facts').textContent.includes('1/2 ready')")


def test_what_waits_for_nothing_says_nothing(page: Any) -> None:
    page.evaluate(f"location.hash = '{CLIQUE}'")
    wait_until(page, "!document.getElementById('why').hidden")
    page.evaluate("location.hash = 'Service/default/demo-0'")
    wait_until(page, "document.getElementById('why').hidden")


def test_another_graph_comes_in_its_place_and_what_is_chosen_stays_so(page: Any, cluster: Cluster) -> None:
    page.evaluate(f"location.hash = '{CLIQUE}'")
    count = page.evaluate("grove.graph.nodes.length")
    cluster.do(lambda: cluster.served.scale(3))
    wait_until(page, f"grove.graph.nodes.length > {count}")
    becomes(page, "PodClique/default/demo-2-worker", "missing")
    assert selected(page) == "demo-0-worker"
    assert page.locator("#details-name").inner_text() == "demo-0-worker"
    assert "3 gangs" in page.locator("#numbers").inner_text()


def test_kinds_that_are_switched_off_stay_so(page: Any, cluster: Cluster) -> None:
    page.get_by_role("checkbox", name="Service", exact=False).last.uncheck()
    off = page.evaluate("grove.graph.nodes.filter((node) => !grove.state.shown[node.index]).map((node) => node.kind)")
    count = page.evaluate("grove.graph.nodes.length")
    cluster.do(lambda: cluster.served.scale(3))
    wait_until(page, f"grove.graph.nodes.length > {count}")
    now = page.evaluate("grove.graph.nodes.filter((node) => !grove.state.shown[node.index]).map((node) => node.kind)")
    assert off
    assert set(now) == set(off)


def test_gangs_that_were_opened_stay_open(page: Any, cluster: Cluster) -> None:
    cluster.do(lambda: cluster.served.scale(40))
    wait_until(page, "[...grove.graph.kinds.entries()].some(([kind, count]) => kind === 'PodGang' && count === 40)")
    page.evaluate("grove.refold()")
    page.evaluate("location.hash = 'PodGang/default/demo-30'")
    wait_until(page, "grove.state.selected >= 0")
    page.evaluate("grove.toggleSelected()")
    opened = "[...grove.folds.opened].filter((key) => key.startsWith('gang ')).map((key) => grove.graph.nodes[Number(key.slice(5))].name)"
    before = page.evaluate(opened)
    cluster.do(lambda: cluster.served.scale(41))
    wait_until(page, "grove.graph.kinds.get('PodGang') === 41")
    assert before == page.evaluate(opened) == ["demo-30"]


def test_a_set_that_waits_is_told_above_and_leads_to_it(page: Any, cluster: Cluster) -> None:
    assert page.locator("#notes").is_hidden()
    cluster.do(lambda: cluster.served.report("PodCliqueSet", "demo", conditions=[STALLED]))
    wait_until(page, "!document.getElementById('notes').hidden")
    assert page.locator("#notes li").inner_text() == "default/demo: Held: a <b>rule</b> fails"
    page.locator("#notes button").click()
    assert selected(page) == "demo"
    assert page.locator("#details-kind").inner_text() == SET.partition("/")[0]


def test_a_server_that_is_gone_is_told(page: Any, cluster: Cluster) -> None:
    cluster.end()
    wait_until(page, "document.getElementById('live').dataset.state === 'lost'")
    assert "connection lost" in page.locator("#live").inner_text()


def test_a_cluster_without_sets_says_so_and_shows_the_first_that_comes(page: Any, cluster: Cluster) -> None:
    objects = [one["metadata"]["uid"] for one in OBJECTS]
    cluster.do(lambda: cluster.served.take_away(objects))
    wait_until(page, "!grove.graph.nodes.length")
    assert page.locator("#nothing").inner_text() == "Nothing to draw: there is no PodCliqueSet."
    anew = json.loads(json.dumps(OBJECTS).replace('"uid-', '"another-'))  # a UID is never given twice
    cluster.do(lambda: cluster.served.cluster.seed(*anew))
    wait_until(page, "grove.graph.nodes.length > 0")
    becomes(page, CLIQUE, "0/2 ready")
    assert page.locator("#nothing").is_hidden()
