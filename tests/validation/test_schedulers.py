"""The schedulers of a set's cliques."""

from __future__ import annotations

import pytest

from grove_compiler.model.expanded.context import scheduler_uses
from grove_compiler.model.inputs.configuration import Configuration

from .sets import clique, pcs

CONFIGURATION = Configuration({"scheduler": {"defaultProfileName": "kai-scheduler", "profiles": [{"name": "kai-scheduler"}]}})


@pytest.mark.parametrize(
    ("named", "chosen"),
    [
        ([""], ["kai-scheduler"]),
        (["", "kai-scheduler"], ["kai-scheduler"]),
        (["volcano", ""], ["volcano", "kai-scheduler"]),
        (["x", "y", "x"], ["x", "y"]),
        ([], []),
    ],
)
def test_each_scheduler_is_told_once_and_that_of_the_first_clique_first(named: list[str], chosen: list[str]) -> None:
    cliques = [clique(f"c{number}") for number in range(len(named))]
    for manifest, name in zip(cliques, named, strict=True):
        manifest["spec"]["podSpec"]["schedulerName"] = name
    assert [use.scheduler for use in scheduler_uses(pcs("s", cliques), CONFIGURATION)] == chosen


def test_it_is_the_first_clique_that_has_a_scheduler() -> None:
    cliques = [clique("a"), clique("b"), clique("c")]
    cliques[1]["spec"]["podSpec"]["schedulerName"] = "x"
    cliques[2]["spec"]["podSpec"]["schedulerName"] = "x"
    assert [use.clique.name for use in scheduler_uses(pcs("s", cliques), CONFIGURATION)] == ["a", "b"]
