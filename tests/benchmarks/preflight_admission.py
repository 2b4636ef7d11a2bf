"""What it costs to put checks into pods: `python -m tests.benchmarks.preflight_admission [SECONDS]`. Ends with 1 where a goal is missed.

CPU time of a review without HTTPS; then 500 pods a second over HTTPS, whether they are answered or not, each answer timed from when its
question was due. The server has one core to itself and the asker another. Beside ours, in the same run: a handler of the same HTTP library
that lets everything pass, and kopf's admission server. On a busy machine only the CPU times tell anything.
"""

from __future__ import annotations

import sys

from grove_compiler.model.inputs.snapshot import ObjectList
from grove_operator.preflight.process import MUTATE_PODS, Injector
from tests.benchmarks.measure import machine
from tests.benchmarks.open_loop import request
from tests.benchmarks.preflight_servers import DEVICES, SERVERS, pod, review, the_values
from tests.benchmarks.server_load import Loading, conclude, milliseconds, review_table, verdicts
from tests.shipped import program

ROUNDS = 2000
RATE, SECONDS = 500, 30
PASSED, PATCHED = b'"allowed": true', b'"patch": "'
WARM_UP = 2500
"""Questions before the measured ones: as many as it takes until memory and caches are what they stay."""
GOAL = 5.0
"""Milliseconds that 99 of 100 answers of ours take at most."""
DIFFERENT = 512
"""Pods that are asked about in turn."""


def main(seconds: float) -> int:
    print(f"{machine()}\n")
    injector = Injector(the_values(), program(), ObjectList())
    kinds = {"a pod of a gang, three checks": DEVICES, "a pod without GPUs": {"cpu": 1}}
    costs = {what: milliseconds(injector.review, review(pod(0, devices)), ROUNDS) for what, devices in kinds.items()}
    print(review_table("a review of", costs), end="\n\n")
    requests = [request(MUTATE_PODS, review(pod(number, DEVICES))) for number in range(DIFFERENT)]
    loading = Loading("tests.benchmarks.preflight_servers", RATE, seconds, WARM_UP)
    loads = {which: loading.put(which, lambda _: requests, PASSED if which == "bare" else PATCHED) for which in SERVERS}
    print(loading.table(loads), end="\n\n")
    return conclude(verdicts("ours", loads["ours"], GOAL))


if __name__ == "__main__":
    raise SystemExit(main(float(sys.argv[1]) if sys.argv[1:] else SECONDS))
