"""Who else applies objects, and by which commands."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from applier.testing.control_plane import ControlPlane
from tests.benchmarks import measure

GROVE, KUBECTL, GO = "grove", "kubectl", "Go, 16 workers"
APPLY_LOOP = Path(__file__).parent / "peers" / "apply_loop"
Command = Callable[[Path], list[str]]


class Peer(NamedTuple):
    """Commands by the file that they work on. `agent` is how the user agent of its requests begins."""

    name: str
    short: str
    agent: str
    apply: Command
    diff: Command | None = None
    apply_set: Command | None = None
    namespaced: bool = True


def grove(plane: ControlPlane) -> Peer:
    """This project's own command."""
    base = [*measure.GROVE]
    where = [f"--kubeconfig={plane.kubeconfig}"]
    return Peer(
        GROVE,
        "grove",
        "grove/",
        lambda file: [*base, "apply", str(file), *where],
        lambda file: [*base, "diff", str(file), *where],
        lambda file: [*base, "apply", str(file), "--prune", "--applyset=bench", *where],
    )


def kubectl(plane: ControlPlane, *, concurrency: int = 1) -> Peer:
    """kubectl of the server's version; `concurrency` is its diff's."""
    base = [str(plane.programs.path("kubectl")), f"--kubeconfig={plane.kubeconfig}", f"--cache-dir={plane.folder / 'kubectl-cache'}"]
    apply = [*base, "apply", "--server-side", "--filename"]
    if concurrency > 1:
        return Peer(
            f"{KUBECTL} --concurrency={concurrency}",
            f"kubectl{concurrency}",
            "kubectl/",
            lambda file: [*apply, str(file)],
            lambda file: [*base, "diff", "--server-side", f"--concurrency={concurrency}", "--filename", str(file)],
        )
    return Peer(
        KUBECTL,
        "kubectl",
        "kubectl/",
        lambda file: [*apply, str(file)],
        lambda file: [*base, "diff", "--server-side", "--filename", str(file)],
        lambda file: [*apply, str(file), "--prune", "--applyset=bench"],
    )


def go_loop(plane: ControlPlane, folder: Path) -> Peer | None:
    """client-go with 16 workers, built here; None without Go."""
    program = folder / "apply_loop"
    try:
        subprocess.run(["go", "build", "-mod=readonly", "-o", program, "."], cwd=APPLY_LOOP, check=True)
    except (OSError, subprocess.CalledProcessError) as problem:
        print(f"left out: {GO} ({problem})", file=sys.stderr)
        return None
    return Peer(GO, "go", "apply-loop", lambda file: [str(program), str(plane.kubeconfig), str(file)], namespaced=False)


def peers(plane: ControlPlane, folder: Path) -> Iterator[Peer]:
    """All of them, ours first."""
    yield grove(plane)
    yield kubectl(plane)
    yield kubectl(plane, concurrency=16)
    if loop := go_loop(plane, folder):
        yield loop
