"""Measures the bandwidth of all-reduce over all ranks of a gang: what torchrun starts for each GPU."""

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
"""The phases in which a rank may fail; before them comes the forming of the gang."""
MET = "met"
"""A file among the reports which says that ranks have found one another."""


def bus_bandwidth(size: int, iterations: int, elapsed: float, ranks: int) -> float:
    """Returns GB/s (10^9) as the design computes it: bytes by time, times 2(n-1)/n."""
    return size * iterations / elapsed / 1e9 * (2 * (ranks - 1) / ranks)


def measure(environment: Mapping[str, str], report: Path) -> None:
    """Runs the collective and writes what this rank found to its file: the phase that it reached, the error, the bandwidth.

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
    # One verdict for the gang: where a pod passes and starts, and another is a little slower and fails, that one never finds it again.
    slowest = torch.tensor([measured], dtype=torch.float64, device=device)
    dist.all_reduce(slowest, op=dist.ReduceOp.MIN)
    return float(slowest[0])


if __name__ == "__main__":
    folder = Path(os.environ["RANK_REPORTS"])
    measure(os.environ, folder / f"{int(os.environ.get('RANK', '0')):06d}.json")
    sys.stdout.flush()
