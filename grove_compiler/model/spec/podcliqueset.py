"""Models a PodCliqueSet as the user wrote it, after defaulting.

Validation rules run on these classes, so each can be read from any manifest that has the right structure, however invalid:
names may be unknown, empty or duplicate, numbers out of bounds. Field paths are Kubernetes' (`spec.template.cliques[0]`).
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.model.decisions import DecisionRules
from grove_compiler.model.declared import declared, optional
from grove_compiler.model.lazy import lazy
from grove_compiler.model.spec.mention import Mention
from grove_compiler.model.spec.mnnvl import Mnnvl
from grove_compiler.model.spec.placement import Placement
from grove_compiler.model.spec.sharing import ClaimTemplate, SharingRef, sharing_in
from grove_compiler.model.spec.structs import Struct, structs_in
from grove_compiler.model.spec.templates import (
    CliqueTemplate,
    ScalingGroupTemplate,
    Templates,
    kai_queue_in,
    templates_in,
    volcano_queue_in,
)
from grove_compiler.record import record
from kube_objects.manifest import LAST_APPLIED

API_VERSION = "grove.io/v1alpha1"
GROVE_PREFIX = "grove.io/"
MEMBERSHIP = ("applyset.kubernetes.io/", "objectset.rio.cattle.io/")
"""Labels and annotations by which `kubectl apply --prune --applyset` and Rancher's controllers find what they have applied: whatever bears
them and is not among that, they delete."""
LIMITS = "spec.trainingSpec"


@record(slots=False)
class PodCliqueSet:
    """The set that is compiled (`set` in rules), or its previous state (`old`).

    `default_namespace` applies to a manifest without a namespace. `decisions` are the `decide` rules that the model calls where
    behaviour is configurable.
    """

    manifest: Manifest
    default_namespace: str = "default"
    decisions: DecisionRules = field(default_factory=DecisionRules, repr=False)

    metadata = declared(Manifest, "metadata")
    name = declared(str, "metadata.name")
    uid = declared(str, "metadata.uid", "Empty for a set that is not in a cluster.")
    labels = declared(dict[str, str], "metadata.labels")
    annotations = declared(dict[str, str], "metadata.annotations")
    spec = declared(Manifest, "spec")
    replica_count = declared(int, "spec.replicas", "0 when absent. (`replicas` holds the replicas themselves.)")
    training_limits = declared(Manifest, "spec.trainingSpec", "The limits of a training workload; empty when absent.")
    max_runtime = optional(str, "spec.trainingSpec.maxRuntime", "The limit of the time since the first start, restarts included.")
    template = declared(Manifest, "spec.template")
    startup_type = declared(
        str,
        "spec.template.cliqueStartupType",
        "CliqueStartupTypeAnyOrder, CliqueStartupTypeInOrder or CliqueStartupTypeExplicit; empty when absent.",
    )
    priority_class = declared(str, "spec.template.priorityClassName", "For PodGangs and hashes, never for pods; empty when absent.")
    update_strategy = declared(str, "spec.updateStrategy.type", "RollingRecreate or OnDelete; empty, which is the first, when absent.")
    status = declared(Manifest, "status", "As last written by the operator.")
    termination_delay = optional(str, "spec.template.terminationDelay", "A duration as Go writes it (`4h0m0s`).")
    publish_not_ready = declared(
        bool,
        "spec.template.headlessServiceConfig.publishNotReadyAddresses",
        "Whether headless Services publish addresses of pods that are not ready.",
    )

    @lazy
    def namespace(self) -> str:
        return self.metadata.get("namespace") or self.default_namespace

    @lazy
    def ref(self) -> ObjectRef:
        return ObjectRef(API_VERSION, "PodCliqueSet", self.namespace, self.name, self.uid)

    @lazy
    def foreign_labels(self) -> dict[str, str]:
        """The labels except Grove's own and those by which a tool finds what it has applied; PodGangs inherit them."""
        return _foreign(self.labels)

    @lazy
    def foreign_annotations(self) -> dict[str, str]:
        """The annotations except Grove's own and those of tools that have applied the set; PodGangs inherit them."""
        return {key: value for key, value in _foreign(self.annotations).items() if key != LAST_APPLIED}

    @lazy
    def is_training(self) -> bool:
        """Whether the workload runs to completion (`workloadType: Training`, GREP-0285)."""
        return self.spec.get("workloadType") == "Training"

    @lazy
    def is_suspended(self) -> bool:
        """Whether it is a suspended training workload, which has no pods until it is resumed."""
        return self.is_training and self.spec.get("suspend") is True

    @lazy
    def clique_mentions(self) -> list[Mention]:
        """The cliques that the limits name in `failureRules`, then those in `successCliques`."""
        rules, names = self.training_limits.get("failureRules") or [], self.training_limits.get("successCliques") or []
        in_rules = [
            Mention(rule["clique"], f"{LIMITS}.failureRules[{index}].clique")
            for index, rule in enumerate(rules)
            if isinstance(rule.get("clique"), str)
        ]
        return [*in_rules, *(Mention(name, f"{LIMITS}.successCliques[{index}]") for index, name in enumerate(names))]

    @lazy
    def keeps_on_restart(self) -> bool:
        """Whether finished pods are kept while the next attempt runs."""
        return (self.training_limits.get("keepFinishedPods") or {}).get("onRestart") is True

    @lazy
    def is_rolled(self) -> bool:
        """Whether the operator replaces pods of older templates one after the other (`OnDelete` leaves that to users).

        Pods of a training workload are never replaced, even if an edit bypassed admission (GREP-0285).
        """
        return self.update_strategy != "OnDelete" and not self.is_training

    @lazy
    def placement(self) -> Placement:
        """The topology constraints of the set and its parts."""
        return Placement(self.template, self.cliques, self.groups)

    @lazy
    def mnnvl(self) -> Mnnvl:
        """The multi-node NVLink settings of the set and its parts."""
        return Mnnvl(self.name, self.annotations, self.template, self.cliques, self.groups, self.decisions)

    @lazy
    def claim_templates(self) -> list[ClaimTemplate]:
        entries = self.template.get("resourceClaimTemplates") or []
        return [ClaimTemplate(entry, index, f"spec.template.resourceClaimTemplates[{index}]") for index, entry in enumerate(entries)]

    @lazy
    def claim_templates_by_name(self) -> dict[str, ClaimTemplate]:
        """Its claim templates by name, the first of each name."""
        return {template.name: template for template in reversed(self.claim_templates)}

    @lazy
    def resource_sharing(self) -> list[SharingRef]:
        return sharing_in(self.template, "spec.template")

    @lazy
    def _templates(self) -> Templates:
        return templates_in(self.template)

    @lazy
    def cliques(self) -> list[CliqueTemplate]:
        """The clique templates in the manifest's order."""
        return self._templates.cliques

    @lazy
    def standalone_cliques(self) -> list[CliqueTemplate]:
        """The clique templates that are in no scaling group."""
        return [clique for clique in self.cliques if clique.group is None]

    @lazy
    def groups(self) -> list[ScalingGroupTemplate]:
        """The scaling-group templates in the manifest's order."""
        return self._templates.groups

    @lazy
    def clique_names(self) -> list[str]:
        return [clique.name for clique in self.cliques]

    @property
    def cliques_by_name(self) -> dict[str, CliqueTemplate]:
        """The clique templates by name, the first of each name."""
        return self._templates.cliques_by_name

    @lazy
    def group_names(self) -> list[str]:
        return [group.name for group in self.groups]

    @property
    def groups_by_name(self) -> dict[str, ScalingGroupTemplate]:
        """The scaling-group templates by name, the first of each name."""
        return self._templates.groups_by_name

    @lazy
    def structs(self) -> list[Struct]:
        """Every struct below `spec.template`, of Grove's and of Kubernetes' types (pod specs, metrics, claims), outer ones first."""
        return structs_in(self.template, "grove.io/v1alpha1.PodCliqueSetTemplateSpec", "spec.template")

    @lazy
    def _structs_by_type(self) -> dict[str, list[Struct]]:
        by_type: dict[str, list[Struct]] = {}
        for struct in self.structs:
            by_type.setdefault(struct.type, []).append(struct)
        return by_type

    def structs_of(self, struct_type: str) -> list[Struct]:
        """Returns the structs of one type, such as `Probe`."""
        return self._structs_by_type.get(struct_type, [])

    def structs_among(self, types: Any) -> list[Struct]:
        """Returns the structs whose type is in a list, or is a key of a map, in their order."""
        present = [struct_type for struct_type in self._structs_by_type if struct_type in types]
        if len(present) < 2:  # the common case: most rules are about types that hardly any set uses
            return self._structs_by_type[present[0]] if present else []
        return [struct for struct in self.structs if struct.type in types]

    @lazy
    def kai_queues(self) -> list[str]:
        """The distinct KAI queues that the set and its cliques name, the set's first. KAI needs exactly one."""
        queues = [kai_queue_in(self.labels, self.annotations), *(clique.kai_queue for clique in self.cliques)]
        return [queue for queue in dict.fromkeys(queues) if queue]

    @lazy
    def volcano_queues(self) -> list[str]:
        """The distinct Volcano queues that the set and its cliques name, the set's first."""
        queues = [volcano_queue_in(self.annotations), *(clique.volcano_queue for clique in self.cliques)]
        return [queue for queue in dict.fromkeys(queues) if queue]

    @lazy
    def computed_hashes(self) -> tuple[list[str], str]:
        """The hash of each clique's pod template, and the set's generation hash over all of them."""
        from grove_compiler.kube.template_hash import generation_hash  # brings the pod API's field tables: not for validation

        return [clique.pod_template_hash for clique in self.cliques], generation_hash([clique._hashed for clique in self.cliques])

    @lazy
    def template_hashes(self) -> tuple[list[str], str]:
        """The hashes that tell whether a pod is up to date; without a cluster, the computed ones."""
        return self.computed_hashes

    @property
    def generation_hash(self) -> str:
        return self.template_hashes[1]


