"""The GPUs of the container: all of them are found, or none is tested as if it were all."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from preflight_images.dcgm_diag.check import check, printed
from preflight_images.dcgm_diag.gpus import NotWhole, own_uuids
from preflight_images.shared.outcome import Action, Misconfigured
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


VERDICTS = [(LOST, "DCGM_FR_FALLEN_OFF_BUS", True, Action.CONTACT_SUPPORT), (UNKNOWN, "NVML_ERROR", False, Action.NONE)]


@pytest.mark.parametrize(("error", "code", "fatal", "action"), VERDICTS)
def test_a_gpu_off_its_bus_is_a_fault_of_hardware(
    error: int, code: str, fatal: bool, action: Action, monkeypatch: pytest.MonkeyPatch
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
