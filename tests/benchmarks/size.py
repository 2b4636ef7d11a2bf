"""How time and memory grow with a set: `python -m tests.benchmarks.size`. Start-up and writing YAML are included."""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.measure import GROVE, machine, rounds, run, table
from tests.benchmarks.workload import manifest

SIZES = (1, 10, 100, 500, 2500, 5000)
ROUNDS = 3
MAX_SECONDS = {500: 0.4, 2500: 1.5}
"""With `--pods`, which makes six objects a replica."""


def objects(path: str, pods: Sequence[str]) -> int:
    with tempfile.NamedTemporaryFile("r") as output:
        run([*GROVE, "compile", path, "-o", "name", *pods], output.name)
        return sum(1 for _ in output)


def fit(points: Sequence[tuple[int, float]]) -> tuple[float, float, float]:
    """Slope, intercept, and how much of the variance a straight line explains (R²). CPU time, which others' work disturbs least."""
    sizes, times = [float(size) for size, _ in points], [time for _, time in points]
    line = statistics.linear_regression(sizes, times)
    return line.slope, line.intercept, statistics.correlation(sizes, times) ** 2


def main() -> int:
    missed = []
    print(f"Size, median of {ROUNDS} rounds ({machine()})")
    with tempfile.TemporaryDirectory() as folder:
        for pods in ([], ["--pods"]):
            points, rows = [], []
            for size in SIZES:
                path = str(Path(folder, f"{size}.yaml"))
                Path(path).write_text(manifest(size))
                cost = rounds({"grove": [*GROVE, "compile", path, *pods]}, ROUNDS)["grove"]
                count = objects(path, pods)
                points.append((count, cost.cpu))
                rows.append([str(size), str(count), f"{cost.wall:.3f}", f"{cost.cpu:.3f}", f"{cost.peak:.0f}"])
                if pods and cost.wall > MAX_SECONDS.get(size, 1e9):
                    missed.append(f"{size} replicas took {cost.wall:.2f} s, the goal is {MAX_SECONDS[size]} s")
            print(f"\ngrove compile {' '.join(pods)}\n")
            print(table(["replicas", "objects", "wall s", "CPU s", "peak MB"], rows))
            slope, intercept, explained = fit(points)
            print(f"\nCPU: {slope * 1e6:.0f} µs an object after {intercept * 1000:.0f} ms; R² of the straight line {explained:.4f}")
    print(*missed, sep="\n")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
