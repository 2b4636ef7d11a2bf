"""Whatever goes wrong, a step says so and leaves everything as it is; and what goes wrong in one place costs the others nothing."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from grove_compiler import step_context
from grove_compiler.compile import Inputs, lint
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ObjectList, ObjectReader
from grove_compiler.source.document import Document
from grove_compiler.step import Key, StepContext, StepGone, StepHold, StepResult, step
from grove_compiler.unknown import Unknown
from grove_compiler.validation import validate_topologies
from tests.features.compiling import program_with, shipped_program
from tests.model.sets import clique, pcs

from .world import NOW, Manifest, context, key_of, stored

RACK = {"packDomain": "rack"}
TOPOLOGY: Manifest = {
    "apiVersion": "grove.io/v1alpha1",
    "kind": "ClusterTopology",
    "metadata": {"name": "lab"},
    "spec": {"levels": [{"domain": "zone", "key": "example.com/zone"}, {"domain": "rack", "key": "example.com/rack"}]},
}
TAS = Document(
    {
        "apiVersion": "operator.config.grove.io/v1alpha1",
        "kind": "OperatorConfiguration",
        "topologyAwareScheduling": {"enabled": True},
    }
)


KAI = Document({**TAS.value, "scheduler": {"profiles": [{"name": "kai-scheduler"}]}})


def named(name: str, **template: Any) -> Manifest:
    manifest = pcs([clique("worker")], replicas=2)
    manifest["metadata"]["name"] = name
    manifest["spec"]["template"].update(template)
    return manifest


def bad(name: str) -> Manifest:
    manifest = named(name)
    manifest["spec"]["template"]["cliques"][0]["spec"]["minAvailable"] = 9
    return manifest


def placed(name: str) -> Manifest:
    return named(name, clusterTopologyName="lab", topologyConstraint=RACK)


def outcomes(
    objects: list[Manifest], shared: StepContext | None = None, view: ObjectReader | None = None
) -> dict[str, StepResult | StepGone | StepHold]:
    """The outcome for the first replica of each set, by the set's name, and of each topology."""
    found = {}
    for one in objects:
        key = key_of(one, 0 if one["kind"] == "PodCliqueSet" else None)
        found[key.name] = step(view or ObjectList(objects), key, NOW, shared or context(config=TAS))
    return found


def reasons(found: dict[str, StepResult | StepGone | StepHold]) -> dict[str, str]:
    return {name: one.reason for name, one in found.items() if isinstance(one, StepHold)}


def test_a_bad_set_holds_itself_and_no_other() -> None:
    found = outcomes(stored([named("good"), bad("bad")]))
    assert isinstance(found["good"], StepResult)
    assert "must not be greater than replicas" in reasons(found)["bad"]


def test_a_set_that_is_not_even_structured_holds() -> None:
    broken = named("broken")
    broken["spec"]["template"]["cliques"] = "none"
    assert "cliques" in reasons(outcomes(stored([broken])))["broken"]


def test_a_set_of_an_unknown_version_holds() -> None:
    future = {**named("future"), "apiVersion": "grove.io/v1"}
    assert "grove.io/v1" in reasons(outcomes(stored([future])))["future"]


def test_a_bad_topology_holds_itself_and_the_sets_that_are_placed_by_it() -> None:
    twice = copy.deepcopy(TOPOLOGY)
    twice["spec"]["levels"][1]["domain"] = "zone"
    found = outcomes(stored([twice, placed("placed"), named("elsewhere")]))
    assert isinstance(found["elsewhere"], StepResult)
    assert reasons(found).keys() == {"lab", "placed"}


FAILING = """
rule: own/default
doc: A default that fails.
default: spec.none
of: ClusterTopology
value: '{{ object.spec.levels.none }}'
"""
UNREADABLE = [
    ("an unknown version", "grove.io/v9", "", "not a version of a ClusterTopology"),
    ("a default that fails", "", FAILING, "own/default"),
]


@pytest.mark.parametrize(("version", "rule", "reason"), [case[1:] for case in UNREADABLE], ids=[case[0] for case in UNREADABLE])
def test_a_topology_that_cannot_be_read_holds_itself_and_the_sets_that_are_placed_by_it(version: str, rule: str, reason: str) -> None:
    """It is not gone, and the sets must not be placed as if there were none."""
    shared = context(config=TAS, program=program_with(rule) if rule else None)
    written = {**TOPOLOGY, "apiVersion": version or TOPOLOGY["apiVersion"]}
    found = outcomes(stored([written, placed("placed"), named("elsewhere")]), shared)
    assert isinstance(found["elsewhere"], StepResult)
    assert reason in reasons(found)["lab"]
    assert reasons(found)["placed"] == "it needs the ClusterTopology 'lab', which has errors"


