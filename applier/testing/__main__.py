"""Builds, finds and serves the control plane for tests from a shell: `python -m applier.testing build|where|serve`."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
from pathlib import Path

from applier.testing import assets, build
from applier.testing.errors import ControlPlaneError
from applier.testing.kinds import KINDS, PLAIN, ClusterKind


def main(arguments: list[str] | None = None) -> int:
    """Runs a command; returns its exit code: 0, or 2 after an error."""
    parser = argparse.ArgumentParser(prog="python -m applier.testing", description="A real control plane for tests.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("build", help="build the control plane where it does not exist yet")
    commands.add_parser("where", help="print the directory of its programs")
    serving = commands.add_parser("serve", help="run a control plane until interrupted, and print how to reach it")
    serving.add_argument("--parts", default="kube-controller-manager", help="optional programs, with commas (default: %(default)s)")
    serving.add_argument("--bodies", default="", help="resources whose writes the audit log has with their objects, with commas")
    serving.add_argument("--cluster", choices=KINDS, default=PLAIN.name, help="how strict its admission is (default: %(default)s)")
    serving.add_argument("--run", type=Path, help=argparse.SUPPRESS)  # the folder of a test run that this process serves
    options = parser.parse_args(arguments)
    try:
        if options.command == "serve":
            return _serve(_split(options.parts), _split(options.bodies), KINDS[options.cluster], options.run)
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


def _split(words: str) -> list[str]:
    return [word for word in words.split(",") if word]


def _serve(parts: list[str], bodies: list[str], kind: ClusterKind, run: Path | None) -> int:
    from applier.testing import shared
    from applier.testing.control_plane import ControlPlane

    if run:
        shared.serve(run, parts, bodies, kind)
        return 0
    with ControlPlane.start(parts=parts, bodies=bodies, kind=kind) as plane:
        print(f"export KUBECONFIG={plane.kubeconfig}", flush=True)
        print("running until interrupted; all data is then deleted", file=sys.stderr, flush=True)
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))  # noqa: ARG005
        with contextlib.suppress(KeyboardInterrupt):
            signal.pause()
    return 0


def _print(programs: assets.Assets) -> None:
    print(programs.folder)
    if programs.left_out:
        print(f"omitted, since it is missing: {', '.join(programs.left_out)}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
