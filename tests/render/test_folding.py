"""What the page draws as one card, so that texts can be read at every size; and how it opens and folds again."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import pytest

from grove_cli.render.picture import Picture
from grove_compiler.graph.graph import CompiledGraph
from tests.suite.rows import rows

from .conftest import OpenPage, Pages
from .looking import cards, open_all, point, position, selected, wait_until
from .sample import for_people, node, workload

SIZES = {
    "30 objects": workload(members=3),
    "80 objects": workload(replicas=2, members=4, worker_pods=3),
    "300 objects": workload(replicas=3, members=9, worker_pods=5),
    "3,000 objects": workload(replicas=8, members=35, worker_pods=4),
    "400 sets' worth of replicas": workload(replicas=400, members=1),
    "150 replicas of four gangs each": workload(replicas=150, members=4, worker_pods=1),
    "a gang of 600 pods": workload(members=1, worker_pods=600),
    "900 objects without a gang": CompiledGraph([node("ConfigMap", f"demo-{each}") for each in range(900)], {}),
}
WINDOWS = [(1280, 800), (1920, 1080), (900, 700)]
READ_TEXTS = """() => {
  const sizes = []; const context = grove.painter.context; const draw = context.fillText.bind(context);
  context.fillText = (text, ...place) => {
    const size = Number(/([\\d.]+)px/.exec(context.font)[1]);
    sizes.push([text, size * grove.viewport.scale, /^600/.test(context.font)]);
    draw(text, ...place);
  };
  grove.painter.draw(); context.fillText = draw; return sizes;
}"""


large = cache(lambda size: for_people(SIZES[size]))
"""The picture of one of `SIZES`."""
three_replicas = cache(lambda members: for_people(workload(replicas=3, members=members)))


class Drawn(NamedTuple):
    """What a page draws: texts with their sizes and whether they are bold, cards, the kinds of those that are no gangs, objects by card."""

    texts: list[tuple[str, float, bool]]
    cards: list[tuple[str, str, int]]
    kinds: list[str]
    members: list[int]


Draw = Callable[[str, tuple[int, int]], Drawn]


@pytest.fixture(scope="module")
def draw(pages: Pages) -> Draw:
    """Draws one of `SIZES` in a window, once for all who ask about it."""

    @cache
    def drawn(size: str, window: tuple[int, int]) -> Drawn:
        page = pages.open(large(size), viewport={"width": window[0], "height": window[1]})
        kinds = page.evaluate("grove.state.layout.items.filter((item) => !item.gangs).map(({ index }) => grove.graph.nodes[index].kind)")
        members = page.evaluate("grove.state.layout.items.flatMap((item) => item.members)")
        found = Drawn(page.evaluate(READ_TEXTS), cards(page), kinds, members)
        assert pages.tab.complaints() == []
        return found

    return drawn


def by_window(window: object) -> str | None:
    return f"{window[0]}x{window[1]}" if isinstance(window, tuple) else None


@rows("window", WINDOWS, ids=by_window)
@rows("size", SIZES)
def test_every_card_has_a_name_that_can_be_read(size: str, window: tuple[int, int], draw: Draw) -> None:
    drawn = draw(size, window)
    names = [(text, size) for text, size, _ in drawn.texts if size >= 9.5]
    gangs = [(text, size) for text, size, bold in drawn.texts if bold and size < 9.5]
    assert gangs == []
    assert len(names) >= len(drawn.cards)


@rows("window", [*WINDOWS, (800, 600)], ids=by_window)
@rows("members", [9, 14, 16, 20])
def test_every_card_of_gangs_has_its_number_of_pods(members: int, window: tuple[int, int], open_page: OpenPage) -> None:
    """A picture of 58 gangs fitted a small window only with names alone, where runs of gangs have room for numbers."""
    page = open_page(three_replicas(members), viewport={"width": window[0], "height": window[1]})
    counts = [text for text, size, _ in page.evaluate(READ_TEXTS) if " pod" in text and size >= 9]
    assert len(counts) == sum(kind in ("gang", "gangs") for kind, *_ in cards(page))


@rows("window", WINDOWS, ids=by_window)
@rows("size", SIZES)
def test_every_card_says_its_kind_in_a_size_that_can_be_read(size: str, window: tuple[int, int], draw: Draw) -> None:
    kinds = draw(size, window).kinds
    texts = [text.rpartition(" × ")[2] for text, height, _ in draw(size, window).texts if height >= 8.5]
    shown = [text if text == kind else f"{text[:3]}…" for kind in kinds for text in texts if text in (kind, kind.removeprefix("PodClique"))]
    assert len(shown) >= len(kinds)


def test_gangs_say_how_many_pods_and_gpus_they_hold(open_page: OpenPage) -> None:
    page = open_page(large("300 objects"))
    texts = [text for text, *_ in page.evaluate(READ_TEXTS)]
    assert "demo-0-model-3" in texts
    assert texts.count("2 cliques · 6 pods · 24 GPUs") == 24


def test_runs_of_gangs_say_which_and_how_many(open_page: OpenPage) -> None:
    page = open_page(large("3,000 objects"))
    texts = [text for text, *_ in page.evaluate(READ_TEXTS)]
    assert "demo-3-model-0 to 9" in texts
    assert "10 gangs · 50 pods · 200 GPUs" in texts


def test_replicas_of_two_gangs_each_are_two_sorts_of_runs(open_page: OpenPage) -> None:
    page = open_page(for_people(workload(replicas=200, worker_pods=1)))
    names = page.evaluate("grove.state.layout.items.filter((item) => item.type === 'gangs').map((item) => item.lines[0][0])")
    assert names[0] == "demo-0 to 9"
    assert names[-1] == "demo-(190 to 199)-model-0"
    assert len(names) == 40


def test_a_run_of_gangs_never_goes_over_two_replicas(open_page: OpenPage) -> None:
    page = open_page(large("3,000 objects"))
    runs = page.evaluate(
        "grove.state.layout.items.filter((item) => item.gangs).map((item) => item.gangs.map((at) => grove.graph.nodes[at].name))"
    )
    assert all(len({name.rpartition("-")[0] for name in run}) == 1 for run in runs)


@rows("size", SIZES)
def test_every_object_is_on_one_card(size: str, draw: Draw) -> None:
    assert sorted(draw(size, WINDOWS[0]).members) == list(range(len(SIZES[size].nodes) + 1))


def test_no_two_cards_or_open_gangs_overlap_whatever_is_open(open_page: OpenPage) -> None:
    page = open_page(large("300 objects"))
    for name in ("demo-0-model-3", "demo-1", "demo-2-model-6"):
        page.evaluate(f"grove.choose({position(page, name)}, 'show'); grove.toggleSelected()")
    meeting = """(() => { const { items, boxes } = grove.state.layout; const inside = new Set(boxes.map((box) => box.gang));
      const apart = (a, b) => a.x >= b.x + b.width || b.x >= a.x + a.width || a.y >= b.y + b.height || b.y >= a.y + a.height;
      const free = items.filter((item) => !inside.has(grove.graph.nodes[item.index].gang));
      const all = [...free, ...boxes]; return all.filter((a, at) => all.some((b, other) => other > at && !apart(a, b))).length; })()"""
    assert page.evaluate("grove.state.layout.boxes.length") >= 2
    assert page.evaluate(meeting) == 0


@pytest.fixture
def folded(open_page: OpenPage) -> Any:
    """A page with a card for each gang."""
    return open_page(large("300 objects"))


def gang_card(page: Any, name: str) -> tuple[float, float]:
    gang = f"grove.state.layout.items.find((item) => item.gangs && grove.graph.nodes[item.index].name === '{name}')"
    return point(page, gang, 60, 20)


def open_gangs(page: Any) -> list[str]:
    return list(page.evaluate("grove.state.layout.boxes.map((box) => grove.graph.nodes[box.gang].name)"))


def test_a_click_opens_a_gang_and_brings_it_into_view(folded: Any) -> None:
    folded.mouse.click(*gang_card(folded, "demo-1-model-5"))
    assert open_gangs(folded) == ["demo-1-model-5"]
    left, top, right, bottom = folded.evaluate("grove.viewport.window")
    box = folded.evaluate("grove.state.layout.boxes[0]")
    assert left <= box["x"]
    assert top <= box["y"]
    assert box["x"] + box["width"] <= right
    assert box["y"] + box["height"] <= bottom


def test_the_handle_of_an_open_gang_folds_it_again(folded: Any) -> None:
    folded.mouse.click(*gang_card(folded, "demo-1-model-5"))
    width = folded.evaluate("grove.state.layout.boxes[0].width")
    folded.mouse.click(*point(folded, "grove.state.layout.boxes[0]", width - 16, 14))
    assert open_gangs(folded) == []


def test_open_all_draws_every_object_and_fold_brings_the_cards_back(folded: Any) -> None:
    before = cards(folded)
    open_all(folded)
    assert {type for type, *_ in cards(folded)} == {"object"}
    folded.locator("#fold").click()
    assert cards(folded) == before


def test_enter_opens_and_folds_the_gang_of_the_selected_object(folded: Any) -> None:
    folded.evaluate(f"grove.choose({position(folded, 'demo-2-model-1')}, 'reveal')")
    folded.keyboard.press("Enter")
    assert open_gangs(folded) == ["demo-2-model-1"]
    folded.keyboard.press("Enter")
    assert open_gangs(folded) == []


def test_an_object_that_is_searched_for_is_opened(folded: Any) -> None:
    folded.fill("#query", "demo-2-model-4-worker-00003")
    folded.locator("#query").press("Enter")
    assert selected(folded) == "demo-2-model-4-worker-00003"
    assert ("object", "demo-2-model-4-worker-00003", 1) in cards(folded)


def test_an_object_deep_in_a_run_of_gangs_is_opened(open_page: OpenPage) -> None:
    page = open_page(large("3,000 objects"), fragment="#Pod%2Fml%2Fdemo-5-model-21-worker-00002")
    assert selected(page) == "demo-5-model-21-worker-00002"
    assert ("object", "demo-5-model-21-worker-00002", 1) in cards(page)


def test_an_object_in_a_stack_is_opened(open_page: OpenPage) -> None:
    page = open_page(large("900 objects without a gang"), fragment="#ConfigMap%2Fml%2Fdemo-777")
    assert ("object", "demo-777", 1) in cards(page)


def test_arrows_stop_at_folded_gangs_without_opening_them(folded: Any) -> None:
    folded.evaluate(f"grove.choose({position(folded, 'demo-1-model-0')}, 'reveal')")
    folded.keyboard.press("ArrowDown")
    assert selected(folded).startswith("demo-")
    assert open_gangs(folded) == []


def test_a_folded_card_lights_up_when_something_on_it_is_found(folded: Any) -> None:
    folded.fill("#query", "demo-2-model-4-worker-00003")
    lit = folded.evaluate("[...grove.state.litItems].map((at) => grove.graph.nodes[grove.state.layout.items[at].index].name)")
    assert lit == ["demo-2-model-3"]


def test_a_state_stands_on_the_card_of_its_gang(open_page: OpenPage) -> None:
    page = open_page(large("300 objects"), states={"PodGang/ml/demo-0-model-3": "Running"})
    texts = [text for text, *_ in page.evaluate(READ_TEXTS)]
    assert [text for text in texts if text.startswith("Running")] == ["Running · rack required"]


@cache
def picture_with_many_domains() -> Picture:
    return for_people(workload(replicas=6, members=23))


def test_each_of_many_mnnvl_domains_has_a_number_of_its_own(open_page: OpenPage) -> None:
    page = open_page(picture_with_many_domains())
    numbers = page.evaluate("grove.graph.domains.filter((domain) => domain.type === 'mnnvl').map((domain) => domain.number)")
    assert numbers == list(range(1, 139))
    page.get_by_text("138 MNNVL domains").click()
    assert page.locator("#domains .swatch.numbered").all_inner_texts() == [str(number) for number in numbers]


def test_the_number_of_a_domain_stands_on_its_objects(open_page: OpenPage) -> None:
    page = open_page(picture_with_many_domains())
    page.evaluate(f"grove.choose({position(page, 'demo-5-model-21-cd')}, 'show'); grove.viewport.zoom(1.2)")
    wait_until(page, "grove.viewport.scale > 0.7")
    assert "138" in [text for text, *_ in page.evaluate(READ_TEXTS)]
