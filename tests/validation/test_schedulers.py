"""The schedulers of a set's cliques."""

from __future__ import annotations

import pytest

from grove_compiler.model.configuration import read_configuration
from grove_compiler.model.schedulers import scheduler_choices

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
    assert [choice.name for choice in scheduler_choices(pcs("s", cliques), CONFIGURATION)] == chosen


def test_a_choice_names_the_field_of_the_first_clique_that_has_it() -> None:
    cliques = [clique("a"), clique("b"), clique("c")]
    cliques[1]["spec"]["podSpec"]["schedulerName"] = "x"
    cliques[2]["spec"]["podSpec"]["schedulerName"] = "x"
    assert scheduler_choices(pcs("s", cliques), CONFIGURATION)[1].path == "spec.template.cliques[1].spec.podSpec.schedulerName"
