"""Apply, diff and prune beside kubectl and a Go loop, on one API server: `python -m tests.benchmarks.applier_compare [OBJECTS]`.

Each peer works in a namespace of its own. Requests are those that the server's audit log counts in a round of its own: the log costs time,
so that rounds for the clock go without.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from applier.testing.control_plane import ControlPlane
from applier.testing.counts import Requests
from tests.benchmarks.applier_peers import GROVE, KUBECTL, Peer, peers
from tests.benchmarks.applier_workload import Manifest, mixed_objects
from tests.benchmarks.measure import Cost, machine, run, table

OBJECTS = 1_000
ROUNDS = 3
PRUNED = 10  # every tenth object is left out of the second apply of the set


class Result(NamedTuple):
    """What one peer did in one exercise. `requests` are empty where nobody counted."""

    exercise: str
    peer: str
    cost: Cost
    requests: Requests


def written(folder: Path, name: str, objects: Sequence[Manifest]) -> Path:
    """A file of these objects: JSON is YAML, and nobody's own way of writing it is favoured."""
    path = folder / f"{name}.yaml"
    path.write_text("---\n".join(json.dumps(manifest) + "\n" for manifest in objects))
    return path


def edited(manifest: Manifest) -> Manifest:
    """The same object with one label more."""
    metadata = manifest["metadata"]
    return {**manifest, "metadata": {**metadata, "labels": {**metadata["labels"], "edited": "true"}}}


class Course:
    """One peer's way through all exercises."""

    def __init__(self, plane: ControlPlane, peer: Peer, objects: int, folder: Path, *, counted: bool) -> None:
        self.plane, self.peer, self.counted = plane, peer, counted
        self.namespace = plane.create_namespace(f"{peer.short}-")
        self.objects = mixed_objects(objects, self.namespace)
        self.all = written(folder, f"{self.namespace}-all", self.objects)
        self.edited = written(folder, f"{self.namespace}-edited", [edited(manifest) for manifest in self.objects])
        self.fewer = written(folder, f"{self.namespace}-fewer", [one for number, one in enumerate(self.objects) if number % PRUNED])

    def exercises(self) -> Iterator[Result]:
        """Runs each exercise that the peer knows. Raises `RuntimeError` when a command fails."""
        yield self.measured("first apply", self.peer.apply(self.all))
        yield self.measured("apply again", self.peer.apply(self.all))
        if self.peer.diff:
            self.settle()
            yield self.measured("diff, nothing", self.peer.diff(self.all))
            yield self.measured("diff, every object", self.peer.diff(self.edited), expect=1)
        if self.peer.apply_set:
            self.measured("", self.peer.apply_set(self.all))
            yield self.measured("prune 1 in 10", self.peer.apply_set(self.fewer))

    def measured(self, exercise: str, command: Sequence[str], *, expect: int = 0) -> Result:
        """One command, what it cost, and what it asked of the server."""
        mark = self.plane.mark() if self.counted else 0
        cost = run(
            [*command, f"--namespace={self.namespace}"] if self.peer.namespaced else command,
            expect=expect,
            more={"KUBECTL_APPLYSET": "true"},
        )
        requests = self.plane.requests(mark).only(agent=self.peer.agent) if self.counted else Requests(())
        print(f"{exercise or 'set made'}: {self.peer.name}, {cost.wall:.2f} s", file=sys.stderr)
        return Result(exercise, self.peer.name, cost, requests)

    def settle(self) -> None:
        """Waits until controllers have seen every Deployment: their writes would be differences to a diff that runs beside them."""
        path = f"/apis/apps/v1/namespaces/{self.namespace}/deployments"
        while any(
            one.get("status", {}).get("observedGeneration") != one["metadata"]["generation"]
            for one in self.plane.request("GET", path)["items"]
        ):
            time.sleep(0.2)

    def leave(self) -> None:
        """Removes everything, and waits until it is gone: or the next peer would share the server with the deletes."""
        self.plane.delete_namespace(self.namespace)
        self.plane.kubectl("wait", "--for=delete", f"namespace/{self.namespace}", "--timeout=300s")

    def survivors(self) -> set[str]:
        """What is left of our objects, as kind and name."""
        kinds = "configmaps,secrets,services,serviceaccounts,roles,deployments"
        lines = self.plane.kubectl("get", kinds, "-n", self.namespace, "-l", "app.kubernetes.io/part-of=bench", "-o", "name").stdout
        return set(lines.split())


def play(objects: int, *, counted: bool, turn: int = 0) -> tuple[list[Result], dict[str, set[str]]]:
    """One round of everybody on a fresh control plane, another one first at each turn; and who is left after pruning."""
    results: list[Result] = []
    survivors: dict[str, set[str]] = {}
    with ControlPlane.start(audit=counted) as plane, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        everybody = deque(peers(plane, folder))
        everybody.rotate(-turn)
        for peer in everybody:
            course = Course(plane, peer, objects, folder, counted=counted)
            results += course.exercises()
            if peer.apply_set:
                survivors[peer.name] = course.survivors()
            course.leave()
    return results, survivors


def rows(counted: Sequence[Result], timed: Sequence[Result]) -> Iterator[list[str]]:
    """The table's rows: median costs; how many times ours the wall time is; requests."""
    costs: dict[tuple[str, str], list[Cost]] = {}
    for result in timed:
        costs.setdefault((result.exercise, result.peer), []).append(result.cost)
    median = {key: Cost(*map(statistics.median, zip(*several, strict=True))) for key, several in costs.items()}
    exercises = list(dict.fromkeys(result.exercise for result in counted))
    for result in sorted(counted, key=lambda one: exercises.index(one.exercise)):
        cost, ours = median[result.exercise, result.peer], median[result.exercise, GROVE]
        verbs = ", ".join(f"{count} {verb}" for verb, count in sorted(result.requests.by("verb").items()))
        times = f"{cost.wall / ours.wall:.1f}"
        yield [f"{result.exercise}: {result.peer}", f"{cost.wall:.2f}", f"{cost.cpu:.2f}", f"{cost.peak:.0f}", times, verbs or "none"]


def main(objects: int) -> int:
    counted, survivors = play(objects, counted=True)
    timed = [result for turn in range(ROUNDS) for result in play(objects, counted=False, turn=turn)[0]]
    print(f"{objects} mixed objects, median of {ROUNDS} rounds ({machine()})\n")
    print(table(["", "wall s", "CPU s", "peak MB", "x ours", "requests"], list(rows(counted, timed))))
    if survivors[GROVE] != survivors[KUBECTL]:
        print(f"\nsurvivors differ: {sorted(survivors[GROVE] ^ survivors[KUBECTL])[:5]}")
        return 1
    print(f"\n{len(survivors[GROVE])} survivors, the same for both.")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if sys.argv[1:] else OBJECTS))
