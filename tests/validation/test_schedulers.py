"""The schedulers of a set's cliques."""

from __future__ import annotations

import pytest

from grove_compiler.model.inputs.configuration import read_configuration
from grove_compiler.model.spec.schedulers import first_with_each_scheduler, scheduler_of

from .sets import clique, pcs

CONFIGURATION = read_configuration({"scheduler": {"defaultProfileName": "kai-scheduler", "profiles": [{"name": "kai-scheduler"}]}})


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
    first = first_with_each_scheduler(pcs("s", cliques), CONFIGURATION)
    assert [scheduler_of(clique, CONFIGURATION) for clique in first] == chosen


def test_it_is_the_first_clique_that_has_a_scheduler() -> None:
    cliques = [clique("a"), clique("b"), clique("c")]
    cliques[1]["spec"]["podSpec"]["schedulerName"] = "x"
    cliques[2]["spec"]["podSpec"]["schedulerName"] = "x"
    assert [clique.name for clique in first_with_each_scheduler(pcs("s", cliques), CONFIGURATION)] == ["a", "b"]
