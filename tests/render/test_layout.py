"""Where the page puts objects: never on top of each other, always in their gang, and left to right by level."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import pytest

from grove_cli.render.picture import Picture
from grove_compiler.graph.graph import CompiledGraph

from .conftest import OpenPage, Pages
from .looking import open_all
from .sample import for_people, node, of_sets, workload

WIDTH, HEIGHT = 208, 52


class Rectangle(NamedTuple):
    x: float
    y: float
    width: float = WIDTH
    height: float = HEIGHT

    def holds(self, other: Rectangle) -> bool:
        right, bottom = other.x + other.width <= self.x + self.width, other.y + other.height <= self.y + self.height
        return self.x <= other.x and self.y <= other.y and right and bottom

    def meets(self, other: Rectangle) -> bool:
        apart = other.x >= self.x + self.width or self.x >= other.x + other.width
        return not (apart or other.y >= self.y + self.height or self.y >= other.y + other.height)


class Layout(NamedTuple):
    picture: Picture
    cards: list[Rectangle]
    boxes: dict[str, Rectangle]
    whole: Rectangle


def many(number: int) -> CompiledGraph:
    return CompiledGraph([node("ConfigMap", f"demo-{each}") for each in range(number)], {})


GRAPHS = {
    "one gang": workload(members=1),
    "a few gangs": workload(replicas=2, members=3),
    "gangs of two forms": workload(replicas=3, members=12, worker_pods=3),
    "many gangs": workload(replicas=6, members=33, worker_pods=4),
    "large gangs": workload(replicas=2, members=2, worker_pods=300),
    "no gang": many(7),
    "many without a gang": many(900),
}


@pytest.fixture(scope="module", params=list(GRAPHS.values()), ids=list(GRAPHS))
def layout(request: pytest.FixtureRequest, pages: Pages) -> Layout:
    picture = for_people(request.param)
    page = pages.open(picture)
    open_all(page)
    found = read(page, picture)
    assert pages.tab.complaints() == []
    return found


def read(page: Any, picture: Picture) -> Layout:
    """Reads where everything stands; `cards` are by object, so that those on one card have the same."""
    found = page.evaluate("(({ items, of, boxes, width, height }) => ({ items, of: [...of], boxes, width, height }))(grove.state.layout)")
    boxes = {picture.vertices[box.pop("gang")].id: Rectangle(**box) for box in found["boxes"]}
    places = [Rectangle(item["x"], item["y"], item["width"], item["height"]) for item in found["items"]]
    cards = [places[number] for number in found["of"]]
    return Layout(picture, cards, boxes, Rectangle(0, 0, found["width"], found["height"]))


def overlapping(rectangles: Iterable[Rectangle]) -> list[tuple[Rectangle, Rectangle]]:
    """Neighbours from left to right that meet; sweeps, so that thousands are no trouble."""
    found: list[tuple[Rectangle, Rectangle]] = []
    active: list[Rectangle] = []
    for each in sorted(rectangles):
        active = [other for other in active if other.x + other.width > each.x]
        found += [(other, each) for other in active if other.meets(each)]
        active.append(each)
    return found


def test_no_two_objects_overlap(layout: Layout) -> None:
    assert overlapping(layout.cards) == []


def test_no_two_gangs_overlap(layout: Layout) -> None:
    assert overlapping(layout.boxes.values()) == []


def test_every_object_is_in_the_box_of_its_gang_and_in_no_other(layout: Layout) -> None:
    for vertex, card in zip(layout.picture.vertices, layout.cards, strict=True):
        assert not vertex.gang or layout.boxes[vertex.gang].holds(card)
        assert vertex.gang or not any(box.meets(card) for box in layout.boxes.values())


def test_every_gang_has_a_box(layout: Layout) -> None:
    assert set(layout.boxes) == {vertex.gang for vertex in layout.picture.vertices if vertex.gang}


def test_in_each_gang_levels_go_from_left_to_right(layout: Layout) -> None:
    places: dict[str, dict[int, list[float]]] = {}
    for vertex, card in zip(layout.picture.vertices, layout.cards, strict=True):
        places.setdefault(vertex.gang, {}).setdefault(vertex.level, []).append(card.x)
    for levels in places.values():
        for before, after in pairwise(sorted(levels)):
            assert max(levels[before]) + WIDTH < min(levels[after])


def test_everything_is_within_the_picture(layout: Layout) -> None:
    assert all(layout.whole.holds(each) for each in (*layout.cards, *layout.boxes.values()))


def test_the_picture_is_not_a_thread(layout: Layout) -> None:
    assert 1 / 3 < layout.whole.width / layout.whole.height < 8


def test_a_small_picture_has_one_column_for_each_level(open_page: OpenPage) -> None:
    page = open_page(for_people(workload(members=1)))
    assert page.evaluate("grove.state.layout.columns.map((column) => column.level)") == [-1, 0, 1, 2, 3]


def test_gangs_stand_in_the_order_of_their_numbers(open_page: OpenPage) -> None:
    picture = for_people(workload(members=13))
    page = open_page(picture)
    open_all(page)
    scaled = sorted((box.y, box.x, gang.rpartition("-")[2]) for gang, box in read(page, picture).boxes.items() if "model" in gang)
    assert [int(number) for *_, number in scaled] == list(range(12))


def test_everything_is_in_view_at_first(open_page: OpenPage) -> None:
    page = open_page(for_people(workload(replicas=3, members=12)))
    left, top, right, bottom = page.evaluate("grove.viewport.window")
    width, height = page.evaluate("[grove.state.layout.width, grove.state.layout.height]")
    assert (left <= 0, top <= 0, right >= width, bottom >= height) == (True, True, True, True)


SETS = ("chat", "draft", "embed", "search")
FOUND = """() => {
  const { sets, items } = grove.state.layout, { nodes } = grove.graph;
  return [sets.map((set) => [nodes[set.index].name, set.x, set.y, set.width, set.height]),
    items.filter((item) => item.gangs).map((item) => [nodes[item.index].name, item.x, item.y, item.width, item.height])];
}"""


def test_the_gangs_of_each_of_several_sets_stand_in_its_frame_by_replica(open_page: OpenPage) -> None:
    page = open_page(of_sets(*SETS))
    if page.locator("#fold").inner_text() == "Fold":
        page.locator("#fold").click()
    sets, gangs = page.evaluate(FOUND)
    frames = {name: Rectangle(*place) for name, *place in sets}
    assert [*frames] == [*SETS]
    assert overlapping(frames.values()) == []
    cards = {name: Rectangle(*place) for name, *place in gangs}
    assert [name for name in cards if not frames[name.partition("-")[0]].holds(cards[name])] == []
    assert [name for name in cards if name.startswith("chat")] == ["chat-0", "chat-0-model-0", "chat-0-model-1"]


def test_one_set_needs_no_frame(open_page: OpenPage) -> None:
    page = open_page(of_sets("chat"))
    assert page.evaluate("grove.state.layout.sets") == []


def test_gangs_of_a_replica_stand_together(open_page: OpenPage) -> None:
    page = open_page(for_people(workload(replicas=3, members=3)))
    names = [name.split("-") for name, *_ in page.evaluate(FOUND)[1]]
    assert names, "it is folded"
    assert [int(name[1]) for name in names] == sorted(int(name[1]) for name in names)


FRAMES = """() => grove.state.layout.frames.map(({ domain, x, y, width, height }) => [domain.scope, domain.name, x, y, width, height])"""


def test_constraints_within_a_gang_are_nested_frames_around_their_objects(open_page: OpenPage) -> None:
    picture = for_people(workload(members=2))
    page = open_page(picture)
    open_all(page)
    cards = read(page, picture).cards
    frames = [(scope, name, Rectangle(*place)) for scope, name, *place in page.evaluate(FRAMES)]
    assert {scope for scope, *_ in frames} == {"scaling group", "clique"}
    members = {domain.name: set(domain.members) for domain in picture.domains if domain.type == "topology" and domain.scope != "gang"}
    framed: dict[str, set[str]] = {name: set() for name in members}
    for _, name, frame in frames:
        inside = {vertex.id for vertex, card in zip(picture.vertices, cards, strict=True) if frame.holds(card)}
        assert inside, name
        framed[name] |= inside
    assert framed == members