def test_topologies_are_validated_once_and_again_when_one_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def counted(*given: Any, errors_only: bool) -> None:
        calls.append("validated")
        validate_topologies(*given, errors_only=errors_only)

    monkeypatch.setattr(step_context, "validate_topologies", counted)
    shared = context(config=TAS)
    objects = stored([TOPOLOGY, placed("placed")])
    outcomes(objects, shared)
    outcomes(objects, shared)
    assert calls == ["validated"]
    twice = copy.deepcopy(TOPOLOGY)
    twice["spec"]["levels"][1]["domain"] = "zone"
    assert reasons(outcomes(stored([twice, placed("placed")]), shared)).keys() == {"lab", "placed"}
    assert calls == ["validated", "validated"]


def test_a_topology_that_is_good_again_frees_them() -> None:
    broken = copy.deepcopy(TOPOLOGY)
    broken["spec"]["levels"] = "none"
    shared = context(config=TAS)
    assert reasons(outcomes(stored([broken, placed("placed")]), shared)).keys() == {"lab", "placed"}
    assert reasons(outcomes(stored([TOPOLOGY, placed("placed")]), shared)) == {}


def test_a_domain_that_a_topology_lost_holds_no_running_set() -> None:
    """The constraint is dropped and the condition says so (GREP-244); a set that runs must not stop being looked after."""
    fewer = copy.deepcopy(TOPOLOGY)
    fewer["spec"]["levels"].pop()
    assert isinstance(outcomes(stored([fewer, placed("placed")]))["placed"], StepResult)


def test_a_rule_of_a_user_that_fails_elsewhere_keeps_no_replica_that_is_not_declared() -> None:
    """No rule can make anything for it, so none has to run to know that it is gone; what is wrong with the set itself holds it."""
    rule = "rule: own/label\ndoc: Fails.\npatch: Service\ndo: [{op: replace, path: /metadata/labels/tier, value: '{{ set.labels.tier }}'}]"
    for manifest, kind in ((named("a"), StepGone), (bad("a"), StepHold)):
        [one], shared = stored([manifest]), context(program=program_with(rule))
        assert isinstance(step(ObjectList([one]), key_of(one, 0), NOW, shared), StepHold)
        assert isinstance(step(ObjectList([one]), key_of(one, 2), NOW, shared), kind)


def test_a_rule_of_a_user_that_fails_holds_the_sets_that_it_fails_for() -> None:
    rule = """
rule: own/label
doc: A label that some sets lack what it needs.
patch: Service
do: [{op: replace, path: /metadata/labels/tier, value: "{{ set.labels.tier }}"}]
when: set.name == 'b'
"""
    found = outcomes(stored([named("a"), named("b")]), context(program=program_with(rule)))
    assert isinstance(found["a"], StepResult)
    assert "own/label" in reasons(found)["b"]


def test_an_exception_in_the_model_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise AssertionError("a fault of ours")

    monkeypatch.setattr("grove_compiler.step.ExpandedSet", broken)
    assert reasons(outcomes(stored([named("a")]))) == {"a": "AssertionError: a fault of ours"}


class Unsynced(ObjectList):
    """A view that knows of no pods yet."""

    def by_owner(self, group: str, kind: str, owner: Any) -> list[Manifest]:
        if kind == "Pod":
            raise Unknown("pods are not listed yet")
        return super().by_owner(group, kind, owner)


def test_what_a_view_cannot_answer_holds() -> None:
    objects = stored([named("a")])
    found = outcomes(objects, view=Unsynced(objects))
    assert "pods are not listed yet" in reasons(found)["a"]


class Unlisted(ObjectList):
    """A cluster some of whose kinds cannot be listed: a right is missing, or the conversion webhook of their definition is away."""

    KINDS = ("PriorityClass", "ComputeDomain", "Topology")

    def by_label(self, group: str, kind: str, key: str = "", value: str = "", namespace: str = "") -> list[Manifest]:
        if kind in self.KINDS:
            raise Unknown(f"{kind} is not listed yet")
        return super().by_label(group, kind, key, value, namespace)

    def get(self, group: str, kind: str, namespace: str, name: str) -> Manifest | None:
        if kind in self.KINDS:
            raise Unknown(f"{kind} is not listed yet")
        return super().get(group, kind, namespace, name)


