"""The whole answer: order, doubt, pods beyond the minimum, preferences, and the reports made of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from grove_compiler.fit.cluster import ClusterNode, Taint
from grove_compiler.fit.fit import MAX_EXPLAINED, fit
from grove_compiler.fit.gang import GangDemand
from grove_compiler.fit.report import FitReport

from .clusters import gang, group, machine, podgroup, racks


def verdicts(report: FitReport) -> list[str]:
    return [one.verdict for one in report.gangs]


def replicas(number: int, gpus: int = 8, pods: int = 2) -> list[GangDemand]:
    """Gangs of a rack each."""
    return [gang(podgroup(pods, gpu=gpus, name="w"), pack="rack", name=f"demo-{index}", replica=index) for index in range(number)]


def test_everything_fits_when_every_gang_does() -> None:
    report = fit(racks(2, 2, gpu=8), replicas(2))
    assert (report.verdict, verdicts(report)) == ("fits", ["fits", "fits"])


def test_a_gang_too_many_does_not_fit_and_neither_does_the_whole() -> None:
    report = fit(racks(2, 2, gpu=8), replicas(3))
    assert (report.verdict, verdicts(report)) == ("does not fit", ["fits", "fits", "does not fit"])


def test_a_gang_without_a_place_leaves_room_for_those_after_it() -> None:
    report = fit(racks(1, 2, gpu=8), [*replicas(1, gpus=9), *replicas(1)])
    assert verdicts(report) == ["does not fit", "fits"]


def test_a_gang_fits_when_others_could_have_stood_elsewhere() -> None:
    """The first gang may take either node and is put on the tighter one, which is the only one for the second."""
    nodes = [machine("a", {"fast": "yes"}, gpu=4), machine("b", gpu=5)]
    picky = podgroup(1, gpu=4, spec={"nodeSelector": {"fast": "yes"}})
    report = fit(nodes, [gang(podgroup(1, gpu=4, name="any")), gang(picky, name="second")])
    assert (verdicts(report), [one.moved for one in report.gangs]) == (["fits", "fits"], [False, True])
    assert report.gangs[0].placement == {"any": {"b": 1}}


def test_no_gangs_fit_anywhere() -> None:
    assert fit([], []).verdict == "fits"


def test_a_gang_does_not_fit_on_no_nodes() -> None:
    assert fit([], replicas(1)).verdict == "does not fit"


def test_a_gang_without_pods_fits_even_where_its_label_is_unknown() -> None:
    assert fit(racks(1, 1), [gang(podgroup(0), pack="no-such-label")]).verdict == "fits"


def hard_case() -> tuple[list[ClusterNode], list[GangDemand]]:
    """Bins of 100 and pods that fill all but a little of them: too many ways to try, and no bound tells."""
    sizes = [51, 27, 26, 23, 49, 48, 35, 34, 31, 45, 44, 12, 40, 39, 21, 36, 33, 30, 47, 29, 24, 41, 38, 22, 46, 37, 17, 43, 32, 25]
    gangs = [gang(podgroup(1, gpu=size, name="p"), name=f"g{size}") for size in sizes]
    return [machine(f"n{index}", gpu=100) for index in range(10)], gangs


def test_what_is_not_proven_within_the_steps_is_unknown() -> None:
    report = fit(*hard_case(), steps=0)
    assert "unknown" in verdicts(report)
    assert report.verdict in ("unknown", "does not fit")
    unknown = next(one for one in report.gangs if one.verdict == "unknown")
    assert unknown.reason == "not proven within 0 steps"


def test_no_more_steps_are_used_than_were_given() -> None:
    assert fit(*hard_case(), steps=5000).steps <= 5000


@pytest.mark.parametrize("steps", [0, 1000, 20_000])
def test_more_steps_never_turn_an_answer_round(steps: int) -> None:
    few, many = fit(*hard_case(), steps=steps), fit(*hard_case(), steps=40_000)
    if few.verdict != "unknown" and many.verdict != "unknown":
        assert few.verdict == many.verdict


def test_equal_inputs_give_equal_answers() -> None:
    one, two = fit(*hard_case(), steps=5000), fit(*hard_case(), steps=5000)
    assert one.as_manifest() == two.as_manifest()


def test_a_gang_with_unchecked_constraints_is_not_known_to_fit_nor_are_those_beside_it() -> None:
    gangs = replicas(3)
    gangs[1].unchecked = ["required podAntiAffinity"]
    report = fit(racks(3, 2, gpu=8), gangs)
    assert verdicts(report) == ["fits", "unknown", "unknown"]
    assert report.gangs[1].reason == "there is room for it, but not checked: required podAntiAffinity"
    assert report.gangs[2].reason == "there is room for it, but demo-1, placed before it, is not known to fit"


def test_a_gang_with_unchecked_constraints_can_be_known_not_to_fit() -> None:
    gangs = replicas(1, gpus=9)
    gangs[0].unchecked = ["required podAntiAffinity"]
    assert verdicts(fit(racks(1, 2, gpu=8), gangs)) == ["does not fit"]


def extra(report: FitReport) -> list[tuple[int, int]]:
    return [(one.extra.placed, one.extra.asked) for one in report.gangs]


def test_pods_beyond_the_minimum_are_added_once_every_gang_stands() -> None:
    gangs = [gang(podgroup(1, replicas=4, gpu=4), name=name) for name in "ab"]
    report = fit(racks(1, 3, gpu=8), gangs)
    assert (verdicts(report), extra(report), report.extra_verdict) == (["fits", "fits"], [(3, 3), (1, 3)], "does not fit")


def test_pods_beyond_the_minimum_keep_to_the_domain_of_their_gang() -> None:
    report = fit(racks(3, 1, gpu=8), [gang(podgroup(1, replicas=3, gpu=4), pack="rack")])
    assert (report.verdict, extra(report), report.extra_verdict) == ("fits", [(1, 2)], "does not fit")


def test_pods_beyond_the_minimum_may_all_fit_in_another_placement() -> None:
    """The minimum is put on the tight node; all three pods need the roomy one."""
    nodes = [machine("tight", {"rack": "a"}, gpu=1), machine("roomy", {"rack": "b"}, gpu=3)]
    report = fit(nodes, [gang(podgroup(1, replicas=3, gpu=1), pack="rack")])
    assert (extra(report), report.extra_verdict) == ([(2, 2)], "fits")


def test_a_podgroup_that_begins_with_no_pod_may_have_its_first_anywhere() -> None:
    report = fit(racks(2, 1, gpu=8), [gang(podgroup(0, pack="rack", replicas=2, gpu=4), podgroup(1, gpu=8))])
    assert (extra(report), report.extra_verdict) == ([(2, 2)], "fits")


def test_pods_beyond_the_minimum_are_not_asked_about_where_a_gang_has_no_place() -> None:
    report = fit(racks(1, 1, gpu=8), [gang(podgroup(1, replicas=2, gpu=9))])
    assert (extra(report), report.extra_verdict) == ([(0, 0)], "does not fit")


@pytest.mark.parametrize(("each", "kept"), [(1, 0), (2, 1)])
def test_a_preference_is_scored_and_never_needed(each: int, kept: int) -> None:
    report = fit(racks(2, each, gpu=8), [gang(podgroup(2, gpu=8), prefer="rack")])
    assert (report.verdict, report.gangs[0].preferred) == ("fits", (1, kept))


def test_a_preference_is_kept_within_what_is_required() -> None:
    nodes = racks(4, 2, gpu=8)
    report = fit(nodes, [gang(podgroup(2, gpu=8, name="w"), pack="block", prefer="rack")])
    assert len({name.split("-")[1] for name in report.gangs[0].placement["w"]}) == 1
    assert report.gangs[0].preferred == (1, 1)


def test_pods_without_gpus_keep_off_gpu_nodes() -> None:
    nodes = [machine("gpu", gpu=8, cpu=8), machine("cpu", cpu=8)]
    report = fit(nodes, [gang(podgroup(1, cpu=8, name="router")), gang(podgroup(1, gpu=8, cpu=8, name="worker"))])
    assert [one.placement for one in report.gangs] == [{"router": {"cpu": 1}}, {"worker": {"gpu": 1}}]


def test_a_set_counts_replicas_that_start_and_those_that_are_whole() -> None:
    gangs = [
        gang(podgroup(1, gpu=8), name="demo-0"),
        gang(podgroup(1, gpu=8), name="demo-1", replica=1),
        gang(podgroup(1, gpu=8), name="demo-0-workers-0", base="demo-0"),
        gang(podgroup(1, gpu=8), name="demo-1-workers-0", base="demo-1", replica=1),
    ]
    (owner,) = fit(racks(1, 3, gpu=8), gangs).sets
    assert (owner.replicas, owner.started, owner.whole) == (2, 2, 1)


def test_a_scaled_gang_waits_for_a_base_gang_that_does_not_fit_and_takes_no_room() -> None:
    gangs = [
        gang(podgroup(9, gpu=8), name="demo-0"),
        gang(podgroup(1, gpu=8), name="demo-0-workers-0", base="demo-0"),
        gang(podgroup(1, gpu=8), name="other", replica=1),
    ]
    report = fit(racks(1, 1, gpu=8), gangs)
    assert verdicts(report) == ["does not fit", "does not fit", "fits"]
    assert report.gangs[1].reason == "waits for its base gang demo-0, which does not fit"
    assert report.gangs[1].levels == []


def test_what_hangs_on_a_base_gang_that_is_not_known_to_fit_is_not_known_either() -> None:
    nodes, gangs = hard_case()
    unknown = next(one.gang.name for one in fit(nodes, gangs, steps=0).gangs if one.verdict == "unknown")
    report = fit(nodes, [*gangs, gang(podgroup(1), name="more", base=unknown)], steps=0)
    assert (report.gangs[-1].verdict, report.gangs[-1].reason) == (
        "unknown",
        f"waits for its base gang {unknown}, which is not known to fit",
    )


def test_pods_beyond_the_minimum_are_counted_where_another_gang_lacks_room() -> None:
    gangs = [gang(podgroup(1, replicas=3, gpu=2), name="small"), gang(podgroup(9, gpu=8, replicas=12), name="large")]
    report = fit(racks(1, 1, gpu=8), gangs)
    assert (verdicts(report), extra(report), report.extra_verdict) == (["fits", "does not fit"], [(2, 2), (0, 0)], "does not fit")


GPU_TAINT = Taint("nvidia.com/gpu", "present", "NoSchedule")
TOLERATION = {"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]}


def test_a_forgotten_toleration_is_the_remedy_and_names_the_clique() -> None:
    nodes = [machine("cpu", cpu=8), *(machine(name, taints=[GPU_TAINT], gpu=8) for name in "ab")]
    gangs = [gang(podgroup(2, gpu=8, name="demo-0-worker"), podgroup(1, name="demo-0-router", spec=TOLERATION))]
    (report,) = fit(nodes, gangs).gangs
    taint = "the taint nvidia.com/gpu=present:NoSchedule"
    assert report.remedy == f"the pods of demo-0-worker do not tolerate {taint} of 2 nodes; with a toleration the gang would fit"
    assert report.ruled_out == {"demo-0-worker": {f"with {taint}": 2}}


def test_a_toleration_that_several_cliques_lack_is_one_remedy() -> None:
    gangs = [gang(podgroup(1, gpu=8, name="leader"), podgroup(1, gpu=8, name="worker"))]
    (report,) = fit([machine(name, taints=[GPU_TAINT], gpu=8) for name in "ab"], gangs).gangs
    assert report.remedy.startswith("the pods of leader, worker do not tolerate the taint")


REMEDIES = {
    "a selector": (
        {"nodeSelector": {"disk": "ssd"}},
        "1 node without the label disk=ssd",
    ),
    "a name": ({"nodeName": "elsewhere"}, "1 node other than the node elsewhere"),
    "an affinity": (
        {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}},
        "1 node outside the required node affinity",
    ),
}


@pytest.mark.parametrize(("spec", "words"), REMEDIES.values(), ids=REMEDIES.keys())
def test_a_requirement_that_alone_is_too_much_is_named(spec: dict[str, Any], words: str) -> None:
    (report,) = fit([machine("a", gpu=8)], [gang(podgroup(1, gpu=8, spec=spec, name="w"))]).gangs
    assert report.remedy == f"the pods of w may not run on {words}; without that requirement the gang would fit"


def test_a_cordon_that_alone_keeps_a_gang_off_is_named() -> None:
    (node,) = nodes = [machine("a", gpu=8)]
    node.unschedulable = True
    (report,) = fit(nodes, [gang(podgroup(1, gpu=8, name="w"))]).gangs
    assert report.remedy == "1 node is cordoned, which the pods of w do not tolerate; uncordoned, the gang would fit"


def test_there_is_no_remedy_where_a_toleration_would_not_do() -> None:
    (report,) = fit([machine("a", taints=[GPU_TAINT], gpu=8)], [gang(podgroup(2, gpu=8, name="w"))]).gangs
    assert (report.remedy, list(report.ruled_out)) == ("", ["w"])


def test_gangs_of_one_shape_are_explained_once() -> None:
    report = fit(racks(1, 2, gpu=8), replicas(4))
    assert [one.like for one in report.gangs] == ["", "", "demo-1", "demo-1"]
    assert [bool(one.levels) for one in report.gangs] == [False, True, False, False]


def test_not_every_shape_is_explained() -> None:
    gangs = [gang(podgroup(1, gpu=9 + index), name=f"g{index}") for index in range(MAX_EXPLAINED + 3)]
    report = fit(racks(1, 1, gpu=8), gangs)
    assert sum(bool(one.levels) for one in report.gangs) == MAX_EXPLAINED
    assert set(verdicts(report)) == {"does not fit"}


def test_the_answer_is_json() -> None:
    report = fit(racks(2, 2, gpu=8), [gang(group(podgroup(2, gpu=8, name="w"), pack="rack"), pack="block", name="demo-0"), *replicas(2)])
    manifest = json.loads(json.dumps(report.as_manifest()))
    assert manifest["verdict"] == "does not fit"
    assert manifest["gangs"][0]["placement"] == {"w": {"node-0-0": 1, "node-0-1": 1}}
    failed = manifest["gangs"][2]
    assert (failed["alone"], failed["levels"][0]["level"]) == ("fits", "nodes")
    assert failed["short"][0]["resource"] == "nvidia.com/gpu"
    assert manifest["sets"] == [
        {"namespace": "default", "name": "demo", "replicas": 2, "replicasWhoseBaseGangFits": 1, "replicasThatFit": 1}
    ]
