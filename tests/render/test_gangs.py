"""Which gang an object belongs to."""

from __future__ import annotations

from grove_cli.render.picture import find_gangs

from .sample import clique, domain, gang, node, pods, ref, workload


def test_a_gang_belongs_to_itself() -> None:
    made = gang("demo-0", "podgang/base", (0,), ["a"], {})
    assert find_gangs([made]) == {made.id: made.id, "PodClique/ml/a": made.id}


def test_a_gang_names_its_cliques_although_they_come_first() -> None:
    member = clique("demo-0-web", "podclique/standalone", ref("PodCliqueSet", "demo"), (0,), 1)
    made = gang("demo-0", "podgang/base", (0,), ["demo-0-web"], {})
    assert find_gangs([member, made])[member.id] == made.id


def test_a_pod_names_its_gang_in_a_label() -> None:
    made = gang("demo-0", "podgang/base", (0,), ["other"], {})
    pod = node("Pod", "demo-0-web-1", owner=None, metadata={"labels": {"grove.io/podgang": "demo-0"}})
    assert find_gangs([made, pod])[pod.id] == made.id


def test_a_label_that_names_no_gang_of_the_graph_says_nothing() -> None:
    pod = node("Pod", "demo-0-web-1", owner=None, metadata={"labels": {"grove.io/podgang": "gone"}})
    assert find_gangs([pod]) == {}


def test_what_has_neither_goes_with_its_owner() -> None:
    made = gang("demo-0", "podgang/base", (0,), ["a"], {})
    owned = domain("demo-0", "demo-0")
    assert {find_gangs([made, *owned])[each.id] for each in owned} == {made.id}


def test_the_gang_goes_down_a_chain_of_owners() -> None:
    made = gang("demo-0", "podgang/base", (0,), ["a"], {})
    group = node("PodGroup", "demo-0", owner=ref("PodGang", "demo-0"))
    below = node("ConfigMap", "demo-0", owner=ref("PodGroup", "demo-0"))
    assert find_gangs([made, group, below])[below.id] == made.id


def test_what_no_gang_holds_has_none() -> None:
    assert "ServiceAccount/ml/demo" not in find_gangs(workload().nodes)


def test_gangs_of_one_name_in_two_namespaces_are_two() -> None:
    here = gang("demo-0", "podgang/base", (0,), ["a"], {})
    there = here._replace(id="PodGang/other/demo-0", object={**here.object, "metadata": {"name": "demo-0", "namespace": "other"}})
    found = find_gangs([here, there])
    assert (found["PodClique/ml/a"], found["PodClique/other/a"]) == (here.id, there.id)


def test_pods_of_the_sample_are_in_the_gang_of_their_clique() -> None:
    graph = workload(members=3)
    found = find_gangs(graph.nodes)
    for each in graph.nodes:
        if each.object["kind"] == "Pod":
            assert each.owner is not None
            assert found[each.id] == found[each.owner.id]


def test_a_pod_without_a_label_goes_with_its_clique() -> None:
    member = clique("demo-0-web", "podclique/standalone", ref("PodCliqueSet", "demo"), (0,), 1)
    pod = pods(member, "unknown", (0,))[0]
    made = gang("demo-0", "podgang/base", (0,), ["demo-0-web"], {})
    assert find_gangs([member, made, pod])[pod.id] == made.id
