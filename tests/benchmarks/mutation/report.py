"""Prints what was found, keeps it as JSON, and compares it with another run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.mutation.mutant import ERROR, FOUND, NEVER_ENDS, SPENT, STILLBORN, SURVIVED, Identity, Mutant, Result

COLUMNS = (FOUND, NEVER_ENDS, SURVIVED, SPENT, ERROR)


def table(results: Sequence[Result], areas: dict[str, float]) -> Iterator[str]:
    """Yields a row for each area, as Markdown."""
    yield "| area | mutants | found | never ends | survived | budget spent | error | found, % | CPU s each | CPU s of its tests |"
    yield "|---|" + "---:|" * 9
    for name in [*areas, "all"]:
        mine = [result for result in results if name in (result.mutant.area, "all") and result.outcome != STILLBORN]
        counts = [sum(result.outcome == outcome for result in mine) for outcome in COLUMNS]
        found = f"{100 * sum(counts[:2]) / len(mine):.0f}" if mine else ""
        each = f"{sum(result.seconds for result in mine) / len(mine):.1f}" if mine else ""
        cells = [name, len(mine), *counts, found, each, f"{areas[name]:.0f}" if name in areas else ""]
        yield f"| {' | '.join(map(str, cells))} |"


def not_found(results: Sequence[Result]) -> Iterator[str]:
    """Yields a line for each mutant that no test found, with what was changed."""
    for outcome, title in ((SURVIVED, "survived"), (SPENT, "not found before the budget was spent"), (ERROR, "errors")):
        mine = [result for result in results if result.outcome == outcome]
        if mine:
            yield f"\n{title}: {len(mine)}"
            yield from (f"  {_described(result)}" for result in mine)


def _described(result: Result) -> str:
    mutant = result.mutant
    note = f" [{result.by}]" if result.by else ""
    return f"{mutant.place}: {mutant.kind}: {mutant.change}{note}"


def dump(results: Sequence[Result], file: Path, **about: Any) -> None:
    """Writes the results to a file."""
    rows = [{**result.mutant._asdict(), "outcome": result.outcome, "by": result.by, "seconds": result.seconds} for result in results]
    file.write_text(json.dumps({**about, "mutants": rows}, indent=1) + "\n")


def load(file: Path) -> dict[Identity, Result]:
    """Reads the results that another run has written."""
    results = dict[Identity, Result]()
    for row in json.loads(file.read_text())["mutants"]:
        mutant = Mutant(**{name: row[name] for name in Mutant._fields})
        results[mutant.identity] = Result(mutant, row["outcome"], row["by"], row["seconds"])
    return results


class Comparison:
    """What two runs say of the mutants that are in both."""

    def __init__(self, old: dict[Identity, Result], new: Sequence[Result]) -> None:
        pairs = [(old[result.mutant.identity], result) for result in new if result.mutant.identity in old]
        self.count = len(pairs)
        self.lost = [(before, after) for before, after in pairs if before.is_found and not after.is_found and after.outcome != STILLBORN]
        self.won = [after for before, after in pairs if after.is_found and not before.is_found]

    def lines(self) -> Iterator[str]:
        """Yields what has changed."""
        yield f"\n{self.count} mutants are in both runs: {len(self.lost)} are no longer found, {len(self.won)} are newly found"
        for before, after in self.lost:
            yield f"  no longer found ({after.outcome}): {_described(after)}; it was by {before.by}"
        for after in self.won:
            yield f"  newly found: {_described(after)}"
