"""Implements the check `nccl-allreduce`: waits for the gang, runs the collective by torchrun, and combines the ranks' results."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from preflight_images.nccl_allreduce.benchmark import COLLECTIVE, INIT, MET
from preflight_images.nccl_allreduce.gang import POLL, GangTimeout, GangWatch, RankedGang, has_passed, instance_type, wait_for_gang
from preflight_images.nccl_loopback.check import count_gpus
from preflight_images.shared.nccl import BANDWIDTH, FATAL, error_of, failure, with_topology
from preflight_images.shared.outcome import PASSED, CheckOutcome, HealthReport, Misconfigured, say, unique_keys, warn
from preflight_images.shared.settings import CheckSettings, required, seconds, threshold_of, whole

NAME = "nccl-allreduce"
DEFAULT_THRESHOLD = 5.0
SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
PATIENCE = 30.0
"""Seconds for torchrun to end after the timeout of the collective, or after SIGTERM."""
DEFAULT_PORT = 29500
"""The design's port. Gangs in the network of their nodes, where another gang's first pod may listen at it, have one of their own."""
CHANGED = "the gang changed before its ranks had connected"
SETTLING = 90.0
"""Seconds after which a kubelet has updated the files of the gang."""
PASSED_BEFORE = CheckOutcome(PASSED, "this pod has already passed with its gang; its sandbox was restarted, and its peers have continued")
"""The outcome of a pod that runs the check again, alone. It has measured nothing, so it reports nothing."""
OF_A_PEER = {"NCCL_INIT_TIMEOUT", "NCCL_TIMEOUT", "NCCL_REMOTE_ERROR"}
"""Errors that may be caused by the replacement of a peer."""


def check(environment: Mapping[str, str], settings: CheckSettings) -> CheckOutcome:
    """Returns the outcome of the test. Raises `Misconfigured`."""
    pod = required(environment, "MY_POD_NAME")
    threshold = threshold_of(environment, "NCCL_ALLREDUCE_THRESHOLD_GBPS", DEFAULT_THRESHOLD)
    folder = Path(environment.get("GANG_CONFIG_DIR") or "/etc/preflight")
    size = message_bytes(environment.get("MESSAGE_SIZE") or "4G")
    port = whole(environment, "MASTER_PORT", DEFAULT_PORT, range(1, 65536))
    ranks = processes(environment)
    patience = seconds(environment, "GANG_TIMEOUT", "600s")
    variables = {
        "MESSAGE_BYTES": str(size),
        "COLLECTIVE_TIMEOUT": str(settings.timeout),
        "BENCHMARK_ITERS": str(whole(environment, "BENCHMARK_ITERS", 20, range(1, 10_001))),
        "WARMUP_ITERS": str(whole(environment, "WARMUP_ITERS", 5, range(1001))),
    }
    gang_id, address, waited = environment.get("GANG_ID", ""), environment.get("POD_IP", ""), 0.0

    def is_behind_it() -> bool:
        return has_passed(folder, NAME, environment.get("POD_UID", ""), settings.node)

    while True:
        if is_behind_it():
            return PASSED_BEFORE
        try:
            gang = wait_for_gang(folder, pod, patience - waited, lambda waits: say({"check": NAME, "waits": waits}), address=address)
        except GangTimeout as error:
            return replace(gang_timeout(str(error)), gang_wait=(gang_id, patience))
        if is_behind_it():  # the kubelet may have shown files from before
            return PASSED_BEFORE
        waited, began = waited + gang.waited, time.monotonic()
        say({"check": NAME, "gang": gang.size, "rank": gang.rank, "master": gang.master, "waited_seconds": round(waited, 1)})
        watch = GangWatch(folder, pod, address, gang)
        with_files = with_topology(environment, partial(warn, NAME), instance_type(folder, pod))
        process_environment = {**with_files, **variables, "PET_RDZV_ID": gang.generation}
        world = gang.size * ranks
        outcome = measure(torchrun(gang, ranks, port), process_environment, ranks, threshold, settings.timeout, watch, world=world)
        if outcome is not None:
            return replace(outcome, gang_wait=(gang_id, waited))
        waited += time.monotonic() - began
        warn(NAME, CHANGED)
        if waited >= patience:
            return replace(gang_timeout(f"{CHANGED}, for {waited:.0f} s"), gang_wait=(gang_id, waited))


def torchrun(gang: RankedGang, ranks: int, port: int) -> list[str]:
    """Returns the torchrun command of the design, which each pod runs. A port of the gang's own takes the place of the default one."""
    port = gang.port if gang.port and port == DEFAULT_PORT else port
    return [
        sys.executable,
        "-m",
        "torch.distributed.run",
        f"--nnodes={gang.size}",
        f"--nproc_per_node={ranks}",
        f"--node_rank={gang.rank}",
        f"--master_addr={gang.master}",
        f"--master_port={port}",
        "-m",
        "preflight_images.nccl_allreduce.benchmark",
    ]


