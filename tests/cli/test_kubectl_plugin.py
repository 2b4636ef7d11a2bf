"""`kubectl grove`: the same program under kubectl's roof, and what kubectl completes."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from applier.testing.control_plane import ControlPlane

from .processes import EXAMPLE, environment
from .running import ROOT, Ended

SCRIPTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]


def run(name: str, *words: str, folder: Path = ROOT) -> Ended:
    """A script of the installation."""
    module, _, function = SCRIPTS[name].partition(":")
    command = [sys.executable, "-c", f"from {module} import {function}; {function}()", *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment(), check=False, timeout=60)
    return Ended(done.returncode, done.stdout, done.stderr)


def test_help_and_examples_call_it_as_it_was_called() -> None:
    ended = run("kubectl-grove", "get", "sets", "--help")
    assert ended.out.startswith("Usage: kubectl grove get sets [OPTIONS]")
    assert "\n    kubectl grove get sets -A --watch " in ended.out
    assert "\n    grove " not in ended.out
    assert "Usage: grove get sets" in run("grove", "get", "sets", "--help").out


def test_a_mistake_names_it_as_well() -> None:
    ended = run("kubectl-grove", "get", "sets", "--nope")
    assert (ended.code, "Try 'kubectl grove get sets --help' for help." in ended.err) == (2, True)


def test_it_does_the_same() -> None:
    assert run("kubectl-grove", "compile", EXAMPLE) == run("grove", "compile", EXAMPLE)


def completed(*words: str) -> list[str]:
    ended = run("kubectl_complete-grove", *words)
    assert (ended.code, ended.err) == (0, "")
    return ended.out.splitlines()


def test_commands_are_completed_with_their_help() -> None:
    [line, directive] = completed("ro")
    assert (line.startswith("rollout\tFollow, list, start"), directive) == (True, ":4")
    assert [line.partition("\t")[0] for line in completed("rollout", "re")] == ["restart", "resume", ":4"]


def test_values_are_completed_without_files_and_files_by_the_shell() -> None:
    assert completed("compile", "-o", "j") == ["json", ":4"]
    assert completed("compile", "--snapshot", "") == [":0"]


def test_a_cluster_that_is_not_there_offers_nothing(tmp_path: Path) -> None:
    assert completed("rollout", "undo", "--kubeconfig", str(tmp_path / "none"), "") == [":4"]


@pytest.mark.cluster
def test_kubectl_finds_it_and_asks_it_for_completions(control_plane: ControlPlane, tmp_path: Path) -> None:
    for name, target in SCRIPTS.items():
        module, _, function = target.partition(":")
        script = tmp_path / name
        script.write_text(f'#!/bin/sh\nexec {sys.executable} -c "from {module} import {function}; {function}()" "$@"\n')
        script.chmod(0o755)
    path = os.pathsep.join((str(tmp_path), os.environ["PATH"]))
    kubectl = str(control_plane.programs.path("kubectl"))

    def asked(*words: str) -> str:
        done = subprocess.run([kubectl, *words], capture_output=True, text=True, env=environment(PATH=path), check=False, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert asked("grove", "--version").startswith("grove ")
    assert asked("__complete", "grove", "rollout", "hi").splitlines()[0].startswith("history\t")
