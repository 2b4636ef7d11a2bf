"""How long `grove compile` of a one-clique set takes beside `kubectl version --client`: `python -m tests.benchmarks.start`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.benchmarks.measure import GROVE, ROOT, machine, rounds, table

ROUNDS = 21
EXAMPLE = "examples/minimal.yaml"
HEAVY = ("jinja2", "kubernetes", "networkx", "httptools", "rich", "pydantic")
MAX_TIMES = 3.0
MAX_MEMORY = 40.0

PROOF = """
import sys
from grove_cli.entry import run
assert run(["compile", sys.argv[1], "-o", "name"]) == 0
print(*sorted({name.partition(".")[0] for name in sys.modules} & set(sys.argv[2:])), file=sys.stderr)
"""


def kubectl() -> str | None:
    """The kubectl of the `bench` extra, beside this Python; else one on the path."""
    beside = Path(sys.executable).with_name("kubectl")
    return str(beside) if beside.exists() else shutil.which("kubectl")


def heavy_imports() -> str:
    """Which of the packages that a compilation must not import it did import."""
    command = [sys.executable, "-c", PROOF, EXAMPLE, *HEAVY]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stderr.strip()


def main() -> int:
    other = kubectl()
    if other is None:
        print("skipped: there is no kubectl; install the extra `bench`")
        return 0
    script = Path(sys.executable).with_name("grove")
    grove = [str(script)] if script.exists() else GROVE
    commands = {
        "kubectl version --client": [other, "version", "--client"],
        "python -c ''": [sys.executable, "-c", ""],
        "grove --version": [*grove, "--version"],
        "grove compile": [*grove, "compile", EXAMPLE],
    }
    costs = rounds(commands, ROUNDS)
    yardstick = costs["kubectl version --client"].wall
    rows = [
        [name, f"{cost.wall * 1000:.0f}", f"{cost.cpu * 1000:.0f}", f"{cost.peak:.1f}", f"{cost.wall / yardstick:.2f}"]
        for name, cost in costs.items()
    ]
    print(f"Start-up, median of {ROUNDS} rounds ({machine()})\n")
    print(table(["command", "wall ms", "CPU ms", "peak MB", "x kubectl"], rows))
    heavy = heavy_imports()
    print(f"\nimported of {', '.join(HEAVY)}: {heavy or 'none'}")
    mine = costs["grove compile"]
    print(f"goals: at most {MAX_TIMES:.0f} x kubectl: {mine.wall / yardstick:.2f}; under {MAX_MEMORY:.0f} MB: {mine.peak:.1f}")
    return int(bool(heavy) or mine.wall > MAX_TIMES * yardstick or mine.peak > MAX_MEMORY)


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main())
