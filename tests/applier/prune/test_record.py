"""The record on the parent: what is read, what is refused, and what is written."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from applier.prune import ApplySetError
from applier.prune.applyset import (
    GROUP_KINDS,
    GROUP_RESOURCES,
    ID,
    NAMESPACES,
    TOOLING,
    ApplySetScope,
    parent_manifest,
    read_record,
    tool_of,
)
from applier.ref import Kind, Manifest, Ref
from tests.suite.rows import rows

from .sets import applyset

GOOD = {TOOLING: "grove/0.9", GROUP_KINDS: "ConfigMap,Deployment.apps", NAMESPACES: "a,b"}


def parent(annotations: dict[str, str] | None = None, label: str = applyset().id) -> Manifest:
    labels = {ID: label} if label else {}
    metadata = {"name": "shop", "namespace": "default", "uid": "7", "resourceVersion": "9"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {**metadata, "labels": labels, "annotations": annotations or {}}}


def bare(**metadata: Any) -> Manifest:
    """A parent without the fields that a server leaves out when nothing is in them."""
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "shop", "namespace": "default", **metadata}}


@pytest.mark.parametrize(("tooling", "tool"), [("kubectl/v1.35", "kubectl"), ("helm/v3/x", "helm/v3"), ("kpt", "kpt"), ("", "")])
def test_the_tool_is_what_stands_before_its_version(tooling: str, tool: str) -> None:
    assert tool_of(tooling) == tool


def test_a_record_says_where_members_are() -> None:
    record = read_record(applyset(), parent(GOOD))
    assert record.scope == ApplySetScope(frozenset({("", "ConfigMap"), ("apps", "Deployment")}), frozenset({"a", "b", "default"}))


def test_a_parent_without_a_namespace_adds_none() -> None:
    cluster_wide = applyset(kind=Kind("example.org", "v1", "Shop"), namespace="")
    assert read_record(cluster_wide, parent(GOOD, label=cluster_wide.id)).scope.namespaces == {"a", "b"}


def test_a_record_says_which_parent_it_was_read_from() -> None:
    record = read_record(applyset(), parent(GOOD))
    assert (record.uid, record.resource_version) == ("7", "9")


def test_an_empty_record_is_one_of_an_empty_set() -> None:
    record = read_record(applyset(), parent({TOOLING: "grove/1", GROUP_KINDS: ""}))
    assert record.scope == ApplySetScope(frozenset(), frozenset({"default"}))


def test_without_a_parent_there_is_an_empty_record() -> None:
    record = read_record(applyset(), None)
    assert (record.scope, record.resource_version, record.tooling) == (ApplySetScope(), "", "")


def test_a_parent_of_somebodys_own_kind_has_to_be_there() -> None:
    with pytest.raises(ApplySetError, match=r"Shop\.example\.org/default/shop does not exist"):
        read_record(applyset(kind=Kind("example.org", "v1", "Shop")), None)


@rows(
    ("found", "said"),
    [
        (parent({}), f"is not the parent of an ApplySet: it has no annotation {TOOLING}"),
        (parent({**GOOD, TOOLING: "helm/v4"}), "managed by helm/v4, not by grove: prune it with that tool, or choose another object"),
        (parent(GOOD, label=""), "was copied or renamed"),
        (parent(GOOD, label="applyset-other-v1"), "was copied or renamed"),
        (bare(), f"is not the parent of an ApplySet: it has no annotation {TOOLING}"),
        (bare(annotations=GOOD), "was copied or renamed"),
        (parent({TOOLING: "grove/1"}), "does not list the kinds"),
        (parent({TOOLING: "grove/1", GROUP_RESOURCES: ""}), "does not list the kinds"),
    ],
    ids=["no tooling", "another tool's", "no id", "another id", "neither label nor annotation", "no label", "no kinds", "no resources"],
)
def test_a_parent_that_is_not_ours_is_refused(found: Manifest, said: str) -> None:
    with pytest.raises(ApplySetError, match=said):
        read_record(applyset(), found)


def test_an_old_record_names_resources() -> None:
    record = read_record(applyset(), parent({TOOLING: "grove/1", GROUP_RESOURCES: "configmaps,deployments.apps"}))
    assert record.resources == {"configmaps", "deployments.apps"}


def test_resources_do_not_count_where_there_are_kinds() -> None:
    record = read_record(applyset(), parent({**GOOD, GROUP_RESOURCES: "secrets"}))
    assert record.resources == frozenset()


def test_the_parent_is_written_with_the_record_and_nothing_else() -> None:
    scope = ApplySetScope(frozenset({("apps", "Deployment"), ("", "Secret")}), frozenset({"b", "a", "default"}))
    assert parent_manifest(applyset(), scope) == {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": "shop",
            "namespace": "default",
            "labels": {ID: applyset().id},
            "annotations": {TOOLING: "grove/1.0", GROUP_KINDS: "Deployment.apps,Secret", NAMESPACES: "a,b"},
        },
    }


def test_a_parent_without_a_namespace_names_all_namespaces() -> None:
    cluster_wide = applyset(kind=Kind("example.org", "v1", "Shop"), namespace="")
    manifest = parent_manifest(cluster_wide, ApplySetScope(frozenset(), frozenset({"default"})))
    assert manifest["metadata"]["annotations"][NAMESPACES] == "default"
    assert "namespace" not in manifest["metadata"]


def test_objects_without_a_namespace_add_none() -> None:
    assert ApplySetScope.of([Ref("", "Node", "", "n"), Ref("", "Pod", "a", "p")]) == ApplySetScope(
        frozenset({("", "Node"), ("", "Pod")}), frozenset({"a"})
    )


words = st.text("abcdefghij", min_size=1, max_size=5)
scopes = st.builds(
    ApplySetScope,
    st.frozensets(st.tuples(st.just("") | st.builds("{}.{}".format, words, words), words.map(str.title))),
    st.frozensets(words),
)


@given(scopes)
def test_what_is_written_is_what_is_read(scope: ApplySetScope) -> None:
    written = parent_manifest(applyset(), scope)
    assert read_record(applyset(), written).scope == scope | ApplySetScope(namespaces=frozenset({"default"}))


@given(scopes, scopes)
def test_both_together_are_wider_than_each(one: ApplySetScope, other: ApplySetScope) -> None:
    both = one | other
    assert one.kinds <= both.kinds
    assert other.namespaces <= both.namespaces
