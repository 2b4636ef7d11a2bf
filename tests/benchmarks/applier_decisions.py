"""Our decisions against a real server's dry runs: `python -m tests.benchmarks.applier_decisions --pairs 20000 --of nothing`.

Makes random objects as several managers write them, decides on random intents for each, and has the server decide the same: `usual` takes
what people write, `nothing` every spelling of nothing at every path of every kind. Ends with 1 when any decision differs, and prints the
first pairs that do.
"""

from __future__ import annotations

import argparse
import sys
import time

from applier.testing.control_plane import ControlPlane
from tests.applier.decision.nothings import pairs_of_nothing
from tests.applier.decision.oracle import Server, Tally, judge, pairs

_INTENTS = 6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--of", choices=("usual", "nothing"), default="usual")
    parser.add_argument("--seed", type=int, default=0, help="of the first object; the others follow")
    options = parser.parse_args()
    tally, seed, started, done = Tally(), options.seed, time.monotonic(), 0
    with ControlPlane.start(parts=()) as plane:
        server = Server(plane)
        schemas, namespace = server.schemas(), plane.create_namespace()
        while done < options.pairs:
            usual = options.of == "usual"
            for pair in pairs(server, namespace, seed, _INTENTS) if usual else pairs_of_nothing(server, namespace, seed, 2 * _INTENTS):
                judge(server, pair, schemas if usual else server, tally)
                done += 1
            seed += 1
            if seed % 100 == 0:
                print(f"{done} pairs, {len(tally.wrong)} differ", file=sys.stderr)
    words = ", ".join(f"{count} {word}" for word, count in sorted(tally.right.items()))
    print(f"{tally.left_to_server():.1%} of the pairs are left to the server, and accepted by it")
    print(f"{done} pairs in {time.monotonic() - started:.0f} s from seed {options.seed}: {words}; {len(tally.wrong)} differ")
    for wrong in tally.wrong[:5]:
        print(wrong, end="\n\n")
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
