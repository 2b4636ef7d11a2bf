"""Why a gang does not fit: the level that fails first, how many pods would fit at each, and what is short."""

from __future__ import annotations

from grove_compiler.fit.cluster import ClusterNode
from grove_compiler.fit.fit import fit
from grove_compiler.fit.gang import GangDemand
from grove_compiler.fit.report import GangReport, Tight

from .clusters import gang, group, machine, podgroup, racks


def last(nodes: list[ClusterNode], *gangs: GangDemand) -> GangReport:
    return fit(nodes, gangs).gangs[-1]


def levels(report: GangReport) -> list[tuple[str, str, int, bool]]:
    return [(level.level, level.verdict, level.pods, level.most) for level in report.levels]


def test_the_best_rack_holds_six_of_eight_pods() -> None:
    """The example of the issue: 8 pods of 4 GPUs, racks of three nodes of 8."""
    report = last(racks(3, 3, gpu=8), gang(podgroup(8, gpu=4), pack="rack"))
    assert levels(report) == [("nodes", "fits", 8, True), ("gang", "does not fit", 6, True)]
    assert report.failed_level is not None and report.failed_level.tight == Tight("gang", "rack-0", 6, 8)
    (short,) = report.short
    assert short._asdict() == {"resource": "nvidia.com/gpu", "asked": 32, "free": 24, "per_pod": 4, "per_node": 8}


def test_the_first_level_that_fails_may_be_an_inner_one() -> None:
    report = last(racks(4, 2, gpu=8), gang(group(podgroup(3, gpu=8), pack="rack"), podgroup(1, gpu=8), pack="block"))
    assert levels(report) == [("nodes", "fits", 4, True), ("gang", "fits", 4, True), ("group", "does not fit", 3, True)]
    assert report.failed_level is report.levels[2]
    assert report.levels[2].tight == Tight("group", "rack-0", 2, 3)
    assert [short.free for short in report.short] == [16]


def test_the_level_of_podgroups_comes_last() -> None:
    report = last(racks(2, 2, gpu=8), gang(podgroup(2, gpu=5, pack="host"), pack="rack"))
    assert levels(report) == [("nodes", "fits", 2, True), ("gang", "fits", 2, True), ("podgroup", "does not fit", 1, True)]
    assert [level.keys for level in report.levels] == [[], ["rack"], ["kubernetes.io/hostname"]]


def test_what_does_not_fit_anywhere_fails_on_nodes() -> None:
    report = last(racks(2, 1, gpu=8), gang(podgroup(3, gpu=8), pack="rack"))
    assert levels(report) == [("nodes", "does not fit", 2, True), ("gang", "does not fit", 1, True)]


def test_a_gang_that_fits_alone_is_explained_by_what_is_left() -> None:
    report = last(racks(1, 3, gpu=8), gang(podgroup(2, gpu=8)), gang(podgroup(2, gpu=8), pack="rack"))
    assert (report.alone, levels(report)[0]) == ("fits", ("nodes", "does not fit", 1, True))
    assert [(short.free, short.per_node) for short in report.short] == [(8, 8)]


def test_a_gang_that_does_not_fit_alone_is_explained_by_the_empty_cluster() -> None:
    report = last(racks(1, 3, gpu=8), gang(podgroup(2, gpu=8)), gang(podgroup(4, gpu=8)))
    assert (report.alone, levels(report)) == ("does not fit", [("nodes", "does not fit", 3, True)])


def test_every_resource_that_alone_keeps_pods_out_is_short() -> None:
    report = last([machine("a", gpu=8, cpu=4, memory="8Gi")], gang(podgroup(2, gpu=8, cpu=4, memory="1Gi")))
    assert [short.resource for short in report.short] == ["cpu", "nvidia.com/gpu"]


def test_where_no_node_or_domain_would_do_nothing_is_short() -> None:
    report = last(racks(1, 1, gpu=8), gang(podgroup(1, gpu=1, spec={"nodeSelector": {"no": "where"}})))
    assert (report.short, report.ruled_out) == ([], {"1-pods": {"without the label no=where": 1}})
    assert last(racks(1, 1, gpu=8), gang(podgroup(1, gpu=1), pack="no-such-label")).short == []


def test_plenty_of_a_resource_is_not_counted_out() -> None:
    """With plenty of all but one, a domain could hold more copies of the gang than there are numbers for."""
    nodes = [machine("a", {"rack": "r"}, gpu=2, cpu=1), machine("b", {"rack": "r"}, gpu=1, cpu=2)]
    report = last(nodes, gang(podgroup(1, gpu=2, cpu=2), podgroup(1, gpu=1, cpu=1), pack="rack"))
    assert (report.verdict, report.short) == ("does not fit", [])


def test_resources_that_only_together_keep_pods_out_are_not_short_alone() -> None:
    nodes = [machine("gpus", gpu=8, cpu=1), machine("cpus", gpu=0, cpu=8)]
    report = last(nodes, gang(podgroup(1, gpu=4, cpu=4)))
    assert (report.verdict, report.short) == ("does not fit", [])


def test_pods_of_several_kinds_are_counted_at_least() -> None:
    """A bound says 3 and the quick way may find fewer: then it says so."""
    report = last(racks(1, 1, gpu=8, cpu=8), gang(podgroup(1, gpu=8, cpu=1), podgroup(1, gpu=1, cpu=8), podgroup(1, gpu=8, cpu=8)))
    (level,) = report.levels
    assert (level.pods, level.asked, level.most) == (1, 3, False)


def test_nodes_are_ruled_out_for_reasons_that_are_counted() -> None:
    nodes = racks(2, 2, gpu=8)
    nodes[0].unschedulable = True
    report = last(nodes, gang(podgroup(4, gpu=8, spec={"nodeSelector": {"rack": "rack-0"}})))
    assert report.ruled_out == {"4-pods": {"unschedulable": 1, "without the label rack=rack-0": 2}}
    assert levels(report) == [("nodes", "does not fit", 1, True)]
