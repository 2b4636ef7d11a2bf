"""Builds the programs that tests and benchmarks run beside ours from their Go modules, once, into a folder that all checkouts share.

`python -m tests.go_programs` builds them; `make control-plane` does so too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from applier.testing import assets, locks
from applier.testing.build import find_go
from applier.testing.errors import ControlPlaneError
from applier.testing.progress import Progress

MODULES = {"helm": "helm.sh/helm/v4/cmd/helm@v4.3.1", "kustomize": "sigs.k8s.io/kustomize/kustomize/v5@v5.8.2"}
TOOLS = assets.cache_root().parent / "tools" / "-".join(module.rpartition("@")[2] for module in MODULES.values())


def find(name: str) -> tuple[str, str]:
    """Returns a program's path; or nothing, and the reason why there is none."""
    program = TOOLS / name
    return (str(program), "") if program.exists() else ("", f"{name} is not there: `make control-plane` builds it")


def built(name: str) -> tuple[str, str]:
    """Returns a program's path, built if necessary; or nothing, and the reason why there is none."""
    TOOLS.mkdir(parents=True, exist_ok=True)
    with locks.held(TOOLS / f"{name}.lock"):
        if not (TOOLS / name).exists() and (reason := _build(name)):
            return "", reason
    return find(name)


def _build(name: str) -> str:
    """Builds a program; returns why that failed, if it did."""
    try:
        go = find_go()
    except ControlPlaneError as error:
        return f"needs {name}: {error}"
    unfinished = TOOLS / f".{name}"
    environment = {"CGO_ENABLED": "0", **os.environ, "GOBIN": str(unfinished)}
    with Progress(f"building {MODULES[name]}"):
        done = subprocess.run([go, "install", MODULES[name]], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"needs {name}: {(done.stderr.strip() or 'go install failed').splitlines()[-1]}"
    (unfinished / name).rename(TOOLS / name)
    shutil.rmtree(unfinished)
    return ""


def main() -> int:
    """Builds all of them; tests that need one that could not be built are skipped, with the reason."""
    for name in MODULES:
        program, missing = built(name)
        print(missing or Path(program), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
