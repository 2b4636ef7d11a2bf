"""Programs that tests and benchmarks run beside ours, built once from their Go modules into `.tools/bin`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from applier.testing import locks

TOOLS = Path(__file__).resolve().parents[1] / ".tools" / "bin"
HELM = "helm.sh/helm/v4/cmd/helm@v4.3.1"
KUSTOMIZE = "sigs.k8s.io/kustomize/kustomize/v5@v5.8.2"


def built(name: str, module: str) -> tuple[str, str]:
    """The program's path; or empty and the reason why there is none."""
    program = TOOLS / name
    if program.exists():
        return str(program), ""
    if shutil.which("go") is None:
        return "", f"needs {name}: there is no `go` on the path to build {module} with"
    TOOLS.mkdir(parents=True, exist_ok=True)
    with locks.held(TOOLS / f"{name}.lock"):
        if program.exists():
            return str(program), ""
        print(f"building {module} …", file=sys.stderr, flush=True)
        done = subprocess.run(
            ["go", "install", module], env={**os.environ, "GOBIN": str(TOOLS)}, capture_output=True, text=True, check=False
        )
    if done.returncode:
        return "", f"needs {name}: {(done.stderr.strip() or 'go install failed').splitlines()[-1]}"
    return str(program), ""