def measure(
    command: list[str],
    environment: Mapping[str, str],
    ranks: int,
    threshold: float,
    timeout: float,
    watch: GangWatch,
    settling: float = SETTLING,
    poll: float = POLL,
    world: int = 0,
) -> CheckOutcome | None:
    """Returns the outcome for the results of the pod's ranks; none if the gang changed before ranks connected.

    `world` is the number of ranks of the gang, 0 if nobody knows it.

    Where they fail at once a peer may be gone of which the files do not tell yet.
    """
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as reports:
        met = Path(reports) / MET

        def is_over() -> bool:
            return not met.exists() and watch.has_changed()

        ended = launch(command, {**environment, "RANK_REPORTS": reports}, timeout + PATIENCE, is_over, poll)
        if ended == CHANGED:
            return None
        outcome = judge(read_reports(Path(reports)), ranks, threshold, ended, world)
        while outcome.error_code in OF_A_PEER and not met.exists() and time.monotonic() < began + settling:
            time.sleep(poll)
            if is_over():
                return None
        return outcome


def launch(
    command: list[str], environment: Mapping[str, str], timeout: float, is_over: Callable[[], bool] = lambda: False, poll: float = POLL
) -> str:
    """Runs torchrun with its ranks. Returns its error, empty for success.

    `is_over` is asked meanwhile; where it says so, torchrun is ended, and `CHANGED` returned.
    """
    process, end = subprocess.Popen(command, env=dict(environment), start_new_session=True), time.monotonic() + timeout
    try:
        while time.monotonic() < end:
            try:
                code = process.wait(max(0.0, min(poll, end - time.monotonic())))
            except subprocess.TimeoutExpired:
                if is_over():
                    return CHANGED
            else:
                return f"torchrun ended with exit code {code}" if code else ""
        return f"torchrun did not end within {timeout:.0f} s"
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Terminates a running program. On SIGTERM torchrun ends its ranks, which have sessions of their own."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()


def read_reports(folder: Path) -> list[dict[str, Any]]:
    """Returns the reports of ranks, by rank. One that cannot be read is the report of an error."""
    return [read_report(path.stem, path.read_text(errors="replace")) for path in sorted(folder.glob("*.json"))]


def processes(environment: Mapping[str, str]) -> int:
    """Returns the number of ranks of the pod, by default one for each GPU. Raises `Misconfigured`."""
    if environment.get("NPROCS_PER_NODE"):
        return whole(environment, "NPROCS_PER_NODE", 1, range(1, 1025))
    return count_gpus()


def message_bytes(text: str) -> int:
    """Parses a size in bytes, such as `4G`, `512M` or `1024`; a float has four. Raises `Misconfigured`."""
    match = re.fullmatch(r"(\d+)([KMG]?)i?B?", text, re.IGNORECASE)
    size = int(match.group(1)) * SIZES[match.group(2).upper()] if match else 0
    if size < 4:
        raise Misconfigured(f"MESSAGE_SIZE is {text!r}; expected a size such as 4G or 512M")
    return size


CHECK_NAME = "NCCLAllReduceTest"
MEASURED = {"bus_bandwidth_gbps", "ranks", "rank"}
"""What the report of a rank says that has measured."""
OF_THE_STORE = re.compile(r"Dist(Store|Network)Error\b")
"""Errors of PyTorch's store, by which ranks connect over TCP: they concern the first pod and the pod network, not NCCL."""


