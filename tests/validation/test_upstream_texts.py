"""What upstream's webhooks and definitions say, byte for byte: its users and its tests search for it. Ours follows after it.

The texts are those of upstream's Go sources, with a pattern for what differs from set to set.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from grove_compiler.api import topology_constraint
from grove_compiler.api.podcliqueset import PodCliqueSetObject
from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.diagnostic import Diagnostic
from tests.suite.rows import rows

from .case_files import FILES, read_case

IMMUTABLE = "^field is immutable"
HOLDER = r"(PodCliqueSet|PodClique '[^']+'|PodCliqueScalingGroup '[^']+')"
ANNOTATIONS = r"(metadata|spec\.template\.(cliques|podCliqueScalingGroups)\[\d\])\.annotations"
TEXTS = {
    "set-cliques": "^at least one PodClique must be defined",
    "termination-delay": "^terminationDelay must be greater than 0",
    "clique-name": "^field cannot be empty",
    "clique-replicas": "^must be greater than 0",
    "clique-min-available": "^must be greater than 0",
    "clique-min-available-of-replicas": "^minAvailable must not be greater than replicas",
    "group-unknown-cliques": "^unidentified PodClique names found",
    "group-replicas": "^must be greater than 0",
    "group-min-available": "^must be greater than 0",
    "group-min-available-of-replicas": "^minAvailable must not be greater than replicas",
    "clique-scaling-min": "^must be greater than or equal to podCliqueSpec.minAvailable",
    "clique-scaling-max": "^must be greater than or equal to podCliqueSpec.minReplicas",
    "clique-scaling-max-of-replicas": "^must be greater than or equal to replicas",
    "group-scaling-min": "^scaleConfig.minReplicas must be greater than or equal to minAvailable",
    "grouped-clique-scaling": "^AutoScalingConfig is not allowed to be defined for PodClique that is part of scaling group",
    "starts-after-empty": "^clique dependency must not be empty",
    "starts-after-itself": "^clique dependency cannot refer to itself",
    "starts-after-unknown": "^unknown clique names found, all clique dependencies must be defined as cliques",
    "starts-after-cycle": "^clique must not have circular dependencies",
    "claim-template-name": "^template name is required",
    "claim-template-requests": "^at least one device request is required",
    "sharing-name": "^reference name is required",
    "sharing-namespace": "^namespace must be empty when name matches an internal resourceClaimTemplate",
    "sharing-filter": "^filter must specify at least one childCliqueNames (or childScalingGroupNames )?entry",
    "one-scheduler": "^the schedulerName for all pods have to be the same",
    "scheduler-enabled": "^schedulerName must be an enabled scheduler backend; this scheduler is not enabled in OperatorConfiguration",
    "pod-topology-spread": "^must not be set",
    "pod-node-name": "^must not be set",
    "topology-enabled": "^topology constraints are not allowed when Topology Aware Scheduling is disabled",
    "topology-name": "^topologyName is required when topologyConstraint is set and cannot be inherited",
    "one-topology": "^all topologyConstraint.topologyName values within a PodCliqueSet must match in the current implementation",
    "topology-found": '^(ClusterTopology|ClusterTopologyBinding) "[^"]+" not found',
    "topology-domain": r"^topology domain '[^']+' does not exist in cluster topology \[[^]]+\]",
    "topology-hierarchy": f"^{HOLDER} topology constraint domain '[^']+' is narrower than {HOLDER} topology constraint domain '[^']+'",
    "topology-preferred-hierarchy": f"^{HOLDER} topology constraint domain '[^']+' is narrower than {HOLDER} topology constraint domain",
    "constraint-form": (
        "^(pack must specify at least one of required or preferred|topologyConstraint must specify pack or deprecated packDomain)"
    ),
    "constraint-forms-mixed": "^must not set both pack.required and deprecated packDomain",
    "pack-domain-with-name": "^packDomain is deprecated and cannot be used on new workloads; use pack.required",
    "topology-scheduler-enabled": "^scheduler backend is not enabled in Grove",
    "topology-scheduler-capable": "^scheduler backend does not implement topology-aware scheduling",
    "names-together": (
        "^combined resource name length [0-9]+ exceeds 45-character limit required for pod naming. Consider shortening: "
        "PodCliqueSet '[^']+'(, PodCliqueScalingGroup '[^']+',)? or PodClique '[^']+'"
    ),
    "clique-name-syntax": r"^(invalid PodCliqueTemplateSpec name, must be a valid DNS subdomain|must consist of [^.]+ and has '\.')",
    "group-name-syntax": r"^(invalid PodCliqueScalingGroupConfig name, must be a valid DNS subdomain|must consist of [^.]+ and has '\.')",
    "kai-queue": "^no KAI queue is configured on PodCliqueSet [^/ ]+/[^ ]+ or its PodClique templates",
    "kai-one-queue": (
        '^(KAI queue on PodCliqueSet [^/ ]+/[^ ]+ is "[^"]+" but PodClique template "[^"]+" resolves to "[^"]+"'
        r"|conflicting KAI queues on PodCliqueSet [^/ ]+/[^ ]+ PodClique templates: \[[^]]+])"
    ),
    "mnnvl-group": '^mnnvl-group value (must not be empty|"[^"]+" is not a valid DNS-1123 label)',
    "mnnvl-group-enabled": (
        "^MNNVL is not enabled in the operator configuration. Either enable MNNVL globally or remove the grove.io/mnnvl-group annotation"
    ),
    "update-cliques": "^not allowed to change clique composition",
    "update-clique-names": "^not allowed to change clique composition, new clique name '[^']+' is not allowed",
    "update-clique-order": "^clique order cannot be changed when StartupType is InOrder or Explicit",
    "update-groups": "^not allowed to add or remove PodCliqueScalingGroupConfigs",
    "update-group-names": "^not allowed to change scaling group composition, new scaling group name '[^']+' is not allowed",
    "update-startup-type": IMMUTABLE,
    "update-clique-role": IMMUTABLE,
    "update-clique-min-available": IMMUTABLE,
    "update-clique-starts-after": IMMUTABLE,
    "update-clique-scheduler": IMMUTABLE,
    "update-clique-sharing": IMMUTABLE,
    "update-group-cliques": IMMUTABLE,
    "update-group-min-available": IMMUTABLE,
    "update-group-sharing": IMMUTABLE,
    "update-claim-templates": IMMUTABLE,
    "update-set-sharing": IMMUTABLE,
    "update-compute-domain": IMMUTABLE,
    "update-workload-type": IMMUTABLE,
    "update-training-replicas": IMMUTABLE,
    "update-training-clique-replicas": IMMUTABLE,
    "update-training-group-replicas": IMMUTABLE,
    "update-training-pod-template": IMMUTABLE,
    "update-training-priority": IMMUTABLE,
    "update-training-clique-order": IMMUTABLE,
    "update-topology-constraint": (
        f"^{HOLDER} topology constraint (cannot be (added|removed) after creation"
        """|cannot be changed from required="[^"]*" preferred="[^"]*" to required="[^"]*" preferred="[^"]*\""""
        "|topologyName cannot be changed from '[^']*' to '[^']*')"
    ),
    "update-mnnvl-added": "^annotation [a-z./-]+ cannot be added after PodCliqueSet creation",
    "update-mnnvl-removed": "^annotation [a-z./-]+ cannot be removed after PodCliqueSet creation",
    "update-mnnvl-changed": '^annotation [a-z./-]+ is immutable and cannot be changed from "[^"]*" to "[^"]*"',
}
"""By the rule that finds the same as upstream does; for fields that only we have, what upstream says of its own."""
PATHS = {
    "topology-scheduler-repeated": r"spec\.schedulerTopologyReferences\[\d\]\.schedulerName",
    "topology-scheduler-enabled": r"spec\.schedulerTopologyReferences\[\d\]\.schedulerName",
    "topology-scheduler-capable": r"spec\.schedulerTopologyReferences\[\d\]\.schedulerName",
    "one-scheduler": r"spec\.template\.cliques\.spec\.podSpec\.schedulerName",
    "scheduler-enabled": r"spec\.template\.cliques\.spec\.podSpec\.schedulerName",
    "update-clique-scheduler": r"spec\.template\.cliques\.spec\.podSpec\.schedulerName",
    "names-together": (
        r"metadata\.name|spec\.template\.(cliques\[\d\]\.name|podCliqueScalingGroups\[\d\]\.(name|cliqueNames\[\d\]\.name))"
    ),
    "mnnvl-group": rf"{ANNOTATIONS}\.grove\.io/mnnvl-group",
    "mnnvl-group-enabled": rf"{ANNOTATIONS}\.grove\.io/mnnvl-group",
    "update-mnnvl-added": rf"{ANNOTATIONS}\.grove\.io/mnnvl-[a-z-]+",
    "update-mnnvl-removed": rf"{ANNOTATIONS}\.grove\.io/mnnvl-[a-z-]+",
    "update-mnnvl-changed": rf"{ANNOTATIONS}\.grove\.io/mnnvl-[a-z-]+",
    "pod-topology-spread": r"spec\.template\.cliques\[\d\]\.spec\.podSpec\.spec\.topologySpreadConstraints",
    "pod-node-name": r"spec\.template\.cliques\[\d\]\.spec\.podSpec\.spec\.nodeName",
}
"""Where upstream says that it is, which is no field of the object."""