@record
class SharingLevel:
    """A set, scaling group or clique that shares claims, and the children that its filters may name: a clique none, a group its cliques.

    The names are keys, since there may be thousands of them, and as many that are looked for.
    """

    origin: str
    refs: list[SharingRef]
    clique_names: dict[str, None]
    group_names: dict[str, None]


def sharing_levels(pcs: PodCliqueSet) -> list[SharingLevel]:
    """Returns those of the set, its scaling groups and its cliques that share claims."""  # shipped semantics §3.11, §6.2
    keys = dict.fromkeys
    levels = [SharingLevel("the set", pcs.resource_sharing, keys(pcs.clique_names), keys(pcs.group_names))] if pcs.resource_sharing else []
    levels += [
        SharingLevel(f'scaling group "{group.name}"', group.resource_sharing, keys(group.clique_names), {})
        for group in pcs.groups
        if group.resource_sharing
    ]
    return levels + [
        SharingLevel(f'clique "{clique.name}"', clique.resource_sharing, {}, {}) for clique in pcs.cliques if clique.resource_sharing
    ]


def share_templates(owner: PodCliqueSet, other: PodCliqueSet) -> None:
    """Shares the parsed templates of a set with another of the same `spec`, above all their hashes, most of a small set's cost."""
    # A function, since rules may call every public method of the model.
    owner._templates = other._templates


def _foreign(entries: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in entries.items() if not key.startswith((GROVE_PREFIX, *MEMBERSHIP))}
