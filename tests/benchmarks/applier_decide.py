"""How long one decision takes: `python -m tests.benchmarks.applier_decide [--objects 1000]`.

Mixed objects of about 2 KB as a server returned them; CPU time, the best of five.
"""

from __future__ import annotations

import argparse
import copy
import json
import time
from collections.abc import Callable
from typing import Any

from applier.decision import Verdict, decide
from applier.ref import Kind, Manifest
from tests.applier.decision.schemas import recorded
from tests.applier.decision.typical import MANAGER, manifests, stored


def objects(count: int) -> list[tuple[Manifest, Manifest]]:
    """Intents and the live objects that a server made of them, each with a name of its own and shared with nothing."""
    both = list(zip(manifests(), stored(), strict=True))
    found = []
    for number in range(count):
        intent, live = copy.deepcopy(both[number % len(both)])
        for one in (intent, live):
            one["metadata"]["name"] = f"object-{number}"
        live["metadata"] |= {"uid": str(number), "resourceVersion": str(number)}
        found.append((intent, live))
    return found


def _changed(pair: tuple[Manifest, Manifest]) -> tuple[Manifest, Manifest]:
    intent = copy.deepcopy(pair[0])
    intent["metadata"].setdefault("labels", {})["changed"] = "yes"
    return intent, pair[1]


def _report(name: str, pairs: list[tuple[Manifest, Manifest]], ask: Callable[[Manifest, Manifest], Any]) -> None:
    best = float("inf")
    for _ in range(5):
        started = time.process_time()
        verdicts = [ask(intent, live) for intent, live in pairs]
        best = min(best, time.process_time() - started)
    same = sum(decision.verdict is Verdict.SAME for decision in verdicts)
    print(f"{name:<16} {best / len(pairs) * 1e6:8.1f} us an object   same {same} of {len(pairs)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objects", type=int, default=1000)
    schemas = recorded()
    pairs = objects(parser.parse_args().objects)
    size = sum(len(json.dumps(live)) for _, live in pairs) / len(pairs)
    print(f"{len(pairs)} objects, {size:.0f} bytes each on average")

    def ask(intent: Manifest, live: Manifest) -> Any:
        return decide(intent, live, schemas.get(Kind.of(intent)), manager=MANAGER)

    _report("unchanged", pairs, ask)
    _report("changed", [_changed(pair) for pair in pairs], ask)


if __name__ == "__main__":
    main()
