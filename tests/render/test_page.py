"""The page in a browser: what people see, choose and hear."""

from __future__ import annotations

import re
from typing import Any

import pytest

from grove_compiler.graph.graph import CompiledGraph
from grove_compiler.source.yaml_writer import write_yaml

from .conftest import OpenPage
from .looking import centre, listed, selected, view, wait_until
from .sample import for_people, node, workload

NASTY = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\u202ereversed", "a\nb", "<b>&lt;</b>", "constructor"]


@pytest.fixture
def page(open_page: OpenPage) -> Any:
    return open_page(for_people(), {"pod/clique": "A clique has its pods."})


def test_a_click_on_an_object_shows_it_with_its_yaml(page: Any) -> None:
    page.mouse.click(*centre(page, "demo-0-model-0-worker"))
    expected = next(each.object for each in workload().nodes if each.object["metadata"]["name"] == "demo-0-model-0-worker")
    assert page.locator("#details-name").inner_text() == "demo-0-model-0-worker"
    assert page.locator("#yaml").text_content() == write_yaml([expected])


def test_an_object_says_its_rule_owner_gang_and_domains(page: Any) -> None:
    page.mouse.click(*centre(page, "demo-0-model-1-worker-00000"))
    facts = page.locator("#facts").inner_text()
    for text in (
        "Step 5",
        "pod/clique",
        "A clique has its pods.",
        "PodClique demo-0-model-1-worker",
        "PodGang demo-0-model-0",
        "demo-0-model-0-cd",
    ):
        assert text in facts
    assert "kubernetes.io/hostname required (clique demo-0-model-1-worker)" in facts


def test_a_click_on_a_related_object_leads_to_it(page: Any) -> None:
    page.mouse.click(*centre(page, "demo-0-model-0-worker"))
    page.get_by_role("button", name="PodCliqueScalingGroup demo-0-model").first.click()
    assert selected(page) == "demo-0-model"
    page.get_by_text("Owns 4").click()
    assert page.locator("#relations li").first.inner_text() == "PodClique demo-0-model-0-leader"


def test_a_click_on_the_title_of_a_gang_chooses_the_gang(page: Any) -> None:
    box = page.evaluate("grove.state.layout.boxes.find((box) => grove.graph.nodes[box.gang].name === 'demo-0-model-0')")
    x, y = page.evaluate("([x, y]) => grove.viewport.toStage(x, y)", [box["x"] + 30, box["y"] + 10])
    page.locator("#stage").click(position={"x": x, "y": y})
    assert (selected(page), page.locator("#details-kind").inner_text()) == ("demo-0-model-0", "PodGang")


def test_a_click_beside_everything_closes_the_object(page: Any) -> None:
    page.mouse.click(*centre(page, "demo-0-router"))
    page.locator("#stage").click(position={"x": 3, "y": 3})
    assert selected(page) == ""
    assert page.locator("#details").is_hidden()


def test_what_is_related_stands_out_and_the_rest_does_not(page: Any) -> None:
    page.mouse.click(*centre(page, "demo-0-model-0-leader"))
    names = page.evaluate("[...grove.state.lit].map((index) => grove.graph.nodes[index].name).sort()")
    assert names == ["demo-0", "demo-0-model", "demo-0-model-0-leader", "demo-0-model-0-leader-00000"]


def test_search_lists_counts_and_marks_what_it_finds(page: Any) -> None:
    page.fill("#query", "Worker pod ")
    assert page.locator("#found").inner_text() == "6 of 22 match"
    assert page.locator("#said").inner_text() == "6 of 22 match"
    assert listed(page)[0] == "demo-0-model-0-worker"
    assert page.locator("#rows .row").first.locator("mark").all_inner_texts() == ["worker", "Pod"]
    assert page.evaluate("grove.state.lit.size") == 6


def test_search_that_finds_nothing_says_so(page: Any) -> None:
    page.fill("#query", "nothing-like-this")
    assert page.locator("#found").inner_text() == "0 of 22 match"
    page.locator("#query").press("Enter")
    assert selected(page) == ""


def test_enter_goes_from_match_to_match_and_round(page: Any) -> None:
    page.fill("#query", "router")
    seen = []
    for key in ("Enter", "Enter", "Enter", "Enter", "Shift+Enter"):
        page.locator("#query").press(key)
        seen.append(selected(page))
    assert seen == ["demo-0-router", "demo-0-router-00000", "demo-0-router-00001", "demo-0-router", "demo-0-router-00001"]


