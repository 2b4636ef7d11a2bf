"""The gang's files and the verdict on what ranks found."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from preflight_images.nccl_allreduce.benchmark import bus_bandwidth
from preflight_images.nccl_allreduce.check import check, judge, launch, measure, message_bytes, read_report, torchrun
from preflight_images.nccl_allreduce.gang import GangTimeout, GangWatch, RankedGang, read_gang, wait_for_gang
from preflight_images.shared.nccl import ACTIONS, FATAL, failure
from preflight_images.shared.outcome import Misconfigured, RecommendedAction
from preflight_images.shared.settings import CheckSettings
from tests.suite.rows import rows

from .test_connector import Clock


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


WHOLE = {"expected_count": "2", "master_addr": "10.0.1.5", "peers": "pod-1:10.0.1.6\npod-0:10.0.1.5\n"}


def test_the_rank_is_the_position_among_the_names(tmp_path: Path) -> None:
    gang, _ = read_gang(write(tmp_path, **WHOLE), "pod-1")
    assert gang is not None
    assert (gang.peers, gang.rank, gang.master) == (("pod-0", "pod-1"), 1, "10.0.1.5")


WAITS = {
    "no files": {},
    "a size that nobody knows": {**WHOLE, "expected_count": "0"},
    "a peer that is missing": {**WHOLE, "peers": "pod-0:10.0.1.5\n"},
    "a stranger in one's place": {**WHOLE, "peers": "pod-0:10.0.1.5\npod-2:10.0.1.7\n"},
    "an address of the first that does not exist yet": {**WHOLE, "master_addr": ""},
    "files of two moments": {**WHOLE, "master_addr": "10.0.1.9"},
}


@rows("what", WAITS)
def test_a_gang_that_is_not_whole_is_waited_for_and_given_up_in_time(what: str, tmp_path: Path) -> None:
    clock, told = Clock(), list[str]()
    with pytest.raises(GangTimeout):
        wait_for_gang(write(tmp_path, **WAITS[what]), "pod-1", 600, told.append, clock.time, clock.sleep)
    assert (sum(clock.pauses), len(told)) == (600, 1)


def test_a_peer_that_comes_late_ends_the_wait(tmp_path: Path) -> None:
    clock = Clock()
    write(tmp_path, **WAITS["a peer that is missing"])

    def sleep(seconds: float) -> None:
        clock.sleep(seconds)
        if len(clock.pauses) == 3:
            write(tmp_path, **WHOLE)

    assert wait_for_gang(tmp_path, "pod-1", 600, lambda _: None, clock.time, sleep).waited == sum(clock.pauses)


def test_files_of_a_gang_that_had_the_same_names_before_are_none_of_ours(tmp_path: Path) -> None:
    write(tmp_path, **WHOLE)
    gangs = [read_gang(tmp_path, "pod-1", address)[0] for address in ("10.0.1.6", "10.0.9.6", "")]
    assert [gang is not None for gang in gangs] == [True, False, True]


def test_ranks_of_a_gang_with_another_peer_do_not_meet_those_of_before(tmp_path: Path) -> None:
    before, _ = read_gang(write(tmp_path, **WHOLE), "pod-1")
    same, _ = read_gang(tmp_path, "pod-0")
    after, _ = read_gang(write(tmp_path, peers="pod-1:10.0.1.9\npod-0:10.0.1.5\n"), "pod-1")
    assert before is not None
    assert same is not None
    assert after is not None
    assert before.generation == same.generation != after.generation


CHANGES: dict[str, tuple[list[dict[str, str]], list[bool]]] = {
    "nothing": ([{}, {}], [False, False]),
    "a pod that was replaced": ([{"peers": "pod-1:10.0.1.6\npod-0:10.0.1.9\n", "master_addr": "10.0.1.9"}, {}], [False, True]),
    "a pod that left": ([{"peers": "pod-1:10.0.1.6\n"}, {}], [False, True]),
    "files of two moments": ([{"peers": "pod-1:10.0.1.6\n"}, WHOLE, {"peers": "garbage"}, {}], [False, False, False, True]),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_of_the_gang_is_seen_once_it_is_no_accident(what: str, tmp_path: Path) -> None:
    gang, _ = read_gang(write(tmp_path, **WHOLE), "pod-1")
    assert gang is not None
    watch, (changes, seen) = GangWatch(tmp_path, "pod-1", "", gang), CHANGES[what]
    assert [watch.has_changed() for change in changes if write(tmp_path, **change)] == seen


class Marked(GangWatch):
    """Says that the gang has changed once a file is there, which the program makes itself."""

    def __init__(self, folder: Path) -> None:
        self._mark = folder / "changed"

    def has_changed(self) -> bool:
        return self._mark.exists()


MEETS = "import os, pathlib, sys; reports = pathlib.Path(os.environ['RANK_REPORTS']); (reports / 'met').touch(); "
CHANGES_GANG = "import pathlib, sys, time; (pathlib.Path(sys.argv[1]) / 'changed').touch(); "
TELLS = """(reports / '000000.json').write_text('{"rank": 0, "ranks": 2, "bus_bandwidth_gbps": 9}')"""
PROGRAMS: dict[str, tuple[str, str | None]] = {
    "that waits for a pod which was replaced": (CHANGES_GANG + "time.sleep(3600)", None),
    "that fails since its peer is gone": (CHANGES_GANG + "sys.exit(1)", None),
    "whose ranks have met": (MEETS + CHANGES_GANG + TELLS, ""),
    "that fails after its ranks have met": (MEETS + CHANGES_GANG + "sys.exit(1)", "NCCL_TIMEOUT"),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_gang_that_changes_is_met_anew_unless_its_ranks_have_met(program: str, tmp_path: Path) -> None:
    text, code = PROGRAMS[program]
    outcome = measure([sys.executable, "-c", text, str(tmp_path)], {}, 1, 5.0, 3600, Marked(tmp_path), poll=0.01)
    assert (outcome.error_code if outcome is not None else None) == code


def test_a_failure_at_once_is_one_where_the_gang_stays_what_it_is(tmp_path: Path) -> None:
    outcome = measure([sys.executable, "-c", "raise SystemExit(1)"], {}, 1, 5.0, 3600, Marked(tmp_path), settling=0.05, poll=0.01)
    assert outcome is not None
    assert outcome.error_code == "NCCL_TIMEOUT"


WRONG = [{"expected_count": "two"}, {"peers": "pod-0 10.0.1.5"}, {"master_port": "any"}]


@pytest.mark.parametrize("files", [{**WHOLE, **wrong} for wrong in WRONG])
def test_files_that_waiting_will_not_mend_are_misconfigured(files: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(Misconfigured):
        read_gang(write(tmp_path, **files), "pod-1")


def test_an_address_of_ipv6_keeps_its_colons(tmp_path: Path) -> None:
    gang, _ = read_gang(write(tmp_path, expected_count="1", master_addr="fd00::5", peers="pod-0:fd00::5"), "pod-0")
    assert gang is not None
    assert gang.master == "fd00::5"


def test_a_gang_that_does_not_form_blames_no_hardware(tmp_path: Path) -> None:
    settings = CheckSettings("n", "unix:///s", "EXECUTE_REMEDIATION", 1, "", "", "")
    told = {"MY_POD_NAME": "pod-0", "GANG_CONFIG_DIR": str(tmp_path), "GANG_TIMEOUT": "1ns", "NPROCS_PER_NODE": "1"}
    outcome = check(told, settings)
    (report,) = outcome.reports
    assert (outcome.exit_code, report.error_code, report.is_fatal) == (1, "NCCL_GANG_TIMEOUT", False)


def test_torchrun_is_told_what_the_design_tells_it() -> None:
    command = torchrun(RankedGang(("pod-0", "pod-1"), 1, "10.0.1.5", 0.0), 8, 29500)
    expected = ["--nnodes=2", "--nproc_per_node=8", "--node_rank=1", "--master_addr=10.0.1.5", "--master_port=29500"]
    assert [argument for argument in command if argument.startswith("--")] == expected


@pytest.mark.parametrize(("own", "configured", "used"), [(0, 29500, 29500), (23456, 29500, 23456), (23456, 4321, 4321)])
def test_ranks_meet_at_the_port_of_the_gang_unless_another_is_configured(own: int, configured: int, used: int, tmp_path: Path) -> None:
    files = WHOLE | ({"master_port": f"{own}"} if own else {})
    gang, _ = read_gang(write(tmp_path, **files), "pod-1")
    assert gang is not None
    assert f"--master_port={used}" in torchrun(gang, 8, configured)


def test_torchrun_and_its_ranks_do_not_outlive_their_time() -> None:
    assert launch([sys.executable, "-c", "import time; time.sleep(3600)"], {}, 1) == "torchrun did not end within 1 s"


# ADR-026, Error to Recommended Action Mapping and isFatal determination
ERRORS = [
    ("NCCL_SYSTEM_ERROR", RecommendedAction.CONTACT_SUPPORT, True),
    ("NCCL_INTERNAL_ERROR", RecommendedAction.RUN_DCGMEUD, True),
    ("NCCL_INVALID_USAGE", RecommendedAction.NONE, False),
    ("NCCL_TIMEOUT", RecommendedAction.NONE, False),
    ("NCCL_REMOTE_ERROR", RecommendedAction.CONTACT_SUPPORT, True),
]


@pytest.mark.parametrize(("code", "action", "fatal"), ERRORS)
def test_an_error_means_what_the_table_says(code: str, action: RecommendedAction, fatal: bool) -> None:
    (report,) = failure("Test", code, "text").reports
    assert (report.action, report.is_fatal) == (action, fatal)


def test_the_table_has_no_other_errors() -> None:
    assert {code for code, _, _ in ERRORS} == set(ACTIONS) >= FATAL


def rank(number: int, **more: Any) -> dict[str, Any]:
    return {"rank": number, "phase": "collective", "bus_bandwidth_gbps": 100.0, "ranks": 4} | more


TIMEOUT = "DistBackendError: Watchdog caught collective operation timeout"
VERDICTS = {
    "all well": ([rank(0), rank(1)], "", 0, ""),
    "the slowest rank counts": ([rank(0), rank(1, bus_bandwidth_gbps=4.9)], "", 1, "NCCL_BW_DEGRADED"),
    "a bandwidth that is no number": ([rank(0), rank(1, bus_bandwidth_gbps=float("nan"))], "", 1, "NCCL_BW_DEGRADED"),
    "a bandwidth without end": ([rank(0), rank(1, bus_bandwidth_gbps=float("inf"))], "", 1, "NCCL_BW_DEGRADED"),
    "a rank that told nothing": ([rank(0)], "torchrun ended with exit code 1", 1, "NCCL_TIMEOUT"),
    "a timeout while ranks find one another": ([rank(0, phase="init", error="DistStoreError: Timed out")], "", 1, "NCCL_INIT_TIMEOUT"),
    "a first pod that went while ranks found one another": (
        [rank(0, phase="init", error="DistNetworkError: Connection reset by peer"), rank(1)],
        "",
        1,
        "NCCL_INIT_TIMEOUT",
    ),
    "a failure of NCCL while ranks found one another": (
        [rank(0, phase="init", error="DistStoreError: closed"), rank(1, phase="init", error="DistBackendError: ncclSystemError: IB")],
        "",
        1,
        "NCCL_SYSTEM_ERROR",
    ),
    "memory that somebody else has": ([rank(0, error="OutOfMemoryError: CUDA out of memory")], "", 1, "NCCL_TEST_ERROR"),
    "an image without PyTorch": ([rank(0, phase="init", error="ModuleNotFoundError: No module named 'torch'")], "", 1, "NCCL_TEST_ERROR"),
    "an error of NCCL that nobody knows": ([rank(0, error="DistBackendError: NCCL error in: x.cpp:1, 42")], "", 1, "NCCL_INTERNAL_ERROR"),
    "a timeout in the collective": ([rank(0, error=TIMEOUT)], "", 1, "NCCL_TIMEOUT"),
    "a peer that died": ([rank(0, error="RuntimeError: Connection closed by peer [10.0.1.6]:1234")], "", 1, "NCCL_REMOTE_ERROR"),
    "of two errors that of the hardware": ([rank(0, error=TIMEOUT), rank(1, error="ncclSystemError: IB")], "", 1, "NCCL_SYSTEM_ERROR"),
    "ranks of different gangs": ([rank(0), rank(1, ranks=1)], "", 1, "NCCL_TEST_ERROR"),
    "ranks of another gang": ([rank(0, ranks=1), rank(1, ranks=1)], "", 1, "NCCL_TEST_ERROR"),
    "a rank that reports twice": ([rank(0), rank(0)], "", 1, "NCCL_TEST_ERROR"),
    "an end that is none": ([rank(0), rank(1)], "torchrun ended with exit code 1", 1, "NCCL_TEST_ERROR"),
}


@rows("what", VERDICTS)
def test_what_ranks_found_is_one_verdict(what: str) -> None:
    ranks, ended, code, error = VERDICTS[what]
    outcome = judge(ranks, 2, 5.0, ended, 4)
    assert (outcome.exit_code, outcome.error_code) == (code, error)


NO_REPORTS = {
    "nothing": "",
    "half of one": '{"rank": 1, "ran',
    "two": '{"rank": 1, "ranks": 4, "bus_bandwidth_gbps": 4.9}{"rank": 1, "ranks": 4, "bus_bandwidth_gbps": 100.0}',
    "a number that is there twice": '{"rank": 1, "ranks": 4, "bus_bandwidth_gbps": 4.9, "bus_bandwidth_gbps": 100.0}',
    "another rank's": '{"rank": 0, "ranks": 4, "bus_bandwidth_gbps": 100.0}',
    "a text for a number": '{"rank": 1, "ranks": 4, "bus_bandwidth_gbps": "100.0"}',
    "true for a number": '{"rank": 1, "ranks": true, "bus_bandwidth_gbps": 100.0}',
    "a list": "[1]",
    "an error that is empty": '{"rank": 1, "phase": "collective", "error": ""}',
    "an error that is no text": '{"rank": 1, "ranks": 4, "bus_bandwidth_gbps": 100.0, "error": 1}',
}


@rows("what", NO_REPORTS)
def test_what_is_no_report_of_a_rank_is_no_pass(what: str) -> None:
    outcome = judge([rank(0), read_report("000001", NO_REPORTS[what])], 2, 5.0, "", 4)
    assert (outcome.exit_code, outcome.error_code) == (1, "NCCL_TEST_ERROR")


def test_a_report_of_a_rank_is_read() -> None:
    text = '{"bus_bandwidth_gbps": 100.0, "ranks": 4, "phase": "collective", "rank": 1}'
    assert judge([rank(0), read_report("000001", text)], 2, 5.0, "", 4).exit_code == 0


@pytest.mark.parametrize(("text", "size"), [("4G", 4 << 30), ("512M", 512 << 20), ("64KiB", 64 << 10), ("1024", 1024), ("1gb", 1 << 30)])
def test_sizes_are_read_with_any_unit(text: str, size: int) -> None:
    assert message_bytes(text) == size


def test_the_bandwidth_is_the_design_s() -> None:
    assert bus_bandwidth(4 * 10**9, 20, 1.0, 16) == pytest.approx(80 * 2 * 15 / 16)
