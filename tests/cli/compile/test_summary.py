"""What `-o summary` tells people about a set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from grove_cli.compile.summary import summarize
from grove_cli.terminal import Terminal
from grove_compiler.compile import CompileResult, SubjectResult
from grove_compiler.engine.runtime.results import StatusCondition
from grove_compiler.gangs.replicas import objects_by_set
from grove_compiler.graph.node import Manifest, Node, ObjectRef

PLAIN = Terminal(colours=False, width=100, wraps=False)
SET = ObjectRef("grove.io/v1alpha1", "PodCliqueSet", "ml", "demo")


def node(kind: str, name: str, owner: ObjectRef | None = SET, **manifest: Any) -> Node:
    manifest = {"apiVersion": "grove.io/v1alpha1", "kind": kind, **manifest}
    manifest["metadata"] = {"name": name, "namespace": "ml", "labels": manifest.pop("labels", {})}
    return Node(f"{kind}/ml/{name}", manifest, "some/rule", (), owner, {})


def clique(name: str, replica: int = 0, pods: int = 1, needed: int | None = None, gpus: int = 0, group: str = "", index: int = 0) -> Node:
    labels = {"app.kubernetes.io/part-of": "demo", "grove.io/podcliqueset-replica-index": str(replica)}
    if group:
        labels |= {"grove.io/podcliquescalinggroup": group, "grove.io/podcliquescalinggroup-replica-index": str(index)}
    container = {"name": "main", "resources": {"limits": {"nvidia.com/gpu": gpus}}} if gpus else {"name": "main"}
    spec = {"replicas": pods, "minAvailable": pods if needed is None else needed, "podSpec": {"containers": [container]}}
    return node("PodClique", name, labels=labels, spec=spec)


def scaled(clique: Node, base: str) -> Node:
    clique.object["metadata"]["labels"]["grove.io/base-podgang"] = base
    return clique


def gang(name: str, *cliques: str) -> Node:
    return node("PodGang", name, spec={"podgroups": [{"name": clique, "minReplicas": 1} for clique in cliques]})


def replicas(count: int) -> list[Node]:
    """So many replicas of a set with one clique of two pods."""
    nodes = []
    for index in range(count):
        nodes += [clique(f"demo-{index}-web", replica=index, pods=2, gpus=4), gang(f"demo-{index}", f"demo-{index}-web")]
    return nodes


def result_of(nodes: list[Node], conditions: Sequence[StatusCondition] = (), hash: str = "abc123") -> CompileResult:
    one = SubjectResult("PodCliqueSet", SET, 0, [], nodes=nodes, conditions=list(conditions), generation_hash=hash)
    return CompileResult({}, [one])


def lines(nodes: list[Node], *conditions: StatusCondition, width: int = 100, declared: Mapping[str, Manifest] | None = None) -> list[str]:
    text = summarize(result_of(nodes, conditions), declared or {}, PLAIN._replace(width=width))
    assert text.endswith("\n")
    return text.splitlines()


def tree(nodes: list[Node]) -> list[str]:
    whole = lines(nodes)
    return whole[whole.index("") + 1 :]


def row(nodes: list[Node], name: str, *conditions: StatusCondition) -> str:
    return next(line.strip().removeprefix(name).strip() for line in lines(nodes, *conditions) if line.strip().startswith(name))


class TestTheCounts:
    def test_a_set_is_named_with_its_namespace(self) -> None:
        assert lines(replicas(1))[0] == "PodCliqueSet ml/demo"

    def test_objects_are_counted_by_kind_in_apply_order(self) -> None:
        assert row([node("Role", "a"), *replicas(2)], "objects") == "5: 1 Role, 2 PodClique, 2 PodGang"

    def test_what_belongs_to_children_of_a_set_counts(self) -> None:
        owner = ObjectRef("grove.io/v1alpha1", "PodClique", "ml", "demo-0-web")
        assert row([*replicas(1), node("Pod", "demo-0-web-x", owner)], "objects") == "3: 1 PodClique, 1 PodGang, 1 Pod"

    def test_base_and_scaled_gangs_are_told_apart(self) -> None:
        more = scaled(clique("demo-0-g-1-w", group="demo-0-g", index=1), "demo-0")
        assert row([*replicas(1), more, gang("demo-0-g-0", "demo-0-g-1-w")], "gangs") == "2: 1 base, 1 scaled"

    def test_pods_are_those_of_all_cliques(self) -> None:
        assert row([clique("demo-0-a", pods=3), clique("demo-0-b", pods=4, needed=1)], "pods").startswith(
            "7, of which the base gangs need 4 to start"
        )

    def test_pods_of_scaled_gangs_need_not_be_there(self) -> None:
        assert row([clique("demo-0-a", pods=3), scaled(clique("demo-0-b", pods=4), "x")], "pods").startswith(
            "7, of which the base gangs need 3 to start"
        )

    def test_gpus_are_counted_per_replica_and_in_all(self) -> None:
        assert row(replicas(3), "GPUs") == "8 per replica, 24 in total"

    def test_replicas_may_have_different_numbers_of_gpus(self) -> None:
        assert row([*replicas(1), clique("demo-1-web", replica=1, gpus=1)], "GPUs") == "1 to 8 per replica, 9 in total"

    def test_a_single_replica_has_one_number_of_gpus(self) -> None:
        assert row(replicas(1), "GPUs") == "8"

    def test_a_set_may_have_no_gpus(self) -> None:
        assert row([clique("demo-0-web")], "GPUs") == "none"

    def test_mig_devices_are_counted_apart_from_gpus(self) -> None:
        nodes = [clique("demo-0-web", pods=3)]
        nodes[0].object["spec"]["podSpec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/mig-1g.5gb": 2}}
        assert row(nodes, "MIG devices") == "6"
        assert not any(line.strip().startswith("GPUs") for line in lines(nodes))
        assert tree(nodes)[-1].endswith("3 pods, 2 MIG devices each")

    def test_the_generation_hash_is_shown(self) -> None:
        assert row(replicas(1), "generation") == "hash abc123"

    def test_conditions_of_the_set_are_shown_one_by_one(self) -> None:
        assert (
            row(replicas(1), "condition", StatusCondition(SET, "Ready", "False", "Waiting", "no pods", "r"))
            == "Ready=False, Waiting: no pods"
        )

    def test_conditions_of_its_objects_are_counted(self) -> None:
        gangs = [ObjectRef("v1", "PodGang", "ml", f"demo-{index}") for index in range(3)]
        conditions = [StatusCondition(of, "Initialized", "False", "Pending", "", "r") for of in gangs]
        assert row(replicas(3), "condition", *conditions) == "Initialized=False of 3 PodGangs, Pending"

    def test_long_lines_are_wrapped_below_themselves_in_a_terminal(self) -> None:
        nodes = [node(f"Kind{number}", "a") for number in range(20)]
        text = summarize(result_of(nodes, hash=""), {}, Terminal(colours=False, width=60, wraps=True)).splitlines()
        assert max(len(line) for line in text) <= 60
        assert {line[:11] for line in text[2:]} == {" " * 11}

    def test_objects_of_no_set_come_last(self) -> None:
        text = lines([node("Thing", "a", owner=None), *replicas(1)])
        assert text.index("PodCliqueSet ml/demo") < text.index("Objects that belong to no set")

    def test_each_set_has_a_section(self) -> None:
        other = SET._replace(name="other")
        text = lines([node("Role", "a"), node("Role", "b", other)])
        assert [line for line in text if line.startswith("PodCliqueSet")] == ["PodCliqueSet ml/demo", "PodCliqueSet ml/other"]

    def test_owners_that_own_each_other_belong_to_no_set(self) -> None:
        first, second = (ObjectRef("v1", "Thing", "ml", name) for name in "ab")
        assert [part.owner for part in objects_by_set([node("Thing", "a", second), node("Thing", "b", first)])] == [""]

    def test_nothing_at_all_is_summarized_as_nothing(self) -> None:
        assert summarize(CompileResult({}), {}, PLAIN) == ""


def startable(name: str, *after: str) -> Node:
    made = clique(name)
    made.object["spec"]["startsAfter"] = list(after)
    return made


def autoscaler(target: str, least: int, most: int) -> Node:
    spec = {"scaleTargetRef": {"kind": "PodClique", "name": target}, "minReplicas": least, "maxReplicas": most}
    return node("HorizontalPodAutoscaler", target, spec=spec)


class TestWhatASetAsksOfItsCluster:
    def test_a_plain_set_asks_nothing(self) -> None:
        names = {line.strip().split("  ")[0] for line in lines(replicas(1))}
        assert names.isdisjoint({"topology", "MNNVL", "autoscaling", "start order", "training"})

    def test_topology_constraints_are_counted_by_level(self) -> None:
        packed = [gang(f"demo-{index}", f"demo-{index}-web") for index in range(2)]
        for one in packed:
            one.object["spec"]["topologyConstraint"] = {"packConstraint": {"required": "zone", "preferred": "rack"}}
            one.object["spec"]["podgroups"][0]["topologyConstraint"] = {"packConstraint": {"required": "host"}}
        nodes = [clique(f"demo-{index}-web", replica=index) for index in range(2)] + packed
        assert row(nodes, "topology") == "zone required for 2 gangs, rack preferred for 2 gangs, host required for 2 cliques"

    def test_ranges_of_autoscalers_are_told_once_for_all_replicas(self) -> None:
        nodes = [*replicas(2), *(autoscaler(f"demo-{index}-web", 2, 6) for index in range(2)), autoscaler("demo-0-more", 1, 3)]
        assert row(nodes, "autoscaling") == "web 2 to 6 replicas, more 1 to 3 replicas"

    def test_cliques_are_told_in_the_order_in_which_they_start(self) -> None:
        nodes = [startable("demo-0-c", "demo-0-a", "demo-0-b"), startable("demo-0-a"), startable("demo-0-b", "elsewhere")]
        assert row(nodes, "start order") == "a, b -> c"

    def test_a_start_order_in_a_circle_is_said_to_be_none(self) -> None:
        nodes = [startable("demo-0-a", "demo-0-b"), startable("demo-0-b", "demo-0-a")]
        assert row(nodes, "start order").startswith("none, since there is a cycle: ")

    def test_nvlink_domains_are_told_with_their_pods(self) -> None:
        spec = {"channel": {"resourceClaimTemplate": {"name": "demo-0-claim"}}}
        user = clique("demo-0-web", pods=4)
        user.object["spec"]["podSpec"]["resourceClaims"] = [{"name": "mnnvl", "resourceClaimTemplateName": "demo-0-claim"}]
        assert row([node("ComputeDomain", "demo-0-cd", spec=spec), user], "MNNVL") == "1 domain of 4 pods"

    @pytest.mark.parametrize(
        ("training", "text"),
        [
            ({"maxRuntime": "48h", "maxRestarts": 1}, "runs to its end, for 48h at most, 1 restart at most"),
            ({}, "runs to its end, without a time limit"),
        ],
    )
    def test_training_is_told_with_its_limits(self, training: dict[str, Any], text: str) -> None:
        declared = {SET.id: {"spec": {"workloadType": "Training", "trainingSpec": training}}}
        assert f"  training    {text}" in lines(replicas(1), declared=declared)


class TestTheTree:
    def test_a_single_pod_starts_together_with_itself(self) -> None:
        assert "1 pod starts together" in tree([clique("demo-0-web"), gang("demo-0", "demo-0-web")])[2]

    def test_it_leads_from_the_set_to_the_pods(self) -> None:
        assert tree(replicas(1)) == [
            "demo",
            "└─ replica 0",
            "   └─ gang demo-0           2 pods start together",
            "      └─ clique demo-0-web  2 pods, 4 GPUs each",
        ]

    def test_three_replicas_are_drawn_and_more_are_counted(self) -> None:
        assert sum("replica" in line for line in tree(replicas(3))) == 3
        assert tree(replicas(500))[-1] == "└─ … 499 more replicas like it: 1 to 499"

    def test_a_replica_that_differs_is_drawn(self) -> None:
        nodes = replicas(10)
        nodes[8].object["spec"]["replicas"] = 7
        drawn = [line.strip("├└─ ") for line in tree(nodes) if "replica" in line]
        assert drawn == ["replica 0", "… 3 more replicas like it: 1 to 3", "replica 4", "replica 5", "… 4 more replicas like it: 6 to 9"]

    def test_replicas_that_all_differ_are_not_drawn_without_end(self) -> None:
        nodes = [clique(f"demo-{index}-web", replica=index, pods=index + 1) for index in range(500)]
        assert len(tree(nodes)) < 100
        assert tree(nodes)[-1] == "└─ … and more, down to replica 499"

    def test_scaled_gangs_of_one_shape_are_counted(self) -> None:
        nodes = replicas(1)
        for index in range(5):
            nodes += [
                scaled(clique(f"demo-0-g-{index + 1}-w", group="demo-0-g", index=index + 1), "demo-0"),
                gang(f"demo-0-g-{index}", f"demo-0-g-{index + 1}-w"),
            ]
        assert tree(nodes)[-1].strip() == "└─ … 4 more gangs like it: demo-0-g-1 to demo-0-g-4"

    def test_fewer_needed_pods_than_there_are_is_said(self) -> None:
        assert tree([clique("demo-0-web", pods=4, needed=3)])[-1].endswith("4 pods, 3 needed")

    def test_a_clique_outside_all_gangs_hangs_on_its_replica(self) -> None:
        assert tree([clique("demo-0-web")])[1:] == ["└─ replica 0", "   └─ clique demo-0-web  1 pod"]

    def test_names_cannot_steer_the_terminal(self) -> None:
        assert "\x1b" not in "".join(lines([clique("demo-0-\x1b[31mweb")]))

    def test_details_stand_near_long_names_in_a_narrow_terminal(self) -> None:
        long = [clique("demo-0-" + "x" * 50), clique("demo-0-y")]
        assert any(line.endswith("1 pod") and len(line) < 60 for line in lines(long, width=40))
