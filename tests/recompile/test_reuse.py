"""What is taken over from a former result, and what is not because it may not hold any more."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grove_compiler.compile import Inputs
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.engine.program import Program
from grove_compiler.model.settings import Settings
from grove_compiler.source.document import Document
from tests.benchmarks.workload import manifest as benchmark
from tests.features.compiling import documents_of, shipped_program

from .compiling import Manifest, assert_same, inputs_of, program_with, reused, to_the_letter, with_replicas

EXAMPLES = sorted(Path(__file__).parents[2].joinpath("examples").glob("*.yaml"))
CONTAINER = {"name": "main", "image": "busybox:1.36"}
REQUEST = {"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}
CLAIM_TEMPLATE: Manifest = {"name": "t", "templateSpec": {"spec": {"devices": {"requests": [REQUEST]}}}}
SHARED: dict[str, Any] = {"resourceClaimTemplates": [CLAIM_TEMPLATE], "resourceSharing": [{"name": "t", "scope": "PerReplica"}]}


def pcs(name: str = "demo", replicas: int = 2, **template: Any) -> Manifest:
    spec = {"roleName": "worker", "replicas": 2, "podSpec": {"containers": [CONTAINER]}}
    whole = {"cliques": [{"name": "worker", "spec": spec}], **template}
    metadata = {"name": name, "labels": {"team": "a", "tier": "b"}}
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": metadata,
        "spec": {"replicas": replicas, "template": whole},
    }


def taken_over(before: Inputs, after: Inputs, program: Program | None = None) -> set[str]:
    """The rules whose nodes are taken over; the result has to be right, too."""
    used = program or shipped_program()
    former = compile_inputs(before, used)
    assert_same(before, after, used)
    return reused(former, compile_inputs(after, used, former))


PER_REPLICA = {"service/replica", "podclique/standalone", "podgang/base", "pod/clique"}


@pytest.mark.parametrize("after", [1, 2, 3, 50])
def test_what_a_replica_consists_of_is_taken_over_when_the_number_changes(after: int) -> None:
    assert taken_over(inputs_of(pcs(replicas=2)), inputs_of(pcs(replicas=after))) == PER_REPLICA


def test_only_new_replicas_are_made() -> None:
    former = compile_inputs(inputs_of(pcs(replicas=5)), shipped_program())
    result = compile_inputs(inputs_of(pcs(replicas=7)), shipped_program(), former)
    known = {id(node) for node in former.graph.nodes}
    made = {node.loop[1] for node in result.graph.nodes if node.rule in PER_REPLICA and id(node) not in known}
    assert made == {5, 6}


def test_nothing_is_left_to_take_over_after_zero_replicas() -> None:
    assert taken_over(inputs_of(pcs(replicas=0)), inputs_of(pcs(replicas=3))) == set()


def test_a_result_knows_nothing_of_the_results_before_its_former_one() -> None:
    first = compile_inputs(inputs_of(pcs(replicas=1)), shipped_program())
    second = compile_inputs(inputs_of(pcs(replicas=2)), shipped_program(), first)
    assert second.made is not None
    assert [records.objects.former for records in second.made.records] == [None]


def changed(path: list[Any], value: Any) -> Callable[[Manifest], None]:
    def change(manifest: Manifest) -> None:
        for step in path[:-1]:
            manifest = manifest[step]
        manifest[path[-1]] = value

    return change


def reversed_labels(manifest: Manifest) -> None:
    manifest["metadata"]["labels"] = dict(reversed(manifest["metadata"]["labels"].items()))


EDITS: dict[str, Callable[[Manifest], None]] = {
    "a label": changed(["metadata", "labels", "team"], "c"),
    "the order of labels": reversed_labels,
    "an annotation": changed(["metadata", "annotations"], {"a": "b"}),
    "the image": changed(["spec", "template", "cliques", 0, "spec", "podSpec", "containers", 0, "image"], "busybox:1.37"),
    "pods of a clique": changed(["spec", "template", "cliques", 0, "spec", "replicas"], 3),
    "the update strategy": changed(["spec", "updateStrategy"], {"type": "OnDelete"}),
    "the priority class": changed(["spec", "template", "priorityClassName"], "high"),
    "the name": changed(["metadata", "name"], "other"),
    "the namespace": changed(["metadata", "namespace"], "other"),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
@pytest.mark.parametrize("after", [2, 4])
def test_any_other_edit_makes_everything_anew(edit: Callable[[Manifest], None], after: int) -> None:
    new = copy.deepcopy(pcs(replicas=after))
    edit(new)
    assert taken_over(inputs_of(pcs(replicas=2)), inputs_of(new)) == set()


ONE_IS_NOT_TRUE = [1, True, 1.0, "1"]


@pytest.mark.parametrize("after", ONE_IS_NOT_TRUE)
@pytest.mark.parametrize("before", ONE_IS_NOT_TRUE)
def test_values_that_python_calls_equal_are_not_the_same(before: Any, after: Any) -> None:
    def claim(value: Any) -> Manifest:
        template = copy.deepcopy(CLAIM_TEMPLATE)
        template["templateSpec"]["spec"]["devices"]["config"] = [{"opaque": {"driver": "d.example.com", "parameters": {"x": value}}}]
        return pcs(resourceClaimTemplates=[template], resourceSharing=SHARED["resourceSharing"])

    same = type(before) is type(after)
    assert bool(taken_over(inputs_of(claim(before)), inputs_of(with_replicas(claim(after), 3)))) is same


SETTINGS = {
    "pods": Settings(pods=False),
    "namespace": Settings(pods=True, namespace="other"),
    "kube version": Settings(pods=True, kube_version="1.34"),
    "limit": Settings(pods=True, max_objects=50),
    "shape of domains": Settings(pods=True, mnnvl_shape="driver"),
}


@pytest.mark.parametrize("chosen", SETTINGS.values(), ids=SETTINGS.keys())
def test_other_settings_make_everything_anew(chosen: Settings) -> None:
    assert taken_over(inputs_of(pcs()), inputs_of(pcs(replicas=3), settings=chosen)) == set()


def test_another_configuration_makes_everything_anew() -> None:
    def config(log_level: str) -> Document:
        return Document({"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration", "logLevel": log_level})

    assert taken_over(inputs_of(pcs(), config=config("info")), inputs_of(pcs(replicas=3), config=config("debug"))) == set()
    assert taken_over(inputs_of(pcs(), config=config("info")), inputs_of(pcs(replicas=3), config=config("info"))) == PER_REPLICA


def test_another_program_makes_everything_anew() -> None:
    former = compile_inputs(inputs_of(pcs()), shipped_program())
    assert reused(former, compile_inputs(inputs_of(pcs(replicas=3)), program_with(LAST), former)) == set()


def test_another_snapshot_makes_everything_anew() -> None:
    live = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "demo-0-worker-x", "namespace": "default"}}
    assert taken_over(inputs_of(pcs()), inputs_of(pcs(replicas=3), snapshot=[live])) == set()
    assert taken_over(inputs_of(pcs(), snapshot=[live]), inputs_of(pcs(replicas=3), snapshot=[live])) == PER_REPLICA


def test_another_former_state_makes_everything_anew() -> None:
    def old(replicas: int) -> list[Document]:
        return inputs_of(pcs(replicas=replicas)).documents

    assert taken_over(inputs_of(pcs(), old=old(1)), inputs_of(pcs(replicas=3), old=old(2))) == set()


def test_every_set_of_an_input_can_change_its_number_by_itself() -> None:
    before = inputs_of(pcs("a", 2), pcs("b", 3))
    assert taken_over(before, inputs_of(pcs("a", 4), pcs("b", 1))) == PER_REPLICA


def test_an_edit_of_one_set_makes_the_other_anew_as_well() -> None:
    other = pcs("b", 3, priorityClassName="high")
    assert taken_over(inputs_of(pcs("a"), pcs("b")), inputs_of(pcs("a", 4), other)) == set()


def test_another_number_of_sets_makes_everything_anew() -> None:
    assert taken_over(inputs_of(pcs("a")), inputs_of(pcs("a"), pcs("b"))) == set()


def test_the_items_of_a_list_count_as_sets() -> None:
    def listed(replicas: int) -> Manifest:
        return {"apiVersion": "v1", "kind": "List", "items": [pcs(replicas=replicas)]}

    assert taken_over(inputs_of(listed(2)), inputs_of(listed(5))) == PER_REPLICA


def test_claims_that_the_set_owns_for_each_replica_are_made_anew() -> None:
    assert taken_over(inputs_of(pcs(replicas=2, **SHARED)), inputs_of(pcs(replicas=4, **SHARED))) == PER_REPLICA


def test_a_result_with_errors_is_no_help() -> None:
    broken = pcs()
    broken["spec"]["template"]["cliques"] = []
    former = compile_inputs(inputs_of(broken), shipped_program())
    result = compile_inputs(inputs_of(pcs()), shipped_program(), former)
    assert to_the_letter(result) == to_the_letter(compile_inputs(inputs_of(pcs()), shipped_program()))


def test_errors_of_the_new_number_are_found() -> None:
    assert_same(inputs_of(pcs(replicas=2)), inputs_of(pcs(replicas=-1)))


@pytest.mark.parametrize("limit", range(20, 45))
def test_the_limit_of_objects_is_kept(limit: int) -> None:
    chosen = Settings(pods=True, max_objects=limit)
    assert_same(inputs_of(pcs(replicas=2), settings=chosen), inputs_of(pcs(replicas=7), settings=chosen))


@pytest.mark.parametrize("path", [path for path in EXAMPLES if "kind: PodCliqueSet" in path.read_text()], ids=lambda path: path.stem)
@pytest.mark.parametrize("after", [0, 1, 4])
def test_every_example_is_the_same_with_another_number(path: Path, after: int) -> None:
    def edited() -> Inputs:
        documents = documents_of(path.read_text())
        for document in documents:
            if document.value["kind"] == "PodCliqueSet":
                document.value["spec"]["replicas"] = after
        return Inputs(documents, settings=Settings(pods=True))

    assert_same(Inputs(documents_of(path.read_text()), settings=Settings(pods=True)), edited())


def test_scaling_the_benchmark_makes_a_tenth_of_the_objects() -> None:
    former = compile_inputs(Inputs(documents_of(benchmark(500))), shipped_program())
    result = compile_inputs(Inputs(documents_of(benchmark(550))), shipped_program(), former)
    known = {id(node) for node in former.graph.nodes}
    assert sum(id(node) not in known for node in result.graph.nodes) == 4 * 50 + 4  # and what stands for the set as a whole


LAST = """
rule: own/last
doc: The last replica is marked.
patch: Service
when: replica.index == set.replica_count - 1
do: [{op: add, path: /metadata/labels/last, value: "true"}]
"""

ASKING = {
    "the number": "set.replica_count",
    "the list of replicas": "set.replicas | length",
    "the spec": "set.spec.replicas",
    "the spec as a whole": "set.spec | tojson",
    "the manifest": "set.manifest.spec.replicas",
    "another replica's set": "replica.set.replicas[0].set.replica_count",
    "a set that a topology knows": "(set.topologies | length) ~ set.replica_count",
    "a function": "name_collisions(set) | length ~ set.replica_count",
    "claims that are made of the number": "set.claims | length ~ set.claims | length",
}


@pytest.mark.parametrize("expression", ASKING.values(), ids=ASKING.keys())
def test_a_rule_that_asks_for_the_number_is_run_again_and_others_are_not(expression: str) -> None:
    rule = f"""
