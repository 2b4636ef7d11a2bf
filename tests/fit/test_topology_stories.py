"""The workloads of GREP-244's Story 4 and of the shipped operator's topology tests, on the hardware that they name.

The constraint is read as KAI reads it: all pods of a clique share one domain (users' notes §5.2, reading b).
"""

from __future__ import annotations

import pytest

from grove_compiler.fit.cluster import ClusterNode
from grove_compiler.fit.fit import fit
from grove_compiler.fit.gang import GangDemand
from tests.suite.rows import rows

from .clusters import gang, group, machine, podgroup

ZONE, H100_RACK, NVL_BLOCK, NVLINK = (
    "topology.kubernetes.io/zone",
    "kubernetes.io/rack",
    "example.com/nvl-block",
    "example.com/nvlink-domain",
)


def story_4() -> list[ClusterNode]:
    """Eight H100 nodes of 8 GPUs in two racks; four GB200 racks as nodes of 72 GPUs in two blocks."""
    h100 = [machine(f"dgx-h100-0{n + 1}", {ZONE: "us-east-1a", H100_RACK: f"h100-rack-{n // 4 + 1}"}, gpu=8) for n in range(8)]
    labels = [{ZONE: "us-east-1a", NVL_BLOCK: f"block-{n // 2 + 1}", NVLINK: f"nvl-domain-{n + 1}"} for n in range(4)]
    return [*h100, *(machine(f"gb200-rack-{n + 1}", own, gpu=72) for n, own in enumerate(labels))]


def workload(prefill: tuple[int, int, str], decode: tuple[int, int, str]) -> GangDemand:
    groups = [podgroup(pods, gpu=gpus, pack=pack, name=name) for name, (pods, gpus, pack) in (("prefill", prefill), ("decode", decode))]
    return gang(*groups, pack=ZONE)


@pytest.mark.parametrize(
    ("case", "verdict"),
    [
        (workload((4, 8, H100_RACK), (2, 8, H100_RACK)), "fits"),
        (workload((4, 8, "host"), (2, 8, "host")), "fits"),  # 32 GPUs on one host: one of the GB200 nodes, as nothing forbids
        (workload((2, 72, NVL_BLOCK), (2, 72, NVLINK)), "does not fit"),  # 144 GPUs in one NVLink domain of 72
        (workload((2, 72, NVL_BLOCK), (1, 72, NVLINK)), "fits"),
        (workload((2, 72, NVL_BLOCK), (2, 72, NVL_BLOCK)), "fits"),
    ],
    ids=["h100, seed", "h100, today's text", "gb200, both texts", "gb200, one decode pod", "gb200, decode by block"],
)
def test_story_4(case: GangDemand, verdict: str) -> None:
    assert fit(story_4(), [case]).verdict == verdict


def test_story_4_todays_h100_text_is_impossible_on_h100_nodes() -> None:
    """Four pods of 8 GPUs on one host of 8."""
    assert fit(story_4()[:8], [workload((4, 8, "host"), (2, 8, "host"))]).verdict == "does not fit"


def test_story_4_names_the_level_that_makes_gb200_decode_impossible() -> None:
    (report,) = fit(story_4(), [workload((2, 72, NVL_BLOCK), (2, 72, NVLINK))]).gangs
    assert [(level.level, level.verdict) for level in report.levels] == [("nodes", "fits"), ("gang", "fits"), ("podgroup", "does not fit")]
    assert (report.levels[-1].pods, report.levels[-1].asked) == (3, 4)


def test_story_4_places_each_workload_on_its_own_hardware() -> None:
    gangs = [workload((4, 8, H100_RACK), (2, 8, H100_RACK)), workload((2, 72, NVL_BLOCK), (1, 72, NVLINK))]
    h100, gb200 = fit(story_4(), gangs).gangs
    assert {name.split("-rack")[0] for part in h100.placement.values() for name in part} <= {f"dgx-h100-0{n}" for n in range(1, 9)}
    assert {name[:5] for part in gb200.placement.values() for name in part} == {"gb200"}


def e2e(nodes: int = 28, memory: str = "150Mi") -> list[ClusterNode]:
    """The operator's test cluster: zone i÷28, block i÷20, rack i÷7, which does not nest."""
    keys = {"zone": 28, "block": 20, "rack": 7}
    return [machine(f"n{n}", {key: str(n // each) for key, each in keys.items()}, memory=memory) for n in range(nodes)]


def one(number: int, pack: str) -> GangDemand:
    return gang(podgroup(number, pack=pack, memory="80Mi"))


CASES = {
    "TAS2: cliques pack on their own": (gang(podgroup(3, pack="rack", memory="80Mi"), podgroup(4, pack="block", memory="80Mi")), True),
    "TAS3: only the set packs": (
        gang(group(podgroup(1, memory="80Mi"), podgroup(1, memory="80Mi")), podgroup(2, memory="80Mi"), pack="rack"),
        True,
    ),
    "TAS5: two pods on one host do not fit into 150Mi": (one(2, "host"), False),
    "TAS13: ten pods of 500Mi in one rack": (gang(podgroup(10, memory="500Mi"), pack="rack"), False),
    "a rack of seven holds seven": (one(7, "rack"), True),
    "a rack of seven does not hold eight": (one(8, "rack"), False),
    "a block of twenty holds twenty": (one(20, "block"), True),
    "TAS8 without room on hosts": (
        gang(
            *(group(podgroup(2, pack="host", memory="80Mi"), podgroup(2, pack="host", memory="80Mi"), pack="rack") for _ in "ab"),
            pack="block",
        ),
        False,
    ),
}


@rows(("case", "fits"), CASES.values(), ids=CASES)
def test_the_shipped_operators_cases(case: GangDemand, fits: bool) -> None:
    assert (fit(e2e(), [case]).verdict == "fits") is fits


def test_tas8_fits_on_hosts_with_room() -> None:
    case, _ = CASES["TAS8 without room on hosts"]
    (report,) = fit(e2e(memory="160Mi"), [case]).gangs
    assert report.verdict == "fits"
    assert {sum(on.values()) for on in report.placement.values()} <= {2, 4}


def test_tas12_scaled_gangs_are_placed_after_the_base_gang() -> None:
    """Three replicas of two pods in the base gang, seven scaled gangs; each pair on one host, the base in one block."""
    base = gang(*(podgroup(2, pack="host", memory="80Mi", name=f"base-{n}") for n in range(3)), pack="block", name="base")
    scaled = [gang(podgroup(2, pack="host", memory="80Mi"), pack="block", name=f"scaled-{n}", base="base") for n in range(7)]
    assert fit(e2e(10, "160Mi"), [base, *scaled]).verdict == "fits"
    report = fit(e2e(9, "160Mi"), [base, *scaled])
    assert [one.verdict for one in report.gangs] == ["fits"] * 7 + ["does not fit"]
