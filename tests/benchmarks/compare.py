"""The same objects from others and from ours, in one run: `python -m tests.benchmarks.compare [REPLICAS]`."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

from tests.benchmarks.measure import GROVE, machine, rounds, run, table
from tests.benchmarks.rivals import Objects, Rival, rivals
from tests.benchmarks.templating import templatize
from tests.benchmarks.workload import NAME, manifest

REPLICAS = 500
ROUNDS = 3
OURS = "grove compile"


def take_apart(text: str, replicas: int) -> Objects:
    """Our output as a text that is there once and a template for each replica."""
    fixed: list[str] = []
    parts: list[list[str]] = [[] for _ in range(replicas)]
    for document in text.split("\n---\n"):
        name = re.search(r"^  name: (\S+)$", document, re.MULTILINE)
        index = re.fullmatch(rf"{NAME}-(\d+)(-.*)?", name.group(1)) if name else None
        (parts[int(index.group(1))] if index else fixed).append(document.rstrip("\n") + "\n")
    return Objects("---\n".join(fixed), templatize(["---\n".join(part) for part in parts]), text)


def parsed(path: Path) -> dict[tuple[str, str], Any]:
    documents = yaml.load_all(path.read_text(), Loader=yaml.CSafeLoader)
    return {(document["kind"], document["metadata"]["name"]): document for document in documents if document}


def check(rival: Rival, expected: dict[tuple[str, str], Any], output: Path) -> None:
    """Raises `RuntimeError` unless the rival's objects are ours."""
    run(rival.command, str(output))
    found = parsed(output)
    different = [key for key in expected.keys() | found.keys() if expected.get(key) != found.get(key)]
    if different:
        raise RuntimeError(f"{rival.name}: {len(different)} objects differ, such as {' '.join(min(different))}")


def main(replicas: int) -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, output = folder / "set.yaml", folder / "output.yaml"
        source.write_text(manifest(replicas))
        ours = Rival(OURS, [*GROVE, "compile", str(source), "--pods"])
        run(ours.command, str(output))
        expected = parsed(output)
        everybody = [ours, *rivals(take_apart(output.read_text(), replicas), folder)]
        present = [rival for rival in everybody if rival.command]
        for rival in present[1:]:
            check(rival, expected, folder / "theirs.yaml")
        costs = rounds({rival.name: rival.command for rival in present}, ROUNDS)
    base = costs[OURS]
    rows = [
        [name, f"{cost.wall:.2f}", f"{cost.cpu:.2f}", f"{cost.peak:.0f}", f"{cost.wall / base.wall:.1f}", f"{cost.cpu / base.cpu:.1f}",
         f"{cost.peak / base.peak:.1f}"]
        for name, cost in costs.items()
    ]  # fmt: skip
    print(f"{len(expected)} equal objects as YAML, {replicas} replicas of 2 pods, median of {ROUNDS} rounds ({machine()})\n")
    print(table(["", "wall s", "CPU s", "peak MB", "x wall", "x CPU", "x memory"], rows))
    for rival in everybody:
        if rival.missing:
            print(f"\nskipped: {rival.missing}")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if sys.argv[1:] else REPLICAS))
