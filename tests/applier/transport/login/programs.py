"""Exec plugins for tests: small programs that answer as they are told, and write down how they were called."""

from __future__ import annotations

import datetime
import json
import sys
from pathlib import Path
from typing import Any

V1 = "client.authentication.k8s.io/v1"


def plugin(folder: Path, *answers: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A kubeconfig's user with a plugin that gives these statuses in turn, the last one from then on. `more` goes into its description."""
    return program(
        folder,
        f"""
answers = json.loads({json.dumps(json.dumps(answers or ({},)))})
print(json.dumps({{"apiVersion": {V1!r}, "kind": "ExecCredential", "status": answers[min(number, len(answers) - 1)]}}))
""",
        **more,
    )


def program(folder: Path, code: str, **more: Any) -> dict[str, Any]:
    """A user with a plugin of any code; `number` counts its runs from 0, and `called` remembers how it was called."""
    script = folder / "plugin.py"
    script.write_text(f"""
import json, os, pathlib, sys, time
runs = pathlib.Path({str(folder / "runs")!r})
number = len(runs.read_text()) if runs.exists() else 0
runs.write_text("x" * (number + 1))
called = {{"info": json.loads(os.environ["KUBERNETES_EXEC_INFO"]), "folder": os.getcwd(), "arguments": sys.argv[1:]}}
called |= {{"stdin": sys.stdin.read(), "environment": dict(os.environ)}}
pathlib.Path({str(folder / "called")!r}).write_text(json.dumps(called))
{code}
""")
    return {"exec": {"apiVersion": V1, "command": sys.executable, "args": [str(script)], "interactiveMode": "Never"} | more}


def runs(folder: Path) -> int:
    """How often it ran."""
    return len((folder / "runs").read_text()) if (folder / "runs").exists() else 0


def called(folder: Path) -> dict[str, Any]:
    """How it was called last."""
    return json.loads((folder / "called").read_text())  # type: ignore[no-any-return]


def end(seconds: float) -> str:
    """A moment from now on, as plugins say it."""
    return (datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
