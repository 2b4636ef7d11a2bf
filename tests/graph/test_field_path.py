"""Paths as text and as values."""

from __future__ import annotations

import pytest

from grove_compiler.graph.field_path import FieldPath, parse, reindex

REINDEXED = {
    "a plain path": ("spec.cliques[0].name", ("spec", "cliques", 2, "name"), "spec.cliques[2].name"),
    "two indices": ("a[0].b[1]", ("a", 3, "b", 4), "a[3].b[4]"),
    "a key that upstream does not put in brackets": (
        "spec.cliques[0].annotations.grove.io/mnnvl-group",
        ("spec", "cliques", 1, "annotations", "grove", "io/mnnvl-group"),
        "spec.cliques[1].annotations.grove.io/mnnvl-group",
    ),
    "a key with a bracket": ("metadata.annotations[a[3]]", parse("metadata.annotations[a[3]]"), "metadata.annotations[a[3]]"),
}


@pytest.mark.parametrize(("text", "path", "expected"), REINDEXED.values(), ids=REINDEXED.keys())
def test_a_path_gets_the_indices_of_another_and_stays_as_it_is_written(text: str, path: FieldPath, expected: str) -> None:
    assert reindex(text, path) == expected
