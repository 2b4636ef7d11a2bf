"""Compares lint with a real API server on mutants of pod templates: `python -m tests.validation.server_check [COUNT [SEED]]`.

Prints everything on which they differ. The exit status is 1 when the server refuses more than 2 % of what it refuses although lint
passes it, or takes anything that lint refuses.
"""

from __future__ import annotations

import sys

from applier.testing.control_plane import ControlPlane
from grove_compiler.compile import VOCABULARY
from grove_operator import rulebook
from tests.validation.server_check.mutants import Mutant, mutants
from tests.validation.server_check.verdicts import Judge, Verdict

MOST_MISSED = 0.02
API_SERVER_FLAGS = ["--allow-privileged=true"]
"""What every cluster has that runs a network or a device plugin."""


def main(arguments: list[str]) -> int:
    count, seed = (*map(int, arguments), *(2000, 1)[len(arguments) :])
    refused = 0
    missed: list[tuple[Mutant, Verdict]] = []
    wrong: list[tuple[Mutant, Verdict]] = []
    with ControlPlane.start(api_server_flags=API_SERVER_FLAGS) as plane:
        judge = Judge(plane, rulebook.read().program(VOCABULARY))
        for mutant in mutants(seed, count):
            verdict = judge.judge(mutant.pod_spec)
            refused += bool(verdict.server)
            if verdict.differs:
                (missed if verdict.server else wrong).append((mutant, verdict))
    for title, cases in (("The server refuses, lint passes", missed), ("Lint refuses, the server takes", wrong)):
        print(f"{title}: {len(cases)}")
        for mutant, verdict in cases:
            print(f"- {mutant}\n    {verdict.server or verdict.lint}")
    print(
        f"\n{count} mutants, {refused} refused by the server; {len(missed)} of these pass lint ({len(missed) / max(refused, 1):.1%}), ",
        end="",
    )
    print(f"and {len(wrong)} of the {count - refused} others do not")
    return 1 if len(missed) > MOST_MISSED * refused or wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
