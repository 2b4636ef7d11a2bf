"""Shows differences by an external program, by kubectl's convention: `KUBECTL_EXTERNAL_DIFF="colordiff -N -u"`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from applier.ref import Kind, Manifest, Ref
from grove_cli.cluster.diff.unified import Shown, as_text
from grove_cli.cluster.session import say

VARIABLE = "KUBECTL_EXTERNAL_DIFF"
ARGUMENT = re.compile(r"[a-zA-Z0-9-=]+")
"""Arguments that kubectl passes on; it omits others, and so do we."""
DIFFERENT = 1  # a higher exit code of the program is an error


def external_program() -> list[str]:
    """Returns the program and its arguments; empty if none is configured."""
    program, *arguments = os.environ.get(VARIABLE, "").split(" ")
    return [program, *filter(ARGUMENT.fullmatch, arguments)] if program else []


def show(program: Sequence[str], found: Sequence[Shown]) -> int:
    """Runs the program on two folders, with a file for each object in both. Returns its exit code: 0 no difference, 1 some, above an error.

    A missing object is an empty file, as with kubectl. Raises `OSError` for a program that cannot be run.
    """
    with TemporaryDirectory(prefix="LIVE-") as live, TemporaryDirectory(prefix="MERGED-") as merged:
        for each in found:
            if each.before is not None or each.after is not None:
                name = _file_name(each)
                _write(Path(live, name), each.before)
                _write(Path(merged, name), each.after)
        sys.stdout.flush()
        code = subprocess.run([*program, live, merged], check=False).returncode
    if code not in (0, DIFFERENT):
        say(f"{program[0]} ended with exit code {code}")
    return code


def _file_name(shown: Shown) -> str:
    """Returns `apps.v1.Deployment.shop.web`, as kubectl names the file, quoted so that it stays in the folder."""
    manifest = shown.after if shown.after is not None else shown.before
    kind, ref = Kind.of(manifest or {}), Ref.of(manifest or {})
    group = f"{kind.group}." if kind.group else ""
    return quote(f"{group}{kind.version}.{kind.kind}.{ref.namespace}.{ref.name}", safe=":")


def _write(path: Path, manifest: Manifest | None) -> None:
    path.write_text(as_text(manifest), encoding="utf-8", errors="backslashreplace")
