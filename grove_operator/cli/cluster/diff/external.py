"""Differences shown by a program of the user's, by kubectl's convention: `KUBECTL_EXTERNAL_DIFF="colordiff -N -u"`."""

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
from grove_operator.cli.cluster.diff.unified import as_text
from grove_operator.cli.cluster.session import say
from grove_operator.cluster.differences import Shown

VARIABLE = "KUBECTL_EXTERNAL_DIFF"
ARGUMENT = re.compile(r"[a-zA-Z0-9-=]+")
"""What kubectl passes on; other words it leaves out, and so do we."""
DIFFERENT = 1  # a higher exit code of the program means trouble


def external_program() -> list[str]:
    """Returns the program and its arguments; empty when there is none."""
    program, *arguments = os.environ.get(VARIABLE, "").split(" ")
    return [program, *filter(ARGUMENT.fullmatch, arguments)] if program else []


def show(program: Sequence[str], found: Sequence[Shown]) -> int:
    """Runs the program on two folders, with a file for each object in both. Its exit code: 0 no difference, 1 some, above trouble.

    An object that is not there is an empty file, as with kubectl. Raises `OSError` for a program that cannot be run.
    """
    with TemporaryDirectory(prefix="LIVE-") as live, TemporaryDirectory(prefix="MERGED-") as merged:
        for one in found:
            if one.before is not None or one.after is not None:
                name = _file_name(one)
                _write(Path(live, name), one.before)
                _write(Path(merged, name), one.after)
        sys.stdout.flush()
        code = subprocess.run([*program, live, merged], check=False).returncode
    if code not in (0, DIFFERENT):
        say(f"{program[0]} ended with exit code {code}")
    return code


def _file_name(one: Shown) -> str:
    """Returns `apps.v1.Deployment.shop.web`, as kubectl names it; a name that is no name cannot lead elsewhere."""
    manifest = one.after if one.after is not None else one.before
    kind, ref = Kind.of(manifest or {}), Ref.of(manifest or {})
    group = f"{kind.group}." if kind.group else ""
    return quote(f"{group}{kind.version}.{kind.kind}.{ref.namespace}.{ref.name}", safe=":")


def _write(path: Path, manifest: Manifest | None) -> None:
    path.write_text(as_text(manifest), encoding="utf-8", errors="backslashreplace")