@cache
def found(program: Program) -> dict[str, list[Diagnostic]]:
    """What the cases of all topics find, by the rule without its prefix."""
    by_rule: dict[str, list[Diagnostic]] = {}
    for path in FILES:
        for finding in read_case(path).findings(program):
            by_rule.setdefault(finding.code.removeprefix("validate/"), []).append(finding)
    return by_rule


@rows("rule", TEXTS)
def test_a_message_begins_with_upstreams(rule: str, program: Program) -> None:
    findings = found(program)[rule]
    assert [one.message for one in findings if not re.search(TEXTS[rule], one.message)] == []


@rows("rule", PATHS)
def test_a_field_path_is_upstreams(rule: str, program: Program) -> None:
    assert [one.path for one in found(program)[rule] if not re.fullmatch(PATHS[rule], one.path)] == []


def cel() -> Iterator[str]:
    for model in (topology_constraint.TopologyPackConstraint, topology_constraint.TopologyConstraint, PodCliqueSetObject):
        yield from (rule.message for rule in model.rules)


def test_definitions_say_what_upstreams_say() -> None:
    """API servers check them before they ask webhooks."""
    said = list(cel())
    for rule in ("constraint-form", "constraint-forms-mixed", "pack-domain-with-name"):
        assert [one for one in said if re.search(TEXTS[rule], one)], rule
    assert [one for one in said if not any(re.search(TEXTS[rule], one) for rule in TEXTS)] == []


def test_whatever_cannot_change_says_so_in_upstreams_words(program: Program) -> None:
    """A new rule of that kind joins the table."""
    rules = {rule.id.removeprefix("validate/") for rule in program.rules if rule.id.startswith("validate/update-")}
    assert rules - TEXTS.keys() == {"update-cluster-topology-scheduled"}, "GREP-244's, which upstream does not have"
