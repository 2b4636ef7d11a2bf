"""`-o html`, without a browser: what stands in the page, and what cannot get out of its place."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_cli.render import as_html as module
from grove_cli.render.as_html import LIVE, SCRIPTS, as_html, embedded, page_data, page_of
from grove_cli.render.picture import draw, simplify
from grove_compiler.graph.graph import CompiledGraph
from grove_compiler.source.yaml_writer import write_yaml
from tests.suite.effort import runs
from tests.suite.rows import rows

from .sample import for_people, node, unpack, workload

FOLDER = Path(module.__file__).parent / "page"
NASTY = [
    "</script><script>alert(1)</script>",
    "<!--",
    "<img src=x onerror=alert(1)>",
    "{{ data }}",
    "&lt;",
    "\u2028",
    "'\"`${x}",
    "\ud800",
    "\x00",
]


class Page(HTMLParser):
    """The elements of a page, and the text of those that matter here."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self.inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.inside = dict(attrs).get("type") or tag

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        self.texts[self.inside] = self.texts.get(self.inside, "") + data


def page(graph: CompiledGraph | None = None, docs: dict[str, str] | None = None) -> Page:
    return Page(as_html(for_people(graph), docs or {}))


def data(graph: CompiledGraph | None = None) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(page(graph).texts["application/json"])
    return found


def test_every_script_of_the_folder_is_in_the_page_once() -> None:
    assert sorted([*SCRIPTS, *LIVE]) == sorted(path.name for path in FOLDER.glob("*.js"))
    text = page().texts["module"]
    assert all((FOLDER / name).read_text() in text for name in SCRIPTS)


def test_the_sources_of_the_page_are_short() -> None:
    assert all(len(path.read_text().splitlines()) <= 400 for path in FOLDER.iterdir())


def test_the_page_names_no_address() -> None:
    assert not re.findall(r"(?:https?:)?//[a-z0-9-]+\.", as_html(for_people(CompiledGraph([], {})), {}))
    wanted = {"src", "href", "action", "data", "poster", "srcset"}
    assert {value for _, attributes in page().tags for name, value in attributes.items() if name in wanted} == {"#list"}


def test_no_slot_is_left_empty() -> None:
    assert "{{" not in as_html(for_people(CompiledGraph([], {})), {})


def test_the_policy_allows_this_script_and_this_style_alone() -> None:
    found = page()
    (policy,) = (str(each["content"]) for _, each in found.tags if each.get("http-equiv") == "Content-Security-Policy")
    for name, key in (("script", "module"), ("style", "style")):
        digest = base64.b64encode(hashlib.sha256(found.texts[key].encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


def test_the_page_uses_neither_html_from_text_nor_code_from_text() -> None:
    forbidden = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|XMLHttpRequest|import\(")
    assert not [path.name for path in FOLDER.glob("*.js") if forbidden.search(path.read_text())]


def test_only_a_page_that_is_served_asks_for_anything() -> None:
    asks = re.compile(r"fetch\(|EventSource")
    assert [path.name for path in FOLDER.glob("*.js") if asks.search(path.read_text())] == [*LIVE]
    assert "connect-src" not in as_html(for_people(), {})


def test_a_page_that_is_served_may_ask_its_own_server_alone() -> None:
    found = Page(page_of({**page_data(for_people(), {}, {}, {}), "live": "1", "notes": []}, live=True))
    (policy,) = (str(each["content"]) for _, each in found.tags if each.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none';")
    assert policy.endswith("; connect-src 'self'")
    assert "EventSource" in found.texts["module"]


@rows("name", NASTY)
def test_no_name_adds_an_element(name: str) -> None:
    graph = CompiledGraph([node("Service", name, metadata={"annotations": {name: name}})], {})
    declared = draw(graph, {})
    declared.vertices[0].name = name
    text = as_html(simplify(declared), {"some/rule": name}).encode("utf-8", "backslashreplace").decode()
    assert [tag for tag, _ in Page(text).tags] == [tag for tag, _ in page().tags]


@settings(max_examples=runs(50))
@given(st.text(st.characters(exclude_categories=[])))
def test_embedded_json_is_plain_and_says_the_same(text: str) -> None:
    written = embedded({"key": text})
    assert json.loads(written) == {"key": text}
    assert written.isascii()
    assert not set(written) & set("<>&")


def test_names_reach_the_page_unchanged() -> None:
    for name in NASTY:
        assert data(CompiledGraph([node("Service", name)], {}))["nodes"][1][1] == name


def test_the_yaml_of_each_object_is_that_of_compile() -> None:
    graph = workload()
    found = data(graph)
    texts = [unpack(found["parts"], each[7]) for each in found["nodes"][1:]]
    assert texts == [write_yaml([each.object]) for each in graph.nodes]
    assert [yaml.load(text, yaml.CSafeLoader) for text in texts] == [each.object for each in graph.nodes]


def test_an_object_that_is_not_known_has_no_yaml() -> None:
    found = json.loads(Page(as_html(draw(workload(), {}), {})).texts["application/json"])
    assert found["nodes"][0][7] == -1


def test_objects_refer_to_each_other_by_position() -> None:
    graph = workload()
    found = data(graph)
    names = [f"{kind}/{namespace}/{name}" for kind, name, namespace, *_ in found["nodes"]]
    owners = [names[each[5]] for each in found["nodes"][1:]]
    assert owners == [each.owner.id for each in graph.nodes if each.owner is not None]
    assert {names[each[6]] for each in found["nodes"] if each[6] >= 0} == {"PodGang/ml/demo-0", "PodGang/ml/demo-0-model-0"}


def test_a_rule_comes_with_its_documentation() -> None:
    found = json.loads(page(docs={"pod/clique": "A pod."}).texts["application/json"])
    assert ["pod/clique", "A pod."] in found["rules"]


def test_the_title_names_the_sets() -> None:
    assert page().texts["title"] == "demo · grove graph"
    assert page(CompiledGraph([node("Service", "a", owner=None)], {})).texts["title"] == "objects · grove graph"


def test_two_thousand_objects_fit_in_a_page_of_a_megabyte() -> None:
    graph = workload(replicas=6, members=33, worker_pods=4)
    assert len(graph.nodes) > 1900
    assert len(as_html(for_people(graph), {})) < 1_000_000