rule: own/asking
doc: A label that says how many there are.
patch: Service
do: [{{op: add, path: /metadata/annotations/n, value: "{{{{ ({expression}) | string }}}}"}}]
"""
    found = taken_over(inputs_of(pcs(replicas=2, **SHARED)), inputs_of(pcs(replicas=3, **SHARED)), program_with(rule))
    assert found == PER_REPLICA - {"service/replica"}


def test_a_rule_that_asks_only_for_some_replicas_is_run_again() -> None:
    assert "service/replica" not in taken_over(inputs_of(pcs(replicas=2)), inputs_of(pcs(replicas=3)), program_with(LAST))


def test_a_condition_that_asks_for_the_number_is_computed_again() -> None:
    rule = """
rule: own/position
doc: Each gang says its place.
condition: Position
forEach: {replica: set.replicas}
of: replica.base_gang.ref
cases: [{status: "True", reason: Counted, message: "{{ replica.index + 1 }} of {{ set.replica_count }}"}]
"""
    assert_same(inputs_of(pcs(replicas=2)), inputs_of(pcs(replicas=3)), program_with(rule))


def test_a_rule_that_asks_in_a_guard_before_the_loop_is_run_again() -> None:
    rule = """
rule: own/many
doc: Only big sets get it.
generate: own.yaml
forEach: {replica: set.replicas}
when: set.replica_count > 2
"""
    template = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "x-{{ replica.index }}", namespace: x}\n'
    for before, after in ((2, 3), (3, 2), (3, 4)):
        assert_same(inputs_of(pcs(replicas=before)), inputs_of(pcs(replicas=after)), program_with(rule, template))


def test_a_default_that_follows_from_the_number_makes_everything_anew() -> None:
    rule = """
rule: own/default
doc: Big sets are important.
default: spec.template.priorityClassName
of: PodCliqueSet
value: "{{ 'high' if object.spec.replicas > 2 else 'low' }}"
"""
    assert taken_over(inputs_of(pcs(replicas=2)), inputs_of(pcs(replicas=3)), program_with(rule)) == set()
