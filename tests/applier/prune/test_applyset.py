"""A set's id, label and members, as KEP-3659 has them."""

from __future__ import annotations

from typing import Any

import pytest

from applier.desired import Graph
from applier.plan.membership import PART_OF
from applier.prune import ApplySetError
from applier.prune.applyset import applyset_id
from applier.ref import Ref

from .sets import CONFIG_MAP, applyset, config, graph

OURS = applyset().id


def test_the_id_is_the_one_that_kubectl_computes() -> None:
    assert applyset_id(Ref("", "Secret", "test", "my-set")) == "applyset-0eFHV8ySqp7XoShsGvyWFQD3s96yqwHmzc4e0HR1dsY-v1"


@pytest.mark.parametrize(
    "other", [applyset(name="other"), applyset(namespace="other"), applyset(kind=CONFIG_MAP)], ids=["name", "namespace", "kind"]
)
def test_another_parent_has_another_id(other: Any) -> None:
    assert other.id != OURS


def test_every_object_gets_the_label() -> None:
    labelled = applyset().label(graph(config("a"), config("b", labels={"x": "1"})))
    assert [one.manifest["metadata"]["labels"] for one in labelled.objects.values()] == [{PART_OF: OURS}, {"x": "1", PART_OF: OURS}]


def test_manifests_are_not_changed_when_they_are_labelled() -> None:
    before = graph(config("a", labels={"x": "1"}))
    applyset().label(before)
    assert next(iter(before.objects.values())).manifest == config("a", labels={"x": "1"})


def test_what_waits_for_what_is_kept() -> None:
    [desired] = graph(config("a")).objects.values()
    desired.source, desired.after = "file.yaml:3", [Ref("", "ConfigMap", "default", "b")]
    [labelled] = applyset().label(Graph([desired])).objects.values()
    assert (labelled.source, labelled.after, labelled.policy) == (desired.source, desired.after, desired.policy)


def test_an_object_that_has_the_label_already_keeps_it() -> None:
    labelled = applyset().label(graph(config("a", labels={PART_OF: OURS})))
    assert len(labelled.objects) == 1


def test_an_object_with_the_label_of_another_set_is_refused() -> None:
    with pytest.raises(ApplySetError, match=r"part of another ApplySet by their own label .*: ConfigMap/default/a, ConfigMap/default/b"):
        applyset().label(graph(config("a", labels={PART_OF: "x"}), config("b", labels={PART_OF: "y"}), config("c")))


def test_the_parent_cannot_be_a_member() -> None:
    with pytest.raises(ApplySetError, match="ConfigMap/default/shop contains the record of the ApplySet"):
        applyset(kind=CONFIG_MAP).label(graph(config("shop")))