def with_domain(name: str) -> Manifest:
    manifest = named(name, computeDomainConfig={"enabled": True})
    container = manifest["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]
    container["resources"] = {"limits": {"nvidia.com/gpu": 1}}
    return manifest


@pytest.mark.parametrize("part", [None, 0])
def test_kinds_that_cannot_be_listed_hold_the_sets_alone_that_need_them(part: int | None) -> None:
    """PriorityClasses are read for a warning only, ComputeDomains and KAI's Topologies by those who use them."""
    sets = [named("any", priorityClassName="high"), with_domain("linked"), placed("placed")]
    objects, shared = stored([TOPOLOGY, *sets]), context(config=KAI)
    found = {one["metadata"]["name"]: step(Unlisted(objects), key_of(one, part), NOW, shared) for one in objects[1:]}
    assert reasons(found) == {"linked": "ComputeDomain is not listed yet", "placed": "Topology is not listed yet"}


def test_a_topology_is_judged_anew_once_somebody_elses_has_its_name() -> None:
    shared = context(config=KAI)
    kai = {"apiVersion": "kai.scheduler/v1alpha1", "kind": "Topology", "metadata": {"name": "lab"}}
    objects = [TOPOLOGY, placed("placed")]
    held = [reasons(outcomes(stored(objects + more), shared)).get("placed", "") for more in ([], [kai], [])]
    assert [bool(reason) for reason in held] == [False, True, False]


def test_what_is_wrong_with_a_topology_is_not_forgotten_while_a_rule_cannot_read_what_it_needs() -> None:
    class WithoutSets(ObjectList):
        def by_label(self, group: str, kind: str, key: str = "", value: str = "", namespace: str = "") -> list[Manifest]:
            if kind == "PodCliqueSet":
                raise Unknown(f"{kind} is not listed yet")
            return super().by_label(group, kind, key, value, namespace)

    rule = {
        "rule": "own/uses",
        "doc": "Requires few sets.",
        "about": "ClusterTopology",
        "validate": ["create"],
        "assert": "topology.uses | length < 9",
        "path": "metadata.name",
        "message": "too many",
    }
    shared = context(config=KAI, program=program_with(json.dumps(rule)))
    kai = {"apiVersion": "kai.scheduler/v1alpha1", "kind": "Topology", "metadata": {"name": "lab"}}
    views = [ObjectList(stored([TOPOLOGY, kai])), WithoutSets(stored([TOPOLOGY])), ObjectList(stored([TOPOLOGY, kai]))]
    held = [step(view, Key("ClusterTopology", "", "lab"), NOW, shared) for view in views]
    assert ["KAI already has" in one.reason for one in held if isinstance(one, StepHold)] == [True, False, True]


WARNING = {
    "rule": "own/warning",
    "doc": "Warns where a label is missing.",
    "validate": ["create", "update"],
    "severity": "warning",
    "assert": "1 / (set.replica_count - 2) > 0",
    "path": "metadata.labels",
    "message": "which tier is it?",
}


def test_a_rule_of_a_user_that_warns_and_fails_holds_no_set() -> None:
    assert reasons(outcomes(stored([named("a")]), context(program=program_with(json.dumps(WARNING))))) == {}


def test_a_rule_of_a_user_that_warns_and_fails_rejects_no_set_and_hides_no_other_finding() -> None:
    program = program_with(json.dumps(WARNING))
    for manifest, others in ((named("a"), []), (bad("a"), ["error"])):
        failed, *rest = sorted(lint(Inputs([Document(manifest, "set.yaml")]), program), key=lambda one: one.severity, reverse=True)
        assert (failed.code, failed.severity, failed.file) == ("rules/failed", "warning", "rules/own.yaml")
        assert [one.severity for one in rest] == others
    broken = bad("a")
    broken["spec"]["template"]["cliques"][0]["spec"]["startsAfter"] = "none"
    assert {one.code.partition("/")[0] for one in lint(Inputs([Document(broken)]), program)} == {"schema"}


def test_a_view_that_does_not_know_the_sets_holds_and_says_not_that_they_are_gone() -> None:
    class Empty(ObjectList):
        def get(self, group: str, kind: str, namespace: str, name: str) -> Manifest | None:
            raise Unknown(f"{kind} is not listed yet")

    found = step(Empty(), Key("PodCliqueSet", "default", "a"), NOW, context())
    assert isinstance(found, StepHold)


def test_a_configuration_with_errors_holds_everything() -> None:
    config = Document({**TAS.value, "scheduler": {"profiles": "all"}})
    assert reasons(outcomes(stored([named("a"), TOPOLOGY]), context(config=config))).keys() == {"a", "lab"}


def test_what_a_set_reports_is_seen_without_a_new_generation() -> None:
    rule = """
rule: own/phase
doc: A label that follows what the set reports.
patch: Service
do: [{op: add, path: /metadata/labels/phase, value: "{{ set.manifest.status.phase or 'none' }}"}]
"""
    shared = context(program=program_with(rule))

    def phase(**status: str) -> str:
        made = outcomes(stored([{**named("a"), "status": status}]), shared)["a"]
        assert isinstance(made, StepResult)
        return next(str(node.object["metadata"]["labels"]["phase"]) for node in made.graph.nodes if node.object["kind"] == "Service")

    assert [phase(), phase(phase="Running"), phase(phase="Failed")] == ["none", "Running", "Failed"]


def test_too_many_objects_hold() -> None:
    found = outcomes(stored([named("a"), named("b")]), context(Settings(max_objects=3)))
    assert reasons(found).keys() == {"a", "b"}


@pytest.mark.parametrize("name", ["none", "ended"])
def test_a_set_that_is_not_there_or_ends_is_gone(name: str) -> None:
    ended = named("ended")
    ended["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert isinstance(step(ObjectList(stored([ended])), Key("PodCliqueSet", "default", name), NOW, context()), StepGone)


def test_a_replica_beyond_the_number_is_gone_but_not_while_the_set_is_held() -> None:
    good, wrong = stored([named("good"), bad("wrong")])
    view = ObjectList([good, wrong])
    assert isinstance(step(view, key_of(good, 2), NOW, context()), StepGone)
    assert isinstance(step(view, key_of(wrong, 2), NOW, context()), StepHold)


class TestCompilingSeveral:
    """The same for those who compile several subjects at once."""

    def compiled(self, *manifests: Manifest) -> dict[str, tuple[bool, int]]:
        documents = [Document(manifest) for manifest in stored(manifests)]
        result = compile_inputs(Inputs(documents, config=TAS), shipped_program())
        assert sum(len(one.nodes) for one in result.subjects) == len(result.graph.nodes)
        return {one.ref.name: (not one.hold, len(one.nodes) > 0) for one in result.subjects if one.ref.name}

    def test_one_bad_set_costs_the_other_nothing(self) -> None:
        assert self.compiled(named("a"), bad("b")) == {"a": (True, True), "b": (False, False)}

    def test_a_bad_topology_costs_only_those_that_need_it(self) -> None:
        broken = {**TOPOLOGY, "spec": {"levels": "none"}}
        found = self.compiled(broken, placed("a"), named("b"))
        assert {name: sound for name, (sound, _) in found.items()} == {"lab": False, "a": False, "b": True}

    @pytest.mark.parametrize(
        "broken",
        [
            {**TOPOLOGY, "apiVersion": "grove.io/v9"},
            {**TOPOLOGY, "spec": {"levels": "none"}},
            {**TOPOLOGY, "spec": {"levels": [*TOPOLOGY["spec"]["levels"], TOPOLOGY["spec"]["levels"][0]]}},
        ],
        ids=["of an unknown version", "of a wrong structure", "with a level twice"],
    )
    def test_a_bad_topology_of_the_snapshot_holds_those_that_are_placed_by_it(self, broken: Manifest) -> None:
        documents = [Document(manifest) for manifest in stored([placed("a"), named("b")])]
        result = compile_inputs(Inputs(documents, stored([broken]), config=TAS), shipped_program())
        held = {one.ref.name: bool(one.hold) for one in result.subjects if one.ref.kind == "PodCliqueSet"}
        assert held == {"a": True, "b": False}
        assert [one.ref.name for one in result.subjects if one.ref.kind == "PodCliqueSet" and one.nodes] == ["b"]

    def test_of_two_declarations_of_one_set_neither_counts(self) -> None:
        documents = [Document(manifest) for one in (named("a"), named("a")) for manifest in stored([one])]
        result = compile_inputs(Inputs(documents), shipped_program())
        assert [bool(one.hold) for one in result.subjects] == [True, True]

    def test_a_document_that_belongs_to_nobody_leaves_the_input_incomplete(self) -> None:
        documents = [Document(manifest) for manifest in stored([named("a")])]
        sound = compile_inputs(Inputs(documents), shipped_program())
        unreadable = compile_inputs(Inputs([*documents, Document("text")]), shipped_program())
        assert (sound.is_complete, unreadable.is_complete) == (True, False)
        assert [one.hold for one in unreadable.subjects] == [""]