def test_search_looks_into_the_yaml_on_request(page: Any) -> None:
    page.fill("#query", "resourceclaimname")
    assert listed(page) == []
    page.check("#in-yaml")
    assert len(listed(page)) == 10
    assert all("worker" in name or "leader" in name for name in listed(page))


def test_a_kind_that_is_switched_off_is_neither_drawn_nor_listed(page: Any) -> None:
    page.get_by_role("checkbox", name=re.compile("^Pod [0-9]")).uncheck()
    assert page.locator("#found").inner_text() == "14 of 22 objects"
    drawn = page.evaluate("grove.graph.nodes.filter((node) => grove.state.layout.of[node.index] >= 0).map((node) => node.kind)")
    assert len(drawn) == 14
    assert "Pod" not in drawn


def test_only_leaves_one_kind_and_once_more_brings_all_back(page: Any) -> None:
    only = page.get_by_role("button", name="Only PodGang")
    only.click()
    assert listed(page) == ["demo-0", "demo-0-model-0"]
    only.click()
    assert len(listed(page)) == 22


def test_with_every_kind_off_the_page_says_why_it_is_empty(page: Any) -> None:
    page.get_by_role("button", name="Only PodGang").click()
    page.get_by_role("checkbox", name=re.compile("^PodGang")).uncheck()
    assert page.get_by_text("all kinds are hidden").is_visible()


def test_a_domain_lights_up_its_members_until_it_is_pressed_again(page: Any) -> None:
    button = page.get_by_role("button", name="MNNVL domain demo-0-cd")
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    of_each = page.evaluate("[...grove.state.lit].map((index) => grove.graph.nodes[index].domains.map((each) => each.name))")
    assert len(of_each) == 7
    assert all("demo-0-cd" in names for names in of_each)
    button.click()
    assert page.evaluate("grove.state.lit") is None


def test_a_set_without_domains_has_no_list_of_them(open_page: OpenPage) -> None:
    assert open_page(for_people(workload(domains=False))).locator("#domains-section").is_hidden()


def test_arrows_walk_over_the_graph(page: Any) -> None:
    page.mouse.click(*centre(page, "demo-0-model-0-leader"))
    page.locator("#stage").focus()
    seen = []
    for key in ("ArrowDown", "ArrowRight", "ArrowUp", "ArrowLeft"):
        page.keyboard.press(key)
        seen.append(selected(page))
    assert seen == ["demo-0-model-0-worker", "demo-0", seen[2], seen[3]]
    assert len(set(seen)) > 2


def test_each_object_that_is_chosen_is_said(page: Any) -> None:
    page.mouse.click(*centre(page, "demo-0-router"))
    assert page.locator("#said").inner_text() == "PodClique demo-0-router, Step 1, gang demo-0"


def test_keys_zoom_fit_and_move(page: Any) -> None:
    page.locator("#stage").focus()
    before = view(page)
    page.keyboard.press("+")
    assert view(page)[0] == pytest.approx(before[0] * 1.25)
    page.keyboard.press("-")
    assert view(page) == pytest.approx(before)
    page.keyboard.press("Shift+ArrowRight")
    assert view(page) == pytest.approx([before[0], before[1] - 80, before[2]])
    page.keyboard.press("0")
    assert view(page) == pytest.approx(before)


def test_slash_goes_to_the_search_and_is_text_there(page: Any) -> None:
    page.locator("#stage").focus()
    page.keyboard.press("/")
    page.keyboard.type("a/b")
    assert page.locator("#query").input_value() == "a/b"


def test_escape_closes_the_object_and_then_the_search(page: Any) -> None:
    page.fill("#query", "router")
    page.locator("#query").press("Enter")
    page.keyboard.press("Escape")
    assert (selected(page), page.locator("#query").input_value()) == ("", "router")
    page.keyboard.press("Escape")
    assert page.locator("#query").input_value() == ""
    assert len(listed(page)) == 22


def test_the_list_is_walked_with_the_keyboard(page: Any) -> None:
    page.locator("#list").focus()
    assert selected(page) == "demo"
    page.keyboard.press("End")
    last = listed(page)[-1]
    assert selected(page) == last
    active = page.locator("#list").get_attribute("aria-activedescendant")
    assert page.locator(f"#{active}").get_attribute("aria-posinset") == "22"
    page.keyboard.press("ArrowUp")
    assert selected(page) == listed(page)[-2]


