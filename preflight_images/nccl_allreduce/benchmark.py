"""Measures the bandwidth of all-reduce over all ranks of a gang; torchrun starts it for each GPU."""

from __future__ import annotations

import datetime
import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

INIT, COLLECTIVE = "init", "collective"
"""The phases in which a rank may fail, after the gang has formed."""
MET = "met"
"""A file next to the reports that exists once ranks have connected to each other."""


def bus_bandwidth(size: int, iterations: int, elapsed: float, ranks: int) -> float:
    """Returns GB/s (10^9) as defined by the design: bytes by time, times 2(n-1)/n."""
    return size * iterations / elapsed / 1e9 * (2 * (ranks - 1) / ranks)


def measure(environment: Mapping[str, str], report: Path) -> None:
    """Runs the collective, and writes the phase, error and bandwidth of this rank to its file.

    The file is written whatever happens, also by ranks whose peer died, so that each pod can tell what it saw itself.
    """
    phase, result = INIT, dict[str, Any]()
    try:
        import torch
        import torch.distributed as dist

        backend = environment.get("DIST_BACKEND") or "nccl"
        timeout = datetime.timedelta(seconds=float(environment["COLLECTIVE_TIMEOUT"]))
        dist.init_process_group(backend=backend, timeout=timeout)
        dist.barrier()
        (report.parent / MET).touch()
        phase = COLLECTIVE
        result = {"bus_bandwidth_gbps": _all_reduce(torch, dist, environment, backend), "ranks": dist.get_world_size()}
        dist.destroy_process_group()
    except Exception as error:
        result = {"error": f"{type(error).__name__}: {error}"}
    finally:
        result |= {"phase": phase, "rank": int(environment.get("RANK", "0"))}
        unfinished = report.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(result))
        unfinished.rename(report)


def _all_reduce(torch: Any, dist: Any, environment: Mapping[str, str], backend: str) -> float:
    device = "cpu"
    if backend == "nccl":
        device = f"cuda:{environment.get('LOCAL_RANK', '0')}"
        torch.cuda.set_device(int(environment.get("LOCAL_RANK", "0")))
    size, iterations, warm_up = (int(environment[name]) for name in ("MESSAGE_BYTES", "BENCHMARK_ITERS", "WARMUP_ITERS"))
    tensor = torch.randn(size // 4, dtype=torch.float32, device=device)
    settle = torch.cuda.synchronize if backend == "nccl" else dist.barrier
    for _ in range(warm_up):
        dist.all_reduce(tensor, op=dist.ReduceOp.SUM)
    settle()
    began = time.perf_counter()
    for _ in range(iterations):
        dist.all_reduce(tensor, op=dist.ReduceOp.SUM)
    settle()
    measured = bus_bandwidth(size, iterations, time.perf_counter() - began, dist.get_world_size())
    # All pods use one result: if one passed and started while a slightly slower one failed, the latter could not find it again.
    slowest = torch.tensor([measured], dtype=torch.float64, device=device)
    dist.all_reduce(slowest, op=dist.ReduceOp.MIN)
    return float(slowest[0])


if __name__ == "__main__":
    folder = Path(os.environ["RANK_REPORTS"])
    measure(os.environ, folder / f"{int(os.environ.get('RANK', '0')):06d}.json")
    sys.stdout.flush()
