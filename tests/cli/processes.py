"""Runs command lines as programs of their own, for tests of streams, environments and how a process ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from .running import ROOT, Ended

EXAMPLE = str(ROOT / "tests" / "cli" / "manifests" / "one-clique.yaml")
KAI = str(ROOT / "tests" / "cli" / "manifests" / "kai")

SET = """\
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata:
  name: demo
spec:
  replicas: 1
  template:
    cliques:
      - name: web
        spec:
          roleName: web
          replicas: 1
          podSpec:
            containers:
              - name: web
                image: nginx
"""
WRONG = SET.replace("replicas: 1\n  template", "replcas: 1\n  template")


def environment(**more: str) -> dict[str, str]:
    """This process's environment, with which another finds the program."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


class Grove:
    """The program, in a folder that begins empty."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def file(self, name: str, content: str | bytes) -> str:
        """Writes a file and gives its name."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    def __call__(self, *arguments: str, stdin: str | bytes = "", **more: str) -> Ended:
        command = [sys.executable, "-m", "grove_cli", *arguments]
        given = stdin if isinstance(stdin, bytes) else stdin.encode()
        ended = subprocess.run(command, input=given, capture_output=True, cwd=self.folder, env=environment(**more), check=False, timeout=60)
        return Ended(ended.returncode, ended.stdout.decode(), ended.stderr.decode())
