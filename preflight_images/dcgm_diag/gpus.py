"""Which GPUs the container has: their UUIDs, which mean the same to the container and to the node's engine, unlike indices."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence

from preflight_images.shared.outcome import Misconfigured

UUID = re.compile(r"GPU-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
QUERY = ("nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader")
DISCOVERY = re.compile(r"^\|\s*(\d+)\s*\|.*$")

Run = Callable[[Sequence[str]], str]
"""Runs a program and returns what it prints."""


def own_uuids(run: Run) -> list[str]:
    """Returns the UUIDs of the container's GPUs, from NVML or else from nvidia-smi. Raises `Misconfigured` without any."""
    uuids = _by_nvml()
    if uuids is None:
        try:
            uuids = UUID.findall(run(QUERY))
        except (OSError, subprocess.SubprocessError) as error:
            raise Misconfigured(f"neither NVML nor nvidia-smi can be asked for the GPUs: {error}") from None
    if not uuids:
        raise Misconfigured("the container has no GPU")
    return list(dict.fromkeys(uuids))


def _by_nvml() -> list[str] | None:
    """The UUIDs by NVML; none where it cannot be asked."""
    try:
        import pynvml
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return None
    try:
        handles = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())]
        return [text if isinstance(text := pynvml.nvmlDeviceGetUUID(handle), str) else text.decode() for handle in handles]
    except pynvml.NVMLError:
        return None
    finally:
        pynvml.nvmlShutdown()


def engine_indices(discovery: str) -> dict[str, int]:
    """Reads `dcgmi discovery -l`: the engine's index of each UUID. The engine sees all GPUs of the node, the container only its own."""
    found: dict[str, int] = {}
    index: int | None = None
    for line in discovery.splitlines():
        row = DISCOVERY.match(line)
        if row:
            index = int(row.group(1))
        uuid = UUID.search(line)
        if uuid and index is not None:
            found[uuid.group()] = index
    return found
