"""How fields are named in what people read."""

from __future__ import annotations

import pytest

from applier.outcome import ItemKey, Path, dotted

MAIN = ItemKey((("name", "main"),))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("spec", "replicas"), "spec.replicas"),
        (("spec", "template", "spec", "containers", MAIN, "image"), "spec.template.spec.containers[name=main].image"),
        (("metadata", "labels", "example.com/a"), 'metadata.labels["example.com/a"]'),
        (("spec", "args", 0), "spec.args[0]"),
        (("spec.replicas",), "spec.replicas"),
    ],
)
def test_a_path_is_written_as_people_read_it(path: Path, text: str) -> None:
    assert dotted(path) == text


def test_items_of_associative_lists_are_written_by_their_keys() -> None:
    assert str(ItemKey((("containerPort", 80), ("protocol", "TCP")))) == "[containerPort=80,protocol=TCP]"


def test_items_of_sets_are_written_by_their_value() -> None:
    assert str(ItemKey((("", "a"),))) == "[=a]"
