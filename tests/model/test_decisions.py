"""Each decision is a rule's: one of a user takes its place, and the behaviour changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from grove_cli import rulebook
from grove_compiler.compile import VOCABULARY, Inputs
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.engine.codegen.build import build
from grove_compiler.engine.runtime.program import Program
from grove_compiler.engine.sources import RuleSource
from grove_compiler.graph.diagnostic import has_errors
from grove_compiler.model.admitted.podclique import AdmittedPodClique
from grove_compiler.model.admitted.podgang import AdmittedPodGang, DomainResource
from grove_compiler.model.decisions import DecisionRules
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ObjectList, Snapshot
from grove_compiler.model.preflight.devices import Device, DeviceRequest, PodResourceClaim
from grove_compiler.model.preflight.forming_gang import Peer
from grove_compiler.model.preflight.pod_devices import PodWithDevices
from grove_compiler.model.preflight.values import PreflightCheck
from grove_compiler.model.vocabulary import DECISIONS
from grove_compiler.preflight import inject
from grove_compiler.source.document import Document
from tests.preflight.injecting import pod_of, values_of
from tests.seeds.through_webhooks import podclique, podgang

from .sets import Manifest, clique, existing, existing_pod, group, pcs
from .topologies import manifest_of

Objects = dict[tuple[str, str], Manifest]

GPU = {"containers": [{"name": "main", "image": "i", "resources": {"limits": {"nvidia.com/gpu": 1}}}]}
KAI = "kai.scheduler/queue"
MNNVL = "grove.io/mnnvl-enabled"
GATED = {"schedulingGates": [{"name": "grove.io/podgang-pending-creation"}]}
PROFILES = [{"name": name} for name in ("kai-scheduler", "volcano", "default-scheduler")]
SCHEDULERS = {"scheduler": {"profiles": PROFILES, "defaultProfileName": "default-scheduler"}}
SHARING: dict[str, Any] = {
    "resourceSharing": [{"name": "t", "scope": "AllReplicas"}],
    "resourceClaimTemplates": [
        {
            "name": "t",
            "templateSpec": {"spec": {"devices": {"requests": [{"name": "d", "exactly": {"deviceClassName": "gpu.example.com"}}]}}},
        }
    ],
}
DECISION_RULES = DecisionRules()
ADMITTED = AdmittedPodClique(podclique(), "default", Settings(), Snapshot(), DECISION_RULES)
FREE = DomainResource({"metadata": {"labels": {"grove.io/pcs-name": "demo"}}})
OTHER_GANG = AdmittedPodGang(podgang("demo-0"), "default", Snapshot(), DECISION_RULES)
GOING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


def program_with(decision: str, value: str) -> Program:
    """The rules that ship, of which a user replaces the one that takes a decision."""
    ours = next(rule for rule in rulebook.read().program(VOCABULARY).rules if rule.details.get("decision") == decision)
    own = f"rule: {ours.id}\ndoc: It is as we say.\ndecide: {decision}\nvalue: {value!r}\n"
    return build([*rulebook.read().sources(), RuleSource("rules/own.yaml", own, "user")], VOCABULARY)


def compiled(program: Program, *inputs: Manifest, snapshot: list[Manifest] | None = None, config: Manifest | None = None) -> Objects:
    """The objects by kind and name, pods included."""
    head = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration"}
    configuration = Document({**head, **config}) if config else None
    result = compile_inputs(Inputs([Document(one) for one in inputs], snapshot or [], [], configuration, Settings(pods=True)), program)
    assert not has_errors(result.diagnostics), [finding.message for finding in result.diagnostics]
    return {(node.object["kind"], node.object["metadata"]["name"]): node.object for node in result.graph.nodes}


def names(objects: Objects, kind: str) -> list[str]:
    return [name for of, name in objects if of == kind]


def replicas(program: Program) -> Any:
    live = [existing("PodClique", "demo-0-a", spec={"replicas": 5})]
    return compiled(program, pcs([clique("a", 2)]), snapshot=live)["PodClique", "demo-0-a"]["spec"]["replicas"]


def pod_scheduler(program: Program) -> Any:
    objects = compiled(program, pcs([clique("a")]), config=SCHEDULERS)
    [pod] = [one for (kind, _), one in objects.items() if kind == "Pod"]
    return pod["spec"]["schedulerName"]


def gang_scheduler(program: Program) -> Any:
    return compiled(program, pcs([clique("a")]))["PodGang", "demo-0"]["metadata"]["labels"]["grove.io/scheduler-name"]


def queue(program: Program, scheduler: str) -> Any:
    own: dict[str, Any] = {"labels": {KAI: "research"}, "podSpec": {"schedulerName": scheduler}}
    return compiled(program, pcs([clique("a", **own)]), config=SCHEDULERS)["PodGroup", "demo-0"]["spec"]["queue"]


def pods_left(program: Program) -> Any:
    """Of two pods, of which one runs, one is too many."""
    spec = {"nodeName": "n"}
    runs = existing_pod("demo-0-a", "runs", 0, spec=spec, status={"phase": "Running"})
    live = [existing("PodClique", "demo-0-a", spec={"replicas": 1}), runs, existing_pod("demo-0-a", "waits", 1)]
    return names(compiled(program, pcs([clique("a")]), snapshot=live), "Pod")


def gates(program: Program, status: Manifest | None = None) -> Any:
    """The gates of a pod that exists, and that its gang names as far as `status` is given."""
    groups = [{"name": "demo-0-a", "minReplicas": 2, "podReferences": [{"namespace": "default", "name": "demo-0-a-b"}]}]
    gang = [existing("PodGang", "demo-0", spec={"podgroups": groups}, status=status)] if status is not None else []
    live = [existing("PodClique", "demo-0-a", spec={"replicas": 2}), existing_pod("demo-0-a", "b", 0, spec=GATED), *gang]
    return bool(compiled(program, pcs([clique("a", 2)]), snapshot=live)["Pod", "demo-0-a-b"]["spec"].get("schedulingGates"))


def new_pod_gates(program: Program) -> Any:
    """Whether a pod that does not exist yet is to have gates."""
    [pod] = [one for (kind, _), one in compiled(program, pcs([clique("a")])).items() if kind == "Pod"]
    return bool(pod["spec"].get("schedulingGates"))


def gates_once_initialized(program: Program) -> Any:
    """The gang was whole once, and lacks a pod by now."""
    return gates(program, {"conditions": [{"type": "Initialized", "status": "True"}]})


def image_that_runs(program: Program) -> Any:
    """The image of a PodClique that has a template of before, where that is recorded."""
    manifest = {**pcs([clique("a")]), "metadata": {"name": "demo", "namespace": "default", "uid": "uid-of-demo"}}
    template = {"podSpec": {"containers": [{"name": "main", "image": "old"}]}}
    data = {"generationHash": "g", "cliques": [{"name": "a", "hash": "h", "template": template}]}
    live = [
        existing("ControllerRevision", "demo-g", "PodCliqueSet/demo", revision=1, data=data),
        existing("PodClique", "demo-0-a", metadata={"labels": {"grove.io/pod-template-hash": "h"}}),
    ]
    made = compiled(program, manifest, snapshot=[manifest, *live])["PodClique", "demo-0-a"]
    return made["spec"]["podSpec"]["containers"][0]["image"]


def shared_claims(program: Program) -> Any:
    objects = compiled(program, pcs([clique("a")], **SHARING))
    [pod] = [one for (kind, _), one in objects.items() if kind == "Pod"]
    assert [claim["name"] for claim in pod["spec"]["resourceClaims"]] == names(objects, "ResourceClaim")
    return names(objects, "ResourceClaim")


def domains(program: Program) -> Any:
    """The names of domains and of their claims, where a clique says another thing than its set."""
    own = clique("a", podSpec=GPU, annotations={MNNVL: "true", "grove.io/mnnvl-scope": "clique"})
    objects = compiled(program, pcs([own, clique("b", podSpec=GPU)], metadata={"annotations": {MNNVL: "false"}}))
    return names(objects, "ComputeDomain") + names(objects, "ResourceClaim")


def kai_topologies(program: Program) -> Any:
    config = {**SCHEDULERS, "topologyAwareScheduling": {"enabled": True}}
    lab = manifest_of("lab", "zone", metadata=GOING)
    return names(compiled(program, lab, snapshot=[lab], config=config), "Topology")


def checks(program: Program) -> Any:
    """The init containers that a pod with GPUs gets, of which only the check of the GPUs needs neither network nor gang."""
    pod = pod_of(GPU)
    injected = inject(pod, ObjectList(), PREFLIGHT, program).injected
    return [one["name"].removeprefix("preflight-") for one in injected["spec"].get("initContainers", [])]


PREFLIGHT = values_of({"namespaces": ["training"]})
DCGM = PreflightCheck({"name": "dcgm-diag"})
MEMBER = PodWithDevices(pod_of({}), "default", PREFLIGHT, Snapshot(), DECISION_RULES)


def request(device_class: str) -> DeviceRequest:
    """A request for devices of one class."""
    return DeviceRequest("r", [Device(device_class, "", False)])


CASES: dict[str, list[tuple[str, Callable[[Program], Any], Any, Any]]] = {
    "live_replicas": [("declared", replicas, 5, 2)],
    "scheduler_of": [("'volcano'", pod_scheduler, "default-scheduler", "volcano")],
    "gang_scheduler": [("'mine'", gang_scheduler, "default-scheduler", "mine")],
    "kai_queue": [("'mine'", lambda program: queue(program, "kai-scheduler"), "research", "mine")],
    "volcano_queue": [("'mine'", lambda program: queue(program, "volcano"), "default", "mine")],
    "scale_in_order": [
        ("[0 - pod.index]", pods_left, ["demo-0-a-runs"], ["demo-0-a-runs"]),
        ("[pod.index]", pods_left, None, ["demo-0-a-waits"]),
    ],
    "gate_state": [("'Released'", gates, True, False)],
    "new_pod_is_gated": [("false", new_pod_gates, True, False)],
    "may_be_updated": [("false", image_that_runs, None, "old"), ("true", image_that_runs, None, "busybox")],
    "gang_state": [("'Initialized' if gang.has_all_pods else 'Forming'", gates_once_initialized, False, True)],
    "shared_claim_name": [("template ~ '-of-' ~ owner", shared_claims, ["demo-all-t"], ["t-of-demo"])],
    "mnnvl_annotation": [("annotations | first", domains, ["demo-0-a-cd", "demo-0-a-mnnvl-claim"], [])],
    "domain_name": [("'nv-' ~ owner", domains, None, ["nv-demo-0-a", "demo-0-a-mnnvl-claim"])],
    "domain_claim_name": [("'nv-' ~ owner", domains, None, ["demo-0-a-cd", "nv-demo-0-a"])],
    "ready_when": [("[[kind]]", lambda program: program.decisions.ready_when("Pod"), [], [["Pod"]])],
    "topology_is_desired": [("true", kai_topologies, [], ["lab"])],
    "is_checked": [("false", checks, ["dcgm-diag"], [])],
    "is_gpu_request": [("true", lambda program: program.decisions.is_gpu_request(request("nic"), ["gpu"]), False, True)],
    "is_network_request": [("true", lambda program: program.decisions.is_network_request(request("gpu"), ["nic"]), False, True)],
    "is_mnnvl_claim": [("true", lambda program: program.decisions.is_mnnvl_claim(PodResourceClaim("c", "", {}, "")), False, True)],
    "is_copied_mount": [("true", lambda program: program.decisions.is_copied_mount({"mountPath": "/data"}, PREFLIGHT), False, True)],
    "runs_in_gang": [("true", lambda program: program.decisions.runs_in_gang(DCGM), False, True)],
    "gets_network_devices": [("true", lambda program: program.decisions.gets_network_devices(DCGM), False, True)],
    "uses_network": [("true", lambda program: program.decisions.uses_network(DCGM), False, True)],
    "unmet_need": [("'a key'", checks, None, [])],
    "skip_reason": [("'not today'", checks, None, [])],
    "is_expected": [("true", lambda program: program.decisions.is_expected(Peer({"metadata": {"name": "p"}})), False, True)],
    "is_registered": [("true", lambda program: program.decisions.is_registered(Peer({"metadata": {"name": "p"}})), False, True)],
    "gang_methods": [("['volcano']", lambda program: program.decisions.gang_methods(PREFLIGHT), ["workloadRef", "grove"], ["volcano"])],
    "gang_reference": [("{'parts': ['g']}", lambda program: program.decisions.gang_reference(MEMBER, "grove"), None, {"parts": ["g"]})],
    "owning_gang": [("podclique.name", lambda program: program.decisions.owning_gang(ADMITTED), "demo-0", "demo-0-worker")],
    "belongs_to_gang": [("true", lambda program: program.decisions.belongs_to_gang(FREE, OTHER_GANG), False, True)],
    "gang_size": [("7", lambda program: program.decisions.gang_size(None), None, 7)],
}
"""For each decision: what a user says instead, what shows it, and what that is by our rule (none where another case says it) and theirs."""


@pytest.mark.parametrize(
    ("decision", "value", "shown", "ours", "theirs"),
    [(decision, *case) for decision, cases in CASES.items() for case in cases],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_users_rule_decides_in_place_of_ours(decision: str, value: str, shown: Callable[[Program], Any], ours: Any, theirs: Any) -> None:
    if ours is not None:
        assert shown(rulebook.read().program(VOCABULARY)) == ours
    assert shown(program_with(decision, value)) == theirs


def test_every_decision_is_tried_here() -> None:
    assert CASES.keys() == DECISIONS.keys()


def test_a_training_workload_has_what_it_declares_whatever_an_object_says() -> None:
    live = [existing("PodCliqueScalingGroup", "demo-0-g", spec={"replicas": 4})]
    manifest = pcs([clique("a")], [group("g", ["a"], 2, 2)])
    manifest["spec"]["workloadType"] = "Training"
    objects = compiled(rulebook.read().program(VOCABULARY), manifest, snapshot=live)
    assert objects["PodCliqueScalingGroup", "demo-0-g"]["spec"]["replicas"] == 2
