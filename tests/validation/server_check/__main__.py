"""Compares lint with a real API server on mutants of valid templates: `python -m tests.validation.server_check [COUNT [SEED [SUBJECT…]]]`.

Prints everything on which they differ, for pods, autoscalers, claims and whole sets. The exit status is 1 when the server refuses more
than 2 % of what it refuses although lint passes it, or takes anything that lint refuses and Grove itself would not.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

from applier.testing.control_plane import ControlPlane
from tests.shipped import program
from tests.validation.server_check.mutants import Mutant, mutants
from tests.validation.server_check.subjects import SUBJECTS, Subject
from tests.validation.server_check.verdicts import Judge, Verdict

MAX_MISSED = 0.02


@dataclass
class Comparison:
    """How many mutants the server refused, which of these pass lint, and which lint refuses though the server takes them."""

    count: int
    refused: int = 0
    missed: list[tuple[Mutant, Verdict]] = field(default_factory=list)
    wrong: list[tuple[Mutant, Verdict]] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        return len(self.missed) <= MAX_MISSED * self.refused and not self.wrong


def compare(judge: Judge, subject: Subject, seed: int, count: int) -> Comparison:
    """Lets both judge so many mutants."""
    result = Comparison(count)
    for mutant in mutants(seed, count, subject):
        verdict = judge.judge(subject, mutant.value)
        result.refused += bool(verdict.server)
        if verdict.server and not verdict.lint:
            result.missed.append((mutant, verdict))
        elif verdict.lint and not verdict.server and not subject.stricter:
            result.wrong.append((mutant, verdict))
    return result


def main(arguments: list[str]) -> int:
    count, seed = (*map(int, arguments[:2]), *(2000, 1)[len(arguments[:2]) :])
    good = True
    with ControlPlane.start() as plane:
        judge = Judge(plane, program())
        for subject in SUBJECTS:
            if not arguments[2:] or subject.name in arguments[2:]:
                result = compare(judge, subject, seed, count)
                good = good and result.is_good
                print(f"== {subject.name}")
                for title, cases in (("The server refuses, lint passes", result.missed), ("Lint refuses, the server takes", result.wrong)):
                    print(f"{title}: {len(cases)}")
                    for mutant, verdict in cases:
                        print(f"- {mutant}\n    {verdict.server or verdict.lint}")
                share = len(result.missed) / max(result.refused, 1)
                print(
                    f"{count} mutants of {subject.name}, {result.refused} refused by the server; "
                    f"{len(result.missed)} of these pass lint ({share:.1%}), {len(result.wrong)} others are refused by lint alone\n",
                    flush=True,
                )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