def gang_timeout(message: str) -> CheckOutcome:
    """Returns the outcome of a gang that did not form, which blames no hardware (ADR-026, Timeout handling)."""
    return failure(CHECK_NAME, "NCCL_GANG_TIMEOUT", message)


def read_report(name: str, text: str) -> dict[str, Any]:
    """Returns the report of a rank, which is called by its number. One that is cut off, garbled or another's is the report of an error."""
    rank = int(name) if name.isdecimal() else 0
    try:
        report = json.loads(text, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:
        return {"rank": rank, "phase": COLLECTIVE, "error": f"its report cannot be read: {error}"}
    told = report.get("error") if isinstance(report, dict) else ""
    if isinstance(told, str) and told and report.get("phase") in (INIT, COLLECTIVE):
        return {**report, "rank": rank}
    if not isinstance(report, dict) or set(report) - {"phase"} != MEASURED or report["rank"] != rank:
        return {"rank": rank, "phase": COLLECTIVE, "error": f"its report contains no measurement: {text[:200]!r}"}
    numbers = report["bus_bandwidth_gbps"], report["ranks"]
    if any(isinstance(number, bool) or not isinstance(number, int | float) for number in numbers):
        return {"rank": rank, "phase": COLLECTIVE, "error": f"its report has no numbers: {text[:200]!r}"}
    return report


def judge(ranks: Sequence[dict[str, Any]], expected: int, threshold: float, ended: str, world: int = 0) -> CheckOutcome:
    """Returns the outcome for the reports of `expected` ranks. `ended` is the error of torchrun, empty for success.

    `world` is the number of ranks of the gang, 0 if nobody knows it.
    """
    errors = [rank for rank in ranks if rank.get("error")]
    if errors:
        return _failed(errors)
    if len(ranks) < expected:
        why = ended or "torchrun ended without an error"
        return failure(CHECK_NAME, "NCCL_TIMEOUT", f"{expected - len(ranks)} of {expected} ranks of this pod reported nothing: {why}")
    sizes = {rank["ranks"] for rank in ranks}
    if len(sizes | ({world} if world else set())) > 1 or len({rank["rank"] for rank in ranks}) < len(ranks):
        told = ", ".join(map(str, sorted(sizes)))
        return failure(CHECK_NAME, "NCCL_TEST_ERROR", f"ranks of this pod report {told} ranks, but there are {world or 'fewer'}")
    found = [float(rank["bus_bandwidth_gbps"]) for rank in ranks]
    slowest = next((each for each in found if not math.isfinite(each)), min(found))
    message = f"{slowest:g} GB/s across {ranks[0]['ranks']} ranks"
    measured = {"bus_bandwidth_gbps": slowest}
    if ranks[0]["ranks"] > 1 and not threshold <= slowest < math.inf:  # true for NaN as well
        return replace(failure(CHECK_NAME, BANDWIDTH, f"{message}, less than {threshold:g}"), measured=measured)
    if ended:
        return failure(CHECK_NAME, "NCCL_TEST_ERROR", ended)
    return CheckOutcome(PASSED, message, (HealthReport(CHECK_NAME, message, is_healthy=True),), measured=measured)


def _failed(errors: Sequence[dict[str, Any]]) -> CheckOutcome:
    """Returns the most specific error: one of hardware rather than the timeout of a rank that waited for it."""
    ordered = sorted(errors, key=lambda rank: (error_of(rank["error"]) not in FATAL or _is_of_the_store(rank), rank["rank"]))
    first = ordered[0]
    code = error_of(first["error"])
    while_doing = "while the ranks were connecting" if first["phase"] == "init" else "in the collective"
    if _is_of_the_store(first) or (first["phase"] == "init" and code == "NCCL_TIMEOUT"):
        code = "NCCL_INIT_TIMEOUT"
    return failure(CHECK_NAME, code, f"rank {first['rank']} failed {while_doing}: {first['error']}")


def _is_of_the_store(rank: dict[str, Any]) -> bool:
    return rank["phase"] == "init" and OF_THE_STORE.match(rank["error"]) is not None
