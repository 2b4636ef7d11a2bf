"""What a shell offers behind `grove rules` and `grove explain`: ids and names that exist, and never a word of trouble."""

from __future__ import annotations

import pytest

from .processes import SET, WRONG, Grove


def offered(grove: Grove, words: str) -> list[str]:
    ended = grove(_GROVE_COMPLETE="bash_complete", COMP_WORDS=f"grove {words}", COMP_CWORD=str(len(words.split())))
    assert (ended.code, ended.err) == (0, "")
    return [line.rpartition(",")[2] for line in ended.out.split()]


def test_rules_are_offered_by_their_ids(grove: Grove) -> None:
    assert {"podgang/base", "podgang/scaled"} <= set(offered(grove, "rules podg"))


def test_rules_of_ones_own_are_offered_as_well(grove: Grove) -> None:
    grove.file(
        "own/rules.yaml", "rule: own/service\ndoc: One more.\ngenerate: service.yaml\nforEach: {replica: set.replicas}\nowner: set.ref\n"
    )
    assert offered(grove, "rules --rules own own/") == ["own/service"]


def test_lives_are_offered_behind_their_word(grove: Grove) -> None:
    assert offered(grove, "rules lives tr") == ["training/job", "training/podclique", "training/replica"]
    assert "podgang/base" not in offered(grove, "rules lives podg")


def test_objects_are_offered_by_kind_and_name(grove: Grove) -> None:
    grove.file("set.yaml", SET)
    assert offered(grove, "explain -f set.yaml podg") == ["podgang/demo-0"]
    assert "service/demo-0" in offered(grove, "explain -f set.yaml S")


@pytest.mark.parametrize(
    "words", ["explain -f wrong.yaml pod", "explain -f gone.yaml pod", "explain -f - pod", "explain pod", "rules --rules gone pod"]
)
def test_trouble_offers_nothing_and_says_nothing(grove: Grove, words: str) -> None:
    grove.file("wrong.yaml", WRONG)
    assert offered(grove, words) == []
