"""Every command that the README, a page or a help text prints is run, in a shell, and what is shown beneath it is what it prints."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from applier.testing.control_plane import ControlPlane
from tests.definitions import with_definitions
from tests.go_programs import TOOLS

from ..cli.conftest import cache_of_the_session
from ..cli.running import run
from .commands import ELISION, ROOT, Command, commands_of_help, commands_of_pages
from .stage import build

__all__ = ["cache_of_the_session"]

OTHERS = ("make ", "pip ", "python ")
"""What the tests stand on, so that no test can run it."""
ELSEWHERE = {
    "cluster-commands.md": "tests/cli/cluster/test_page.py, one command after another",
    "gitops.md": "tests/webhooks/test_on_a_real_server.py, which hands replicas over by the same requests",
    "install.md": "tests/install/test_helm.py, on a cluster of its own",
    "quickstart.md": "tests/documented/test_quickstart.py, one command after another, on a cluster of its own",
}
ON_A_CLUSTER = (
    "apply", "diff", "plan", "delete", "adopt", "get", "why", "describe", "top", "events", "timeline", "logs", "serve", "version",
    "completion", "dev",
)  # fmt: skip
"""Commands whose examples in help texts need what others made before; `tests/cli/cluster` runs them."""
FINDS = re.compile(r"grove (lint|impact|fit|diff|replay)|kubectl diff|hpa/")
"""Commands that end with 1 when they have something to say."""
OWNERS = re.compile(r"omitted the owners of \d+ objects, which have no UID yet; -o yaml prints them\n")


def is_run_here(command: Command) -> bool:
    if command.line.startswith(OTHERS) or "FILE…" in command.line:
        return False
    if command.is_pipe:
        return True
    return command.page not in ELSEWHERE and not re.fullmatch(rf"grove ({'|'.join(ON_A_CLUSTER)}) --help", command.page)


def without_repetitions(commands: Iterable[Command]) -> Iterator[Command]:
    """Yields each line once, however many pages print it, unless they show another output."""
    lines = set[tuple[str, str]]()
    for command in commands:
        if (printed := (command.line, command.shown)) not in lines:
            lines.add(printed)
            yield command


COMMANDS = list(without_repetitions(filter(is_run_here, [*commands_of_pages(), *commands_of_help()])))
NEEDS_CLUSTER = re.compile(r"\bkubectl\b|\| grove (?:apply|diff)\b")
ALONE = [command for command in COMMANDS if not NEEDS_CLUSTER.search(command.line)]
WITH_CLUSTER = [command for command in COMMANDS if NEEDS_CLUSTER.search(command.line)]


def name_of(command: Command) -> str:
    return f"{command.page}: {command.line}"


class Printed(NamedTuple):
    """How a command line ended, with both streams in one and without the word about owners."""

    code: int
    text: str


class Shell:
    """A shell in a folder that has every file of the pages, and `grove` on its path."""

    def __init__(self, folder: Path, namespace: str, plane: ControlPlane | None = None) -> None:
        self.folder, self.environment = folder / "stage", dict(os.environ)
        self.folder.mkdir()
        build(self.folder, namespace)
        programs = folder / "bin"
        programs.mkdir()
        self._program(programs / "grove", f'PYTHONPATH="{ROOT}" exec "{sys.executable}" -m grove_cli "$@"')
        if plane is not None:
            kubectl = plane.programs.path("kubectl")
            kubeconfig = yaml.load(plane.kubeconfig.read_text(), yaml.CSafeLoader)
            for context in kubeconfig["contexts"]:
                context["context"]["namespace"] = namespace
            (folder / "kubeconfig").write_text(yaml.safe_dump(kubeconfig))
            self.environment |= {"KUBECONFIG": str(folder / "kubeconfig"), "KUBERC": "off", "KUBECACHEDIR": str(folder / "cache")}
            self._program(programs / "kubectl", f'exec "{kubectl}" "$@"')
        # As wide as a page; what is run in this process has no terminal at all.
        self.environment |= {"PATH": os.pathsep.join((str(programs), str(TOOLS), os.environ["PATH"])), "HOME": str(folder), "COLUMNS": "80"}

    def _program(self, path: Path, line: str) -> None:
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)

    def missing(self, line: str) -> list[str]:
        """The programs of a command line that this machine does not have."""
        stages = re.sub(r"'[^']*'|\"[^\"]*\"", "", line)
        programs = {part.split()[0] for part in re.split(r"[|;]", stages) if part.strip()}
        return sorted(name for name in programs if shutil.which(name, path=self.environment["PATH"]) is None)

    def run(self, line: str) -> Printed:
        if not re.search("[|;>&]", line) and line.startswith("grove "):
            ended = run(*shlex.split(line)[1:])  # in this process, since a start of Python costs half of the test
            return Printed(ended.code, ended.out + ended.err)
        line = line.removesuffix(f" | {ELISION}").replace(ELISION, "workload.yaml")
        if line.startswith("git "):
            line = f"git init -q . && git add . && git -c user.name=a -c user.email=a@b.example commit -qm a && {line}"
        command = ["bash", "-c", f"set -o pipefail; {line}"]
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        done = subprocess.run(command, cwd=self.folder, env=self.environment, timeout=120, text=True, check=False, **streams)  # type: ignore[call-overload]
        return Printed(done.returncode, OWNERS.sub("", done.stdout))


def settled(text: str) -> list[str]:
    """Lines without what every edit of the shipped rules changes: line numbers, widths of columns, and rules that have nothing to do."""
    lines = re.sub(r"(?<=\S) {2,}", "  ", re.sub(r"\b((?:rules|templates)/[a-z/-]+\.yaml):\d+", r"\1:#", text)).splitlines()
    return [line.rstrip() for line in lines if not line.startswith("skipped ") and "did not apply" not in line]


def check(shell: Shell, command: Command) -> None:
    if missing := shell.missing(command.line):
        pytest.skip(f"no {', '.join(missing)} on this machine")
    printed = shell.run(command.line)
    assert "Traceback" not in printed.text and "internal error" not in printed.text
    if not command.shown:
        assert printed.code in ((0, 1) if FINDS.search(command.line) else (0,)), printed.text
    else:
        begins, elided, ends = command.shown.partition(f"{ELISION}\n")
        lines = settled(printed.text)
        assert (lines[: len(settled(begins))] if elided else lines) == settled(begins)
        assert not ends


@pytest.mark.parametrize("command", ALONE, ids=name_of)
def test_a_command_prints_what_is_shown(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shell = Shell(tmp_path, "default")
    monkeypatch.chdir(shell.folder)
    check(shell, command)


@pytest.fixture
def with_cluster(tmp_path: Path, control_plane: ControlPlane, namespace: str) -> Shell:
    """A shell whose cluster knows Grove's kinds and has the sets that the pages ask it for."""
    shell = Shell(tmp_path, namespace, control_plane)
    sets = [yaml.load((shell.folder / f"{name}.yaml").read_text(), yaml.CSafeLoader) for name in ("deepseek", "qwen")]
    with_definitions(control_plane).objects.apply(sets)
    return shell


@pytest.mark.cluster
@pytest.mark.parametrize("command", WITH_CLUSTER, ids=name_of)
def test_a_command_works_on_a_real_server(command: Command, with_cluster: Shell) -> None:
    check(with_cluster, command)


def test_what_runs_is_most_of_what_is_printed() -> None:
    assert len(ALONE) > 60
    assert len(WITH_CLUSTER) > 8
    assert {command.page for command in COMMANDS if command.shown} >= {"README.md", "explain.md", "impact.md"}
