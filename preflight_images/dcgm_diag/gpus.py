"""Lists the GPUs of the container by UUID, which the host engine shares, unlike indices."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from typing import Any

from preflight_images.shared.outcome import Misconfigured

UUID = re.compile(r"GPU-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
QUERY = ("nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader")
DISCOVERY = re.compile(r"^\|\s*([0-9]{1,6})\s*\|.*$")
COUNT = re.compile(r"^\s*([0-9]{1,6}) GPUs? found", re.MULTILINE)

GPU_IS_LOST = 15
"""NVML's error of a GPU that has fallen off its bus."""


class NotWhole(Exception):
    """NVML fails for one of the container's GPUs; `is_lost` if it has fallen off the bus."""

    def __init__(self, text: str, is_lost: bool) -> None:
        self.is_lost = is_lost
        super().__init__(text)


class UnreadableList(Exception):
    """A list of GPUs that tells nothing reliable. The message is one line."""


Run = Callable[[Sequence[str]], str]
"""Runs a program and returns its output."""


def own_uuids(run: Run) -> list[str]:
    """Returns the UUIDs of the container's GPUs by NVML or nvidia-smi. Raises `Misconfigured` without any, and `NotWhole`."""
    uuids = _by_nvml()
    if uuids is None:
        try:
            uuids = _by_nvidia_smi(run(QUERY))
        except (OSError, subprocess.SubprocessError) as error:
            raise Misconfigured(f"neither NVML nor nvidia-smi can list the GPUs: {error}") from None
    if not uuids:
        raise Misconfigured("the container has no GPU")
    return list(dict.fromkeys(uuids))


def _by_nvidia_smi(printed: str) -> list[str]:
    """Returns the UUIDs that nvidia-smi prints, one a line. Raises `NotWhole` where it says anything else of a GPU."""
    lines = list(filter(None, map(str.strip, printed.splitlines())))
    for line in lines:
        if not UUID.fullmatch(line):  # testing only the other GPUs could pass
            raise NotWhole(f"nvidia-smi prints no UUID: {line[:200]}", "is lost" in line)
    return lines


def _by_nvml() -> list[str] | None:
    """Returns the UUIDs by NVML; none if it is not available."""
    try:
        import pynvml
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return None
    try:
        return _uuids(pynvml, pynvml.nvmlDeviceGetCount())
    except pynvml.NVMLError:
        return None
    finally:
        pynvml.nvmlShutdown()


def _uuids(nvml: Any, count: int) -> list[str]:
    found = []
    for index in range(count):
        try:
            text = nvml.nvmlDeviceGetUUID(nvml.nvmlDeviceGetHandleByIndex(index))
        except nvml.NVMLError as error:  # testing only the other GPUs could pass
            raise NotWhole(f"NVML does not answer for GPU {index} of the container: {error}", error.value == GPU_IS_LOST) from None
        found.append(text if isinstance(text, str) else text.decode())
    return found


def engine_indices(discovery: str) -> dict[str, int]:
    """Parses `dcgmi discovery -l`: returns the engine's index of each UUID. The engine sees all GPUs of the node.

    Raises `UnreadableList` for a list that is cut off or garbled: its indices could be those of other GPUs.
    """
    found: dict[str, int] = {}
    index: int | None = None
    for line in discovery.splitlines():
        row = DISCOVERY.match(line)
        if row:
            index = int(row.group(1))
        uuid = UUID.search(line)
        if uuid is None:
            continue
        if index is None or index in found.values() or uuid.group() in found:
            raise UnreadableList(f"the engine's list of GPUs has no index of its own for {uuid.group()}")
        found[uuid.group()], index = index, None
    count = COUNT.search(discovery)
    if count is not None and int(count[1]) != len(found):
        raise UnreadableList(f"the engine's list has {len(found)} of {count[1]} GPUs")
    return found
