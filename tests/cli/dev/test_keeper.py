"""The process that keeps a development cluster ends when it is told to."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from grove_cli.dev.folder import Folder

from ..processes import environment

LOSES_WHAT_HANDLERS_RAISE = """
import contextlib, os, signal, sys, types
from grove_cli.dev import keeper

@contextlib.contextmanager
def start(**_):
    with contextlib.suppress(SystemExit):  # as callbacks of imports do, for instance
        os.kill(os.getpid(), signal.SIGTERM)
    yield types.SimpleNamespace(running=[], request=lambda *_: {"gitVersion": "v1.35.4"})

keeper.ControlPlane.start = start
keeper._fill = lambda *_, **__: None
sys.exit(keeper.main(sys.argv[1], "1", "1", "alone"))
"""


def test_it_ends_also_where_the_signal_came_while_nothing_could_be_raised(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "dev")
    folder.prepare()
    command = [sys.executable, "-c", LOSES_WHAT_HANDLERS_RAISE, str(folder.path)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr, folder.state.exists()) == (0, "", False)
