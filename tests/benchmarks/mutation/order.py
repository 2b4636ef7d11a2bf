"""Decides which tests a mutant meets, and in which order: those first that are likely to find it, and cheap."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tests.benchmarks.mutation.mutant import Mutant

HEAD = 12
"""Tests that go first whatever their files; the others go by file, so that what a file's tests share is made once."""


class Cost(NamedTuple):
    """What a test needs without a fault, in seconds of CPU and on the clock."""

    cpu: float
    clock: float


class Order:
    """The tests of each area, with what is known about them: costs, the mutants that they reach, and those they have found."""

    def __init__(self, costs: dict[str, Cost], reached: dict[int, set[str]]) -> None:
        self._costs, self._reached = costs, reached
        self._killers = defaultdict[str, list[str]](list)

    def found(self, mutant: Mutant, test: str) -> None:
        """Notes that a test has found a mutant, so that it goes first for the other ones of that file."""
        killers = self._killers[mutant.file]
        if test in killers:
            killers.remove(test)
        killers.insert(0, test)

    def of(self, number: int, mutant: Mutant, tests: Iterable[str]) -> list[str]:
        """Returns the tests in order; none where no test reaches the statement.

        Of those that do not reach it, the ones of the same files are kept: they may use what another test has made for the file.
        """
        reaching = set(self._costs) if mutant.is_rule else self._reached.get(number, set())
        files = {file_of(test) for test in reaching}
        wanted = [test for test in tests if file_of(test) in files and test in self._costs]
        words = _words(mutant.file)
        killers = {test: rank for rank, test in enumerate(self._killers[mutant.file])}
        by_file = defaultdict[str, list[str]](list)
        for test in wanted:
            by_file[file_of(test)].append(test)
        shared = {file: len(words & _words(file)) for file in by_file}

        def rank(test: str) -> tuple[int, bool, int, float]:
            return killers.get(test, len(killers)), test not in reaching, -shared[file_of(test)], self._costs[test].cpu

        head = [test for test in sorted(wanted, key=rank)[:HEAD] if test in reaching]
        mean = {file: sum(self._costs[test].cpu for test in tests) / len(tests) for file, tests in by_file.items()}
        taken = set(head)
        rest = [test for file in sorted(by_file, key=lambda file: (-shared[file], mean[file])) for test in by_file[file]]
        return head + [test for test in rest if test not in taken]


def chunks(tests: Iterable[str], count: int) -> Iterator[list[str]]:
    """Yields the tests in parts of about the same number, each with whole files."""
    by_file = defaultdict[str, list[str]](list)
    for test in tests:
        by_file[file_of(test)].append(test)
    parts: list[list[str]] = [[] for _ in range(count)]
    for group in sorted(by_file.values(), key=len, reverse=True):
        min(parts, key=len).extend(group)
    yield from (part for part in parts if part)


def file_of(test: str) -> str:
    """Returns the file of a test."""
    return test.split("::")[0]


def _words(path: str) -> set[str]:
    """Returns the words of a path without its top folder, in the singular."""
    return {word.removesuffix("s") for word in re.split(r"[^a-z]+", path.split("/", 1)[-1]) if len(word) > 3 and word != "test"}
