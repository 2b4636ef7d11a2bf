"""`grove preflight run --local`: the checks of this machine, with programs in place of NVIDIA's that print what was recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.preflight.checks.recorded import RELEASES

from ..running import Ended, run

UUIDS = ["GPU-0e3f2d4c-aaaa-bbbb-cccc-1234567890ab", "GPU-1e3f2d4c-aaaa-bbbb-cccc-1234567890ab"]


def script(folder: Path, name: str, text: str) -> None:
    """A program that prints a text, whatever it is asked."""
    (folder / f"{name}.txt").write_text(text)
    program = folder / name
    program.write_text(f"#!/bin/sh\ncat {folder}/{name}.txt\n")
    program.chmod(0o755)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with two GPUs and nccl-tests."""
    script(tmp_path, "nvidia-smi", "\n".join(UUIDS) + "\n")
    script(tmp_path, "all_reduce_perf", RELEASES["2.13"])
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def local(*arguments: str) -> Ended:
    return run("preflight", "run", "--local", *arguments)


@pytest.mark.usefixtures("machine")
def test_a_check_that_passes_says_what_it_measured() -> None:
    ended = local("nccl-loopback")
    assert (ended.code, ended.out.splitlines()) == (0, ["nccl-loopback passed after 0 s: 41.5 GB/s between 2 GPUs"])


def test_it_has_the_settings_of_the_values(machine: Path) -> None:
    values = machine / "values.yaml"
    values.write_text("nccl: {loopbackThresholdGBps: 400}\n")
    ended = local("nccl-loopback", "--values", str(values))
    assert ended.code == 1
    assert "nccl-loopback failed (NCCL_BW_DEGRADED) after 0 s: 41.5 GB/s between 2 GPUs, less than 400" in ended.out
    assert "recommended: NONE" in ended.out


@pytest.mark.usefixtures("machine")
def test_the_worst_check_says_how_it_ends() -> None:
    ended = local()
    assert ended.code == 2
    assert [line.split()[0] for line in ended.out.splitlines() if not line.startswith(" ")] == ["dcgm-diag", "nccl-loopback"]
    assert "dcgm-diag is misconfigured (CONFIG) after 0 s: dcgmi is not installed" in ended.out


@pytest.mark.usefixtures("machine")
def test_programs_are_told_the_same() -> None:
    told = json.loads(local("nccl-loopback", "-o", "json").out)
    assert (told["check"], told["exitCode"], told["measured"]) == ("nccl-loopback", 0, {"bus_bandwidth_gbps": 41.5})


def test_a_check_of_somebody_else_s_is_an_image_and_does_not_run_here() -> None:
    ended = local("bandwidth-check")
    assert (ended.code, "the checks that can run locally are dcgm-diag, nccl-loopback, nccl-allreduce" in ended.err) == (2, True)


def test_nothing_runs_where_nobody_says_that_it_is_this_machine_that_is_meant() -> None:
    assert run("preflight", "run").code == 2
