"""The GPUs of the container: all of them are found, or none is tested as if it were all."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from preflight_images.dcgm_diag.check import check, printed
from preflight_images.dcgm_diag.gpus import NotWhole, UnreadableList, engine_indices, own_uuids
from preflight_images.nccl_loopback.check import count_gpus
from preflight_images.shared.outcome import Misconfigured, RecommendedAction
from preflight_images.shared.settings import read_settings

UUIDS = [f"GPU-0e3f2d4c-aaaa-bbbb-cccc-12345678900{number}" for number in range(3)]
LOST, UNKNOWN = 15, 999


class NVMLError(Exception):
    """As NVML's bindings have it."""

    def __init__(self, value: int) -> None:
        self.value = value
        super().__init__(f"NVML error {value}")


def nvml(monkeypatch: pytest.MonkeyPatch, *answers: str | int) -> None:
    """NVML, which answers for each GPU with its UUID, or with an error of this number."""

    def uuid(answer: str | int) -> str:
        if isinstance(answer, int):
            raise NVMLError(answer)
        return answer

    made = SimpleNamespace(
        NVMLError=NVMLError,
        nvmlInit=lambda: None,
        nvmlShutdown=lambda: None,
        nvmlDeviceGetCount=lambda: len(answers),
        nvmlDeviceGetHandleByIndex=lambda index: answers[index],
        nvmlDeviceGetUUID=uuid,
    )
    monkeypatch.setitem(sys.modules, "pynvml", made)


def nobody(_: object) -> str:
    raise OSError("there is no nvidia-smi")


def test_all_gpus_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    nvml(monkeypatch, *UUIDS)
    assert own_uuids(nobody) == UUIDS


@pytest.mark.parametrize("error", [LOST, UNKNOWN])
def test_those_that_answer_are_not_tested_alone(error: int, monkeypatch: pytest.MonkeyPatch) -> None:
    nvml(monkeypatch, UUIDS[0], error, UUIDS[2])
    with pytest.raises(NotWhole, match="GPU 1"):
        own_uuids(lambda _: "\n".join(UUIDS[::2]))


VERDICTS = [
    (LOST, "DCGM_FR_FALLEN_OFF_BUS", True, RecommendedAction.CONTACT_SUPPORT),
    (UNKNOWN, "NVML_ERROR", False, RecommendedAction.NONE),
]


@pytest.mark.parametrize(("error", "code", "fatal", "action"), VERDICTS)
def test_a_gpu_off_its_bus_is_a_fault_of_hardware(
    error: int, code: str, fatal: bool, action: RecommendedAction, monkeypatch: pytest.MonkeyPatch
) -> None:
    nvml(monkeypatch, UUIDS[0], error)
    told = {"NODE_NAME": "n", "DCGM_HOSTENGINE_ADDR": "engine:5555"}
    outcome = check(told, read_settings(told))
    (report,) = outcome.reports
    assert (outcome.exit_code, report.error_code, report.is_fatal, report.action) == (1, code, fatal, action)


def test_what_a_program_prints_that_fails_counts_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with pytest.raises(Misconfigured, match="nvidia-smi"):
        own_uuids(lambda _: printed(("sh", "-c", f"echo {UUIDS[0]}; exit 15"), 60))


LOST_GPU = "Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost.  Reboot the system to recover this GPU"
PARTS = {"a GPU that is lost": LOST_GPU, "a part of a UUID": UUIDS[1][:20], "a heading": "uuid", "two in a line": " ".join(UUIDS[:2])}


@pytest.mark.parametrize("what", PARTS)
def test_whatever_else_nvidia_smi_says_of_gpus_they_are_not_all_there(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with pytest.raises(NotWhole) as raised:
        own_uuids(lambda _: f"{UUIDS[0]}\n{PARTS[what]}\n")
    assert raised.value.is_lost is (PARTS[what] == LOST_GPU)


def test_a_loopback_of_some_gpus_is_none_of_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "nvidia-smi"
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    for text, count in ((f"{UUIDS[0]}\n{UUIDS[1]}\n\n", 2), (f"{UUIDS[0]}\n{LOST_GPU}\n", 0)):
        program.write_text(f"#!/bin/sh\ncat <<END\n{text}END\n")
        program.chmod(0o755)
        if count:
            assert count_gpus() == count
        else:
            with pytest.raises(Misconfigured, match="is lost"):
                count_gpus()


LISTED = "2 GPUs found.\n" + "".join(
    f"| {index} | Name: H100 |\n|   | Device UUID: {uuid} |\n" for index, uuid in ((0, UUIDS[0]), (5, UUIDS[1]))
)
LISTS = {
    "a GPU without an index": LISTED.replace("| 5 | Name: H100 |\n", ""),
    "an index of two GPUs": LISTED.replace("| 5 |", "| 0 |"),
    "a GPU with two indices": LISTED + f"| 6 | Name: H100 |\n|   | Device UUID: {UUIDS[1]} |\n",
    "fewer than were found": LISTED.partition("| 5 |")[0],
    "more than were found": LISTED.replace("2 GPUs", "1 GPU"),
}


@pytest.mark.parametrize("what", LISTS)
def test_a_list_of_the_engine_that_may_lead_to_other_gpus_leads_to_none(what: str) -> None:
    assert engine_indices(LISTED) == {UUIDS[0]: 0, UUIDS[1]: 5}
    with pytest.raises(UnreadableList):
        engine_indices(LISTS[what])
