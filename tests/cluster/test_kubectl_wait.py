"""kubectl refuses to wait for an object whose status nobody has written yet, as of a definition that was made a moment ago."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from applier.testing.errors import ControlPlaneError
from applier.testing.plane import NO_CONDITIONS, RunningPlane

WAIT = ("wait", "--for=condition=Established", "crd", "--all")


def plane(folder: Path, refusals: int, message: str) -> RunningPlane:
    """Stands for a server whose kubectl refuses so many times."""
    program, calls = folder / "kubectl", folder / "calls"
    calls.write_text("")
    program.write_text(
        f"""#!/bin/sh
        echo called >> '{calls}'
        [ $(wc -l < '{calls}') -le {refusals} ] && {{ echo 'error: {message}' >&2; exit 1; }}
        echo met
        """
    )
    program.chmod(0o755)
    users: Any = {"admin": SimpleNamespace(kubeconfig=folder / "kubeconfig")}
    programs: Any = SimpleNamespace(path=lambda name: str(folder / name))
    return RunningPlane(folder, "https://127.0.0.1:1", users, programs, ())


def test_it_waits_for_the_status_too(tmp_path: Path) -> None:
    assert plane(tmp_path, 2, f"{NO_CONDITIONS} is of the type <nil>").kubectl(*WAIT).stdout == "met\n"


def test_what_else_it_refuses_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(ControlPlaneError, match="timed out"):
        plane(tmp_path, 1, "timed out waiting for the condition").kubectl(*WAIT)


def test_it_does_not_wait_for_ever(tmp_path: Path) -> None:
    with pytest.raises(ControlPlaneError, match="accessor"):
        plane(tmp_path, 1000, NO_CONDITIONS).kubectl(*WAIT, timeout=0.3)