def test_of_a_long_list_only_what_is_in_sight_is_made(open_page: OpenPage) -> None:
    page = open_page(for_people(workload(replicas=6, members=33, worker_pods=4)))
    assert len(listed(page)) > 1900
    page.locator("#list").focus()
    page.keyboard.press("End")
    assert page.locator("#rows .row").count() < 60
    assert page.locator("#rows .row").last.locator(".name").inner_text() == listed(page)[-1]


def test_the_wheel_zooms_around_the_pointer(page: Any) -> None:
    x, y = centre(page, "demo-0-router")
    page.mouse.move(x, y)
    before = view(page)[0]
    page.mouse.wheel(0, -400)
    wait_until(page, f"grove.viewport.scale > {before}")
    assert centre(page, "demo-0-router") == pytest.approx((x, y), abs=1)


def test_a_drag_moves_the_view_and_chooses_nothing(page: Any) -> None:
    before, (x, y) = view(page), centre(page, "demo-0-router")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 50, y + 30, steps=5)
    page.mouse.up()
    assert view(page) == pytest.approx([before[0], before[1] + 50, before[2] + 30])
    assert selected(page) == ""


def test_a_name_that_is_cut_is_whole_under_the_pointer(page: Any) -> None:
    page.mouse.move(*centre(page, "demo-0-model-0-worker"))
    text = page.locator("#tip").inner_text()
    assert text.splitlines()[0] == "PodClique demo-0-model-0-worker"
    assert "MNNVL domain demo-0-cd" in text


def test_the_address_names_the_object_and_leads_back_to_it(page: Any, open_page: OpenPage) -> None:
    page.mouse.click(*centre(page, "demo-0-model-0-leader"))
    fragment = page.evaluate("location.hash")
    assert fragment == "#PodClique%2Fml%2Fdemo-0-model-0-leader"
    assert selected(open_page(for_people(), fragment=fragment)) == "demo-0-model-0-leader"


@pytest.mark.parametrize("fragment", ["#", "#%", "#Pod/ml/gone", "#%F0%9F%98%80"])
def test_an_address_that_names_nothing_does_no_harm(fragment: str, open_page: OpenPage) -> None:
    assert selected(open_page(for_people(), fragment=fragment)) == ""


def test_names_are_shown_as_text(open_page: OpenPage) -> None:
    nodes = [node(name, name, metadata={"annotations": {name: name}}) for name in NASTY]
    page = open_page(for_people(CompiledGraph(nodes, {})), {"some/rule": NASTY[0]})
    for number, name in enumerate(NASTY, 1):
        page.evaluate(f"grove.choose({number}, 'show')")
        assert page.locator("#details-name").text_content() == name
        assert page.locator("#yaml").text_content() == write_yaml([nodes[number - 1].object])
    assert page.locator("img, b").count() == 0


def test_yaml_of_any_form_is_coloured_without_changing_it(open_page: OpenPage) -> None:
    values = [
        "a: b",
        "# no comment",
        "- x",
        "multi\nline\n",
        "  lead\n\ntrail",
        "'quoted\"",
        "",
        "null",
        "1e3",
        "a\n",
        "|",
        "-",
        "?",
        ": ",
        "x" * 300,
    ]
    parts = {"list": values, "map": {value or "empty": value for value in values}, "deep": [[values, {"a": [{"b": None, "c": 1.5}]}]]}
    made = node("ConfigMap", "odd", data=parts)
    page = open_page(for_people(CompiledGraph([made], {})))
    page.evaluate("grove.choose(1)")
    assert page.locator("#yaml").text_content() == write_yaml([made.object])


def test_yaml_has_a_colour_for_keys_texts_numbers_and_words(open_page: OpenPage) -> None:
    page = open_page(for_people(CompiledGraph([node("ConfigMap", "demo", data={"a": 1, "b": True, "c": "1", "d": "x\ny\n"})], {})))
    page.evaluate("grove.choose(1)")
    found = page.evaluate("[...document.querySelectorAll('#yaml span')].slice(-11).map((each) => [each.className, each.textContent])")
    assert found == [
        ["y-key", "data"],
        *(["y-key", "a"], ["y-number", "1"]),
        *(["y-key", "b"], ["y-word", "true"]),
        *(["y-key", "c"], ["y-string", '"1"']),
        *(["y-key", "d"], ["y-string", "|"], ["y-string", "    x"], ["y-string", "    y"]),
    ]


def test_the_yaml_can_be_copied(page: Any) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.mouse.click(*centre(page, "demo-0-router"))
    page.locator("#copy").click()
    wait_until(page, "document.getElementById('copy').textContent !== 'Copy'")
    assert page.locator("#copy").inner_text() in ("Copied", "Selected: press Ctrl+C")
