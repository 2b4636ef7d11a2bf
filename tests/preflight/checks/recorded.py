"""What the tools print, in the forms of all their versions: documents of dcgmi with what they say, texts of all_reduce_perf."""

from __future__ import annotations

from typing import Any


def v4(*rows: dict[str, Any], test: str = "memory") -> dict[str, Any]:
    """Version 4: entities, lists of warnings, a summary."""
    tests = [{"name": test, "results": list(rows), "test_summary": {"status": "Pass"}}]
    return {
        "DCGM Diagnostic": {"test_categories": [{"category": "Hardware", "tests": tests}]},
        "metadata": {"version": "4.2.0", "Driver Version Detected": "570.1"},
        "entity_groups": [{"entity_group_id": 1, "entity_group": "GPU", "entities": [{"entity_id": 0, "device_id": "2330"}]}],
    }


def entity(number: int, status: str, group: str = "GPU", **more: Any) -> dict[str, Any]:
    return {"entity_group": group, "entity_group_id": {"GPU": 1, "CPU": 7}[group], "entity_id": number, "status": status, **more}


def v3(*rows: dict[str, Any], test: str = "GPU Memory") -> dict[str, Any]:
    """Version 3: names for people, one text of numbers."""
    categories = [{"category": "Hardware", "tests": [{"name": test, "results": list(rows)}]}]
    return {"DCGM GPU Diagnostic": {"version": "3.1.8", "GPU Device IDs": ["20b2"], "test_categories": categories}}


def leveled(level: int, version: int = 4, **others: str) -> dict[str, Any]:
    """What a diagnostic of a level prints of the GPUs 0 and 1, all well; `others` are statuses by test, of both or as `pcie_1` of one."""
    names = {1: ["software"], 2: ["memory", "pcie"], 3: ["diagnostic", "memory_bandwidth", "targeted_stress", "targeted_power"]}
    names[4] = ["memtest", "pulse_test"]
    tests = [name for of in range(1, level + 1) for name in names[of]]
    made = [(name, [(gpu, others.get(f"{name}_{gpu}", others.get(name, "Pass"))) for gpu in (0, 1)]) for name in tests]
    if version == 4:
        document = v4()
        (category,) = document["DCGM Diagnostic"]["test_categories"]
        category["tests"] = [
            {"name": name, "results": [entity(*row) for row in rows], "test_summary": {"status": rows[0][1]}} for name, rows in made
        ]
        return document
    document = v3()
    (category,) = document["DCGM GPU Diagnostic"]["test_categories"]
    category["tests"] = [{"name": name, "results": [{"status": made[0][1][0][1]}]} for name in ("Denylist", "Persistence Mode")]
    category["tests"] += [
        {"name": NAMES_OF_3[name], "results": [{"gpu_id": str(gpu), "status": status} for gpu, status in rows]} for name, rows in made[1:]
    ]
    return document


NAMES_OF_3 = {
    "memory": "GPU Memory",
    "pcie": "PCIe",
    "diagnostic": "Diagnostic",
    "memory_bandwidth": "Memory Bandwidth",
    "targeted_stress": "Targeted Stress",
    "targeted_power": "Targeted Power",
    "memtest": "Memtest",
    "pulse_test": "Pulse Test",
}
WARNING = {"warning": "ECC", "error_id": 4, "error_category": 10, "error_severity": 2}
READ = {
    "3.1, two GPUs in one text": (v3({"gpu_ids": "0,1", "status": "Pass"}), [("memory", "PASS", 0), ("memory", "PASS", 1)]),
    "3.2, a text of warnings with its id": (
        v3({"gpu_ids": "1", "status": "Fail", "warnings": "ECC", "error_id": 4}),
        [("memory", "FAIL", 1)],
    ),
    "3.3, a list of warnings": (v3({"gpu_id": "0", "status": "Fail", "warnings": [WARNING]}), [("memory", "FAIL", 0)]),
    "3.3.9, a nested text": (
        v3({"gpu_id": 0, "status": "Fail", "warnings": [{"warnings": "ECC", "error_id": 4}]}),
        [("memory", "FAIL", 0)],
    ),
    "3, a test of no GPU": (v3({"status": "Pass"}, test="Denylist"), [("denylist", "PASS", None)]),
    "4, entities": (v4(entity(0, "Pass"), entity(1, "Fail", warnings=[WARNING])), [("memory", "PASS", 0), ("memory", "FAIL", 1)]),
    "4, another entity of the same number is no GPU": (v4(entity(0, "Fail", "CPU")), [("memory", "FAIL", None)]),
    "4, what was not run": (v4(entity(0, "Pass"), entity(1, "Not Run")), [("memory", "PASS", 0), ("memory", "SKIP", 1)]),
    "rounds": ({"iterations": [v4(entity(0, "Pass")), v4(entity(0, "Fail"))]}, [("memory", "PASS", 0), ("memory", "FAIL", 0)]),
}

