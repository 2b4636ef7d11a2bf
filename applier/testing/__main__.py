"""`python -m applier.testing build|where|serve`: the control plane for tests from a shell."""

from __future__ import annotations

import argparse
import os
import sys

from applier.testing import assets, build
from applier.testing.errors import ControlPlaneError


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit code: 0, or 2 when something could not be done."""
    parser = argparse.ArgumentParser(prog="python -m applier.testing", description="A real control plane for tests.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("build", help="build the control plane where it is not there yet")
    commands.add_parser("where", help="print the folder of its programs")
    options = parser.parse_args(arguments)
    try:
        return {"build": _build, "where": _where}[options.command]()
    except ControlPlaneError as problem:
        print(problem, file=sys.stderr)
        return 2


def _build() -> int:
    _print(assets.find() if os.environ.get(assets.ENVTEST_VARIABLE) else build.build())
    return 0


def _where() -> int:
    _print(assets.find())
    return 0


def _print(found: assets.Assets) -> None:
    print(found.folder)
    if found.left_out:
        print(f"left out, because it is not there: {', '.join(found.left_out)}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
