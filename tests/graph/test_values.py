"""Field paths, references and diagnostics as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.graph.diagnostic import Diagnostic, Severity, has_errors
from grove_compiler.graph.field_path import FieldPath, parse, render
from grove_compiler.graph.node import ObjectRef
from tests.suite.rows import rows

PATHS: dict[str, FieldPath] = {
    "": (),
    "spec": ("spec",),
    "spec.template.cliques[0].name": ("spec", "template", "cliques", 0, "name"),
    "metadata.labels[app.kubernetes.io/name]": ("metadata", "labels", "app.kubernetes.io/name"),
    "metadata.labels[a b]": ("metadata", "labels", "a b"),
    "[0]": (0,),
    "[0][1].a": (0, 1, "a"),
    "a-b.c_d": ("a-b", "c_d"),
    "[a.b].c": ("a.b", "c"),
    "a[]": ("a", ""),
}


@rows(("text", "path"), PATHS.items())
def test_a_path_is_rendered_as_kubernetes_writes_it(text: str, path: FieldPath) -> None:
    assert render(path) == text


@rows(("text", "path"), PATHS.items())
def test_the_text_of_a_path_is_read_back(text: str, path: FieldPath) -> None:
    assert parse(text) == path


KEYS = st.text(st.characters(exclude_characters="[]"), min_size=1, max_size=6).filter(lambda key: not (key.isascii() and key.isdigit()))


@given(st.lists(st.integers(0, 20) | KEYS, max_size=5))
def test_any_path_is_read_back_from_its_text(path: list[str | int]) -> None:
    assert parse(render(path)) == tuple(path)


@given(st.text("ab.[]0-", max_size=12))
def test_any_text_is_read_as_some_path(text: str) -> None:
    assert isinstance(parse(text), tuple)


def test_an_unclosed_bracket_runs_to_the_end() -> None:
    assert parse("a[b.c") == ("a", "b.c")


@pytest.mark.parametrize(("namespace", "id"), [("", "Thing/a"), ("b", "Thing/b/a")])
def test_a_reference_has_the_id_of_its_object(namespace: str, id: str) -> None:
    assert ObjectRef("v1", "Thing", namespace, "a").id == id


PLACES = {
    "a.yaml:3:7": ("a.yaml", 3, 7),
    "a.yaml:3": ("a.yaml", 3, 0),
    "a.yaml": ("a.yaml", 0, 7),
    "": ("", 0, 0),
}


@pytest.mark.parametrize(("text", "place"), PLACES.items())
def test_a_place_is_as_long_as_what_is_known(text: str, place: tuple[str, int, int]) -> None:
    assert Diagnostic("a", "error", "b", file=place[0], line=place[1], column=place[2]).place == text


@pytest.mark.parametrize(("severities", "expected"), [([], False), (["warning"], False), (["warning", "error"], True)])
def test_warnings_alone_are_no_errors(severities: list[Severity], expected: bool) -> None:
    assert has_errors([Diagnostic("a", severity, "b") for severity in severities]) is expected