RELEASES = {
    "1.0": """\
# nThread 1 nGpus 2 minBytes 8 maxBytes 268435456 step: 2(factor) warmup iters: 5 iters: 20 validation: 1
#
# Using devices
#   Rank  0 on      node device  0 [0x07] Tesla V100-SXM2-32GB
#   Rank  1 on      node device  1 [0x0a] Tesla V100-SXM2-32GB
#
#                                                 out-of-place                    in-place
#      bytes             N    type      op     time  algbw  busbw      res     time  algbw  busbw      res
           8             2   float     sum    0.030   0.00   0.00    0e+00    0.029   0.00   0.00    0e+00
   268435456      67108864   float     sum   6.468  41.50  41.50    0e+00    6.391  42.00  42.00    0e+00
 Out of bounds values : 0 OK
 Avg bus bandwidth    : 20.875
""",
    "2.13": """\
# nThread 1 nGpus 2 minBytes 8 maxBytes 268435456 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#
# Using devices
#  Rank  0 Group  0 Pid     18 on       node device  0 [0x07] NVIDIA A100-SXM4-80GB
#  Rank  1 Group  0 Pid     18 on       node device  1 [0x0a] NVIDIA A100-SXM4-80GB
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           8             2     float     sum      -1    11.02    0.00    0.00      0    10.97    0.00    0.00      0
   268435456      67108864     float     sum      -1   6468.3   41.50   41.50      0   6391.3   42.00   42.00      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 1.2e+02
#
""",
    "2.18": """\
# nccl-tests version 2.18.1 nccl-headers=22809 nccl-library=22809
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 2 minBytes 8 maxBytes 268435456 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 validation: 1 graph: 0 unalign: 0
#
# Using devices
#  Rank  0 Group  0 Pid   1018 on       node device  0 [0000:07:00] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid   1018 on       node device  1 [0000:0a:00] NVIDIA H100 80GB HBM3
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
   268435456      67108864     float     sum      -1  6.47e+03   41.50   41.50    N/A   6391.3   42.00   42.00    N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 41.75 OK
#
# Collective test concluded: all_reduce_perf
""",
}


def sweep(release: str) -> str:
    """What the release prints of all sizes that the check asks for: small messages take a time of their own."""
    text = RELEASES[release]
    last = next(line for line in text.splitlines(keepends=True) if line.lstrip().startswith("268435456"))
    rows = []
    for power in range(3, 28):
        size = 1 << power
        time = 20.0 + size / 41.5e3  # microseconds
        speed = f"{size / time / 1e3:.2f}"
        row = last.replace("67108864", f"{size // 4:8}").replace("268435456", f"{size:9}").replace("41.50", speed).replace("42.00", speed)
        shown = f"{time / 1000:.5f}" if release == "1.0" else f"{time:.3f}"
        for number in ("6.468", "6.391", "6468.3", "6391.3", "6.47e+03"):
            row = row.replace(number, shown)
        rows.append(row)
    small = next((line for line in text.splitlines(keepends=True) if line.lstrip().startswith("8 ")), "")
    return text.replace(small, "", 1).replace(last, "".join([*rows, last]))
