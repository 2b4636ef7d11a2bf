"""Names of everything that is made for a set."""

from __future__ import annotations

from collections.abc import Container

from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.model import names


def of_pod(clique: str, index: int, taken: Container[str] = ()) -> str:
    return names.pod(clique, index, taken.__contains__)


WORDS = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?", fullmatch=True)


def test_a_part_is_called_after_its_owner_and_its_own_name_or_index() -> None:
    assert names.part_of(names.part_of("demo", 1), "router") == "demo-1-router"


@given(WORDS, st.integers(0, 10_000))
def test_a_pod_is_called_after_its_clique_and_five_safe_letters(clique: str, index: int) -> None:
    start, dash, suffix = of_pod(clique, index).rpartition("-")
    assert (start, dash) == (clique, "-")
    assert len(suffix) == 5
    assert set(suffix) <= set("bcdfghjklmnpqrstvwxz2456789")


@given(WORDS, st.integers(0, 10_000), st.sets(WORDS))
def test_a_pods_name_depends_on_its_clique_its_index_and_the_names_that_are_taken(clique: str, index: int, others: set[str]) -> None:
    assert of_pod(clique, index, others) == of_pod(clique, index, set(others))


@given(WORDS, st.integers(0, 10_000), st.integers(1, 5))
def test_a_name_that_is_taken_moves_on_to_the_next(clique: str, index: int, times: int) -> None:
    taken: set[str] = set()
    for _ in range(times):
        taken.add(of_pod(clique, index, taken))
    assert len(taken) == times
    assert of_pod(clique, index, taken) not in taken


@given(WORDS, st.integers(0, 10_000))
def test_a_name_comes_back_when_it_is_free_again(clique: str, index: int) -> None:
    first = of_pod(clique, index)
    second = of_pod(clique, index, {first})
    assert of_pod(clique, index, {second}) == first


@given(WORDS, st.sets(st.integers(0, 100_000), min_size=2, max_size=50))
def test_pods_of_one_clique_have_different_names(clique: str, indices: set[int]) -> None:
    taken: set[str] = set()
    for index in sorted(indices):
        name = of_pod(clique, index, taken)
        assert name not in taken
        taken.add(name)


def test_the_names_of_pods_never_change_from_release_to_release() -> None:
    """A changed name would be a second pod for an index whose first is not in the cache yet."""
    assert [of_pod("demo-0-router", index) for index in range(3)] == [
        "demo-0-router-c9qtc",
        "demo-0-router-75h92",
        "demo-0-router-27ms4",
    ]


def test_suffixes_are_spread_over_the_whole_alphabet() -> None:
    suffixes = [of_pod("demo-0-router", index)[-5:] for index in range(2000)]
    for position in range(5):
        assert {suffix[position] for suffix in suffixes} == set(names.SUFFIX_ALPHABET)
