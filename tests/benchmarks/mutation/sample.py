"""Chooses the mutants of a run: as many of each area, the same ones for the same seed and sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from types import CodeType

from tests.benchmarks.mutation.areas import AREAS, Area
from tests.benchmarks.mutation.code import code_of, does_the_same
from tests.benchmarks.mutation.mutant import Mutant
from tests.benchmarks.mutation.python_mutants import python_mutants
from tests.benchmarks.mutation.rule_mutants import rule_mutants


def sample(root: Path, areas: Sequence[Area], count: int, seed: int) -> list[Mutant]:
    """Returns the share that these areas have in `count` mutants, or all where there are fewer.

    They are chosen by a hash of what each one is: where the product changes, most of the other choices stay. At most one is in a line.
    """
    chosen = list[Mutant]()
    for area in areas:
        number = AREAS.index(area)
        share = count * (number + 1) // len(AREAS) - count * number // len(AREAS)
        chosen += _first(_ranked(root, area, seed), root, share)
    return chosen


def _ranked(root: Path, area: Area, seed: int) -> list[Mutant]:
    """Returns all mutants of an area, by their hash. Lines are not part of it: they move too often."""
    ranked = list[tuple[bytes, Mutant]]()
    for file in area.files(root):
        seen = dict[str, int]()
        for mutant in _all(area, file, (root / file).read_text()):
            what = f"{seed}\0{file}\0{mutant.function}\0{mutant.kind}\0{mutant.change}"
            seen[what] = seen.get(what, 0) + 1
            ranked.append((blake2b(f"{what}\0{seen[what]}".encode()).digest(), mutant))
    return [mutant for _, mutant in sorted(ranked)]


def _all(area: Area, file: str, source: str) -> Iterator[Mutant]:
    make = python_mutants if file.endswith(".py") else rule_mutants
    return make(area.name, file, source)


def _first(mutants: list[Mutant], root: Path, count: int) -> list[Mutant]:
    taken, lines = list[Mutant](), set[tuple[str, int]]()
    for mutant in mutants:
        if len(taken) < count and (mutant.file, mutant.line) not in lines and (mutant.is_rule or _can_be_patched(mutant, root)):
            lines.add((mutant.file, mutant.line))
            taken.append(mutant)
    return sorted(taken)


def _can_be_patched(mutant: Mutant, root: Path) -> bool:
    """Returns whether the code of the function changes, and whether it needs nothing else from around it."""
    source = (root / mutant.file).read_bytes()
    old = code_of(compile(source, mutant.file, "exec", dont_inherit=True), mutant)
    new = code_of(_compiled(mutant, source), mutant)
    return old is not None and new is not None and not does_the_same(old, new) and old.co_freevars == new.co_freevars


def _compiled(mutant: Mutant, source: bytes) -> CodeType:
    return compile(mutant.apply(source), mutant.file, "exec", dont_inherit=True)
