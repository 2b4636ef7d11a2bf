"""Words what a development cluster is, where its parts are, and what to do next."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from grove_cli.dev.folder import DevCluster, Folder
from grove_cli.extras import CLONE, shown
from grove_cli.terminal import visible
from kube_objects.words import counted

if TYPE_CHECKING:
    from grove_cli.dev.start import Wish

EXAMPLE = os.path.join(CLONE, "examples", "minimal.yaml")
"""A set for a first look, which only a clone has."""


def after_up(folder: Folder, state: DevCluster, wish: Wish, *, started: bool) -> Iterator[str]:
    """Yields what a person should know of a cluster that was started, or that runs already."""
    yield f"a cluster is {'' if started else 'already '}running: {_contents(state)}"
    others = [word for word, differs in _differences(state, wish).items() if differs]
    if others:
        yield f"{', '.join(others)}: not as it was started; `grove dev down{folder.option}` first"
    yield from _ended(folder, state)
    yield f"logs: {visible(str(folder.logs))}"
    if not state.operator:
        yield f"the operator: `grove operator run --config {_quoted(folder.configuration)}`"
    example = _quoted(shown(EXAMPLE)) if os.path.exists(EXAMPLE) else "FILE"
    yield f"next: `kubectl apply -f {example}`, `grove get sets`, `grove why NAME`; `grove dev down{folder.option}` removes it"


def after_down(folder: Folder) -> str:
    """Returns what a person should know when the cluster is gone: this shell may still be led to it."""
    is_led = os.environ.get("KUBECONFIG") == str(folder.kubeconfig)
    return f"the cluster is removed{'; `unset KUBECONFIG`, or start another one' if is_led else ''}"


def status(folder: Folder, state: DevCluster | None) -> Iterator[str]:
    """Yields what `grove dev status` prints."""
    if state is None:
        if folder.kept_by() is not None:
            yield f"a cluster is starting in {visible(str(folder.path))}"
        else:
            yield f"no cluster is running; `grove dev up{folder.option}` starts one"
        return
    yield f"a cluster is running: {_contents(state)}"
    yield from _ended(folder, state)
    yield f"logs: {visible(str(folder.logs))}"
    yield from exports(folder)


def exports(folder: Folder) -> Iterator[str]:
    """Yields commands for a shell: where the cluster is, and `grove` and the kubectl of its version where the shell finds none."""
    yield f"export KUBECONFIG={_quoted(folder.kubeconfig)}"
    folders = [folder.bin] if shutil.which("kubectl") is None else []
    program = Path(sys.argv[0]).absolute()
    if program.name == "grove" and shutil.which("grove") is None:
        folders.append(program.parent)
    if folders:
        yield f'export PATH={":".join(map(_quoted, folders))}:"$PATH"'


def _contents(state: DevCluster) -> str:
    nodes = counted(state.nodes, "node")
    gpus = {0: "without GPUs", 1: "with 1 GPU"}.get(state.gpus, f"with {state.gpus} GPUs")
    each = " each" if state.nodes > 1 and state.gpus else ""
    return f"Kubernetes {state.kubernetes}, {nodes} {gpus}{each}, {'the operator' if state.operator else 'no operator'}"


def _differences(state: DevCluster, wish: Wish) -> dict[str, bool]:
    return {
        f"--nodes {wish.nodes}": state.nodes != wish.nodes,
        f"--gpus {wish.gpus}": state.gpus != wish.gpus,
        "an operator" if wish.operator else "--no-operator": state.operator != wish.operator,
    }


def _ended(folder: Folder, state: DevCluster) -> Iterator[str]:
    if state.ended:
        start_anew = f"`grove dev down{folder.option}` and `grove dev up{folder.option}`"
        yield f"stopped since then: {', '.join(state.ended)}; {start_anew} restart it"


def _quoted(path: object) -> str:
    return shlex.quote(str(path))
