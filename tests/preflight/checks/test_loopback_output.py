"""What all_reduce_perf prints, of all releases: whole output is read, and no part of it ever passes for a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from preflight_images.nccl_loopback.check import command, verdict
from preflight_images.nccl_loopback.output import read_output
from preflight_images.shared.nccl import with_topology
from preflight_images.shared.outcome import UnreadableOutput
from tests.suite.rows import rows

from .mutations import slowed
from .recorded import RELEASES, sweep


@pytest.mark.parametrize("release", RELEASES)
def test_the_slower_half_at_the_largest_size_counts(release: str) -> None:
    result = read_output(RELEASES[release])
    assert (result.size, result.bus, result.gpus, result.wrong) == (268435456, 41.5, 2, 0)


@pytest.mark.parametrize("release", RELEASES)
def test_no_output_that_is_cut_off_passes(release: str) -> None:
    text = RELEASES[release]
    end = text.index("\n", text.index("Avg bus bandwidth"))
    passed = [length for length in range(end + 1) if verdict(0, text[:length], 1.0, 2).exit_code == 0]
    assert passed == []


@rows("release", RELEASES)
@rows("garbled", ["nan", "inf", "-41.50", "4l.50", "***"])
def test_what_is_no_bandwidth_is_none(release: str, garbled: str) -> None:
    with pytest.raises(UnreadableOutput):
        read_output(RELEASES[release].replace("41.50", garbled))


THRESHOLDS = [(41.5, 0, ""), (41.6, 1, "NCCL_BW_DEGRADED"), (0.0, 0, "")]


@pytest.mark.parametrize(("threshold", "code", "error"), THRESHOLDS)
def test_the_bandwidth_has_to_reach_the_threshold(threshold: float, code: int, error: str) -> None:
    outcome = verdict(0, RELEASES["2.13"], threshold, 2)
    assert (outcome.exit_code, outcome.error_code, outcome.measured) == (code, error, {"bus_bandwidth_gbps": 41.5})


def test_one_gpu_has_no_link_to_be_slow() -> None:
    text = RELEASES["2.13"].replace("#  Rank  1", "#  rest  1").replace("nGpus 2", "nGpus 1").replace("41.50   41.50", "41.50    0.00")
    text = text.replace("42.00   42.00", "42.00    0.00")
    assert verdict(0, text, 10.0, 1).exit_code == 0


FAILURES = {
    "node: Test CUDA failure common.cu:892 'system not yet initialized'": ("NCCL_SYSTEM_ERROR", True),
    "node: Test NCCL failure common.cu:958 'unhandled system error / Net'": ("NCCL_SYSTEM_ERROR", True),
    "node: Test NCCL failure common.cu:958 'internal error - please report this issue / '": ("NCCL_INTERNAL_ERROR", True),
    "node: Test NCCL failure common.cu:958 'invalid usage (run with NCCL_DEBUG=WARN) / '": ("NCCL_INVALID_USAGE", False),
    "node: Test NCCL failure common.cu:958 'remote process exited or there was a network error / '": ("NCCL_REMOTE_ERROR", True),
    "node: Test timeout (120s) common.cu:400": ("NCCL_TIMEOUT", False),
    "node: Test CUDA failure common.cu:892 'CUDA driver version is insufficient for CUDA runtime version'": ("NCCL_INVALID_USAGE", False),
    "node: Test CUDA failure common.cu:892 'out of memory'": ("NCCL_TEST_ERROR", False),
    "node: Test NCCL failure common.cu:958 'a word of tomorrow / '": ("NCCL_INTERNAL_ERROR", True),
    " .. node pid 12: Test failure common.cu:1100": ("NCCL_TEST_ERROR", False),
    "node: Test NCCL failure common.cu:958 'unhandled system error / shared memory segment /dev/shm/nccl-x: No space left on device'": (
        "NCCL_SHARED_MEMORY",
        False,
    ),
}


@rows("line", FAILURES)
def test_a_failure_has_its_place_in_the_design_s_taxonomy(line: str) -> None:
    outcome = verdict(3, RELEASES["2.13"] + line, 1.0, 2)
    (report,) = outcome.reports
    assert (outcome.exit_code, (report.error_code, report.is_fatal)) == (1, FAILURES[line])


def test_a_bandwidth_that_its_own_row_contradicts_is_none() -> None:
    with pytest.raises(UnreadableOutput, match="contradict"):
        read_output(RELEASES["2.13"].replace("41.50   41.50", "41.50   415.0"))


OUT = RELEASES["2.13"]
LAST_ROW = next(line for line in OUT.splitlines(keepends=True) if line.lstrip().startswith("268435456"))
CONTRADICTIONS = {
    "a time of another bandwidth": OUT.replace("6468.3", "64683."),
    "a time that is none": OUT.replace("6468.3", "     0"),
    "a slow half whose bandwidths were mended": slowed(OUT).replace(" 4.15    4.15", "41.50   41.50"),
    "a row that is there twice": OUT.replace(LAST_ROW, LAST_ROW * 2),
    "rows that changed places": OUT.replace(LAST_ROW, "").replace("           8 ", LAST_ROW + "           8 "),
    "a size that its count contradicts": OUT.replace("67108864", "67108863"),
    "another operation": LAST_ROW.join(OUT.replace("  sum ", " prod ").split(LAST_ROW)),
    "an output after another": slowed(OUT) + OUT,
    "an output before another": OUT + slowed(OUT),
    "a row after the end": OUT + LAST_ROW.replace("41.50", "4.15"),
    "a beginning after the end": OUT + "# Using devices\n",
    "ranks that are there twice": OUT.replace("#  Rank  1", "#  Rank  0"),
    "an end that is missing": RELEASES["2.18"].replace("# Collective test concluded: all_reduce_perf\n", ""),
}


@rows("what", CONTRADICTIONS)
def test_an_output_that_contradicts_itself_is_none(what: str) -> None:
    outcome = verdict(0, CONTRADICTIONS[what], 1.0, 2)
    assert (outcome.exit_code, outcome.error_code) == (1, "NCCL_TEST_ERROR")


@rows("release", RELEASES)
def test_an_output_of_all_sizes_is_read(release: str) -> None:
    assert verdict(0, sweep(release), 10.0, 2).measured == {"bus_bandwidth_gbps": 41.5}
    assert verdict(0, slowed(sweep(release)), 10.0, 2).measured == {"bus_bandwidth_gbps": 4.15}


def test_the_largest_size_has_to_be_measured() -> None:
    lines = [line for line in RELEASES["2.13"].splitlines(keepends=True) if not line.strip().startswith("268435456")]
    outcome = verdict(0, "".join(lines), 0.0, 2)
    assert (outcome.exit_code, outcome.error_code) == (1, "NCCL_TEST_ERROR")


@pytest.mark.parametrize(("part", "wrong"), [("values : 0 OK", "values : 0 FAILED"), ("1.2e+02", "1.2e+02 FAILED")])
def test_a_failure_in_the_last_lines_is_one(part: str, wrong: str) -> None:
    outcome = verdict(0, RELEASES["2.13"].replace(part, wrong), 1.0, 2)
    assert (outcome.exit_code, outcome.error_code) == (1, "NCCL_INTERNAL_ERROR")


def test_wrong_values_fail_however_fast_they_came() -> None:
    outcome = verdict(1, RELEASES["2.13"].replace("values : 0 OK", "values : 3 FAILED"), 1.0, 2)
    assert (outcome.exit_code, outcome.error_code) == (1, "NCCL_INTERNAL_ERROR")


def test_a_gpu_that_took_no_part_is_no_pass() -> None:
    assert verdict(0, RELEASES["2.13"], 1.0, 8).exit_code == 1


def test_the_command_is_the_design_s() -> None:
    assert " ".join(command("all_reduce_perf", 8)) == "all_reduce_perf -b 8 -e 256M -f 2 -g 8"


def test_a_topology_file_that_is_there_is_nccl_s(tmp_path: Path) -> None:
    file, told = tmp_path / "topology.xml", list[str]()
    file.write_text("<system/>")
    assert with_topology({"NCCL_TOPO_FILE": str(file)}, told.append) == {"NCCL_TOPO_FILE": str(file)}
    assert told == []


def test_without_the_file_nccl_finds_the_topology_out_and_somebody_hears_of_it() -> None:
    told = list[str]()
    assert with_topology({"NCCL_TOPO_FILE": "/nowhere.xml", "NCCL_DEBUG": "INFO"}, told.append) == {"NCCL_DEBUG": "INFO"}
    assert len(told) == 1
