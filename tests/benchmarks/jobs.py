"""Many training jobs at once, a tenth of whose ranks fail: `python -m tests.benchmarks.jobs [JOBS]`.

200 jobs of 4 ranks, unless told otherwise, on a real control plane with kube-scheduler and kwok's nodes: all begin, a tenth of all ranks
fail at once, each in another job, these jobs are restarted, and then all ranks exit with 0. Ends with 1 unless each failure cost exactly
one restart of its own job and all jobs succeed. A restart is from the first failure until all ranks of all next attempts run.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from applier.testing.plane import RunningPlane
from tests.benchmarks.measure import machine
from tests.benchmarks.operator import PODS_PATH, Operator, counted, pod_clique_set, settle, told, until, world, writes

JOBS, RANKS = 200, 4
SETS_PATH = "/apis/grove.io/v1alpha1/namespaces/default/podcliquesets"
FAIL_EVERY = 10
"""Of pods by name; a job has fewer, so that no two of those that fail are in one job."""
LONGEST = 1_800.0
MERGE = "application/merge-patch+json"
Status = dict[str, Any]


def main() -> int:
    count = int(sys.argv[1]) if sys.argv[1:] else JOBS
    print(f"{machine()}\n", flush=True)
    with tempfile.TemporaryDirectory() as folder, world() as plane:
        operator = Operator(plane, Path(folder) / "log")
        time.sleep(3)
        ends = played(plane, count)
        print(f"in all {operator.usage()}", flush=True)
        operator.stop()
    spent = {name: int(status.get("restartCount") or 0) for name, status in ends.items()}
    wrong = [name for name, status in ends.items() if status.get("phase") != "Succeeded" or spent[name] != status["expected"]]
    print(f"wrong: {', '.join(wrong)}" if wrong else f"all {count} jobs have succeeded, with {sum(spent.values())} restarts")
    return 1 if wrong else 0


def played(plane: RunningPlane, count: int) -> dict[str, Status]:
    """Lets jobs begin, fail, begin again and succeed. Returns their statuses, each with the restarts that are `expected` of it."""
    mark = plane.mark()
    for number in range(count):
        plane.request("POST", SETS_PATH, job(f"job-{number:03}"))
    took = counted(lambda: sum(is_running(one, 1) for one in statuses(plane).values()), count, "jobs run", LONGEST)
    settle(plane)
    print(f"all run after {took:.1f} s; {len(writes(plane, mark)) / count / RANKS:.2f} writes a pod until settled", flush=True)

    victims = sorted(living(plane), key=lambda pod: str(pod["metadata"]["name"]))[::FAIL_EVERY]
    jobs = {str(pod["metadata"]["labels"]["app.kubernetes.io/part-of"]) for pod in victims}
    mark, began = plane.mark(), time.monotonic()
    ended(plane, victims, 1)
    until(lambda: all(is_running(status, 2) for name, status in statuses(plane).items() if name in jobs), LONGEST)
    took = time.monotonic() - began
    settle(plane)
    done = writes(plane, mark)
    print(f"{len(jobs)} jobs have failed and run again after {took:.1f} s", flush=True)
    print(f"{len(done) / len(jobs):.1f} writes a restart: {told(done)}", flush=True)

    began = time.monotonic()
    ended(plane, living(plane), 0)
    until(lambda: all(status.get("phase") in ("Succeeded", "Failed") for status in statuses(plane).values()), LONGEST)
    print(f"all have ended after {time.monotonic() - began:.1f} s", flush=True)
    return {name: status | {"expected": int(name in jobs)} for name, status in statuses(plane).items()}


def job(name: str) -> dict[str, Any]:
    """A training job of four ranks."""
    made = pod_clique_set(1)
    made["metadata"]["name"] = name
    made["spec"] |= {"workloadType": "Training", "trainingSpec": {"maxRestarts": 3}}
    made["spec"]["template"]["cliques"][0]["spec"]["replicas"] = RANKS
    return made


def statuses(plane: RunningPlane) -> dict[str, Status]:
    """The status of each job."""
    time.sleep(0.2)  # a list of hundreds of sets costs the server something, too
    return {one["metadata"]["name"]: one.get("status") or {} for one in plane.request("GET", SETS_PATH)["items"]}


def is_running(status: Status, attempt: int) -> bool:
    """Whether all ranks of an attempt run."""
    return [(one["attempt"], one["phase"]) for one in status.get("trainingReplicas", [])] == [(attempt, "Running")]


def living(plane: RunningPlane) -> list[dict[str, Any]]:
    """The pods that nobody has asked to go."""
    return [one for one in plane.request("GET", PODS_PATH)["items"] if not one["metadata"].get("deletionTimestamp")]


def ended(plane: RunningPlane, pods: Sequence[dict[str, Any]], code: int) -> None:
    """The programs of pods end, as their nodes tell it."""
    state = {"terminated": {"exitCode": code, "reason": "Error" if code else "Completed"}}
    container = {"name": "box", "image": "i", "imageID": "", "ready": False, "restartCount": 0, "state": state}
    body = {"status": {"phase": "Failed" if code else "Succeeded", "containerStatuses": [container]}}

    def tell(pod: dict[str, Any]) -> None:
        plane.request("PATCH", f"{PODS_PATH}/{pod['metadata']['name']}/status", body, content_type=MERGE)

    with ThreadPoolExecutor(8) as nodes:
        list(nodes.map(tell, pods))


if __name__ == "__main__":
    sys.exit(main())
