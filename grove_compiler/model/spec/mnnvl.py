"""Resolves for each clique whether and how it uses multi-node NVLink, in one of three modes (`docs/mnnvl.md`).

| mode | declared by | domains |
|---|---|---|
| `annotations` | `grove.io/mnnvl-{enabled,scope,device-class}` on the set, scaling groups and cliques | one per item of the scope |
| `computeDomainConfig` | `spec.template.computeDomainConfig` (GREP-270) | one per replica of the set |
| `mnnvl-group` | `grove.io/mnnvl-group` on the set, scaling groups and cliques | one per replica and group |
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from grove_compiler.graph.node import Manifest
from grove_compiler.model.decisions import DecisionRules
from grove_compiler.model.declared import declared
from grove_compiler.model.lazy import lazy
from grove_compiler.model.spec.mnnvl_layers import Layer, MnnvlAnnotation, layers_of
from grove_compiler.model.spec.templates import CliqueTemplate, ScalingGroupTemplate
from grove_compiler.record import record

MnnvlMode = Literal["annotations", "computeDomainConfig", "mnnvl-group"]
ANNOTATIONS: MnnvlMode = "annotations"
CONFIG: MnnvlMode = "computeDomainConfig"
GROUP: MnnvlMode = "mnnvl-group"

ENABLED = "grove.io/mnnvl-enabled"
SCOPE = "grove.io/mnnvl-scope"
DEVICE_CLASS = "grove.io/mnnvl-device-class"
GROUP_ANNOTATION = "grove.io/mnnvl-group"
DESIGN_KEYS = (ENABLED, SCOPE, DEVICE_CLASS)

REPLICA = "replica"
CLIQUE = "clique"
SCALING_GROUP_REPLICA = "scalingGroupReplica"
NO_GROUP = "none"
GROUP_CLAIM = "mnnvl-claim"
DEFAULT_DEVICE_CLASS = "compute-domain.nvidia.com"
CONFIG_PATH = "spec.template.computeDomainConfig"


@record
class Membership:
    """The membership of a clique's pods in a domain. `place` is the field that declares it; `group` is only set in mode `mnnvl-group`."""

    mnnvl_mode: MnnvlMode
    scope: str
    device_class: str
    group: str
    place: str


@record(slots=False)
class Mnnvl:
    """Everything that a set declares about multi-node NVLink. It can be read from any set, even an invalid one.

    `set_name`, `set_annotations` and `manifest`, which is `spec.template`, are the set's own.
    """

    set_name: str
    set_annotations: dict[str, str] = field(repr=False)
    manifest: Manifest = field(repr=False)
    cliques: list[CliqueTemplate] = field(repr=False)
    groups: list[ScalingGroupTemplate] = field(repr=False)
    decisions: DecisionRules = field(repr=False)

    config_enabled = declared(bool, "computeDomainConfig.enabled", "Whether it gives each replica a domain.")
    _declared_class = declared(str, "computeDomainConfig.deviceClassName")

    @lazy
    def layers(self) -> list[Layer]:
        """The set, its scaling groups and its cliques."""
        return layers_of(self.set_name, self.set_annotations, self.cliques, self.groups, self.decisions)

    @lazy
    def annotations(self) -> list[MnnvlAnnotation]:
        """Every annotation about MNNVL, outermost first."""
        return [annotation for layer in self.layers for annotation in layer.mnnvl_annotations]

    @lazy
    def config_class(self) -> str:
        """`computeDomainConfig.deviceClassName`; the default one when absent."""
        return self._declared_class or DEFAULT_DEVICE_CLASS

    @lazy
    def is_mentioned(self) -> bool:
        """Whether the set mentions MNNVL at all; if not, nothing else here is computed."""
        return self.config_enabled or bool(self.annotations)

    @lazy
    def by_annotations(self) -> bool:
        """Whether any layer enables MNNVL by the design's annotations; then objects carry the design's labels."""
        return any(annotation.key == ENABLED and annotation.value == "true" for annotation in self.annotations)

    @lazy
    def joined(self) -> list[tuple[CliqueTemplate, Membership]]:
        """The cliques that join a domain, each with its membership."""
        pairs = [(clique, self.membership(clique)) for clique in self.cliques if self.is_mentioned]
        return [(clique, membership) for clique, membership in pairs if membership]

    @lazy
    def is_used(self) -> bool:
        """Whether any clique joins a domain."""
        return bool(self.joined)

    @lazy
    def follows_design(self) -> list[Membership]:
        """Memberships whose objects have the form of the designs, unless the target's driver asks for another."""
        return [membership for _, membership in self.joined if membership.mnnvl_mode != GROUP]

    def memberships(self, clique: CliqueTemplate) -> list[Membership]:
        """Returns one membership for each mode that applies to a clique, whether it uses GPUs or not; at most one in a valid set."""
        return self._memberships[clique.index] if self.is_mentioned else []

    def membership(self, clique: CliqueTemplate) -> Membership | None:
        """Returns the membership of a clique; none for cliques that neither request GPUs nor name the domain's claim."""
        membership = next(iter(self.memberships(clique)), None)
        # A claim binds a pod to the domain's nodes even if no container uses it, so cliques without a use for it get none. The designs also
        # count a container that names the claim; upstream Grove, whose objects we match in its mode, only counts GPUs.
        if membership is not None and (clique.uses_gpu or (membership.mnnvl_mode != GROUP and clique.names_claim)):
            return membership
        return None

    @lazy
    def _memberships(self) -> list[list[Membership]]:
        return [self._resolve(self.layer_of(clique)) for clique in self.cliques]

    def _resolve(self, layer: Layer) -> list[Membership]:
        memberships = []
        enabled, group = layer.effective(ENABLED), layer.effective(GROUP_ANNOTATION)
        if enabled and enabled.value == "true":
            scope, device_class = layer.value(SCOPE, REPLICA), layer.value(DEVICE_CLASS, DEFAULT_DEVICE_CLASS)
            memberships.append(Membership(ANNOTATIONS, scope, device_class, "", enabled.path))
        if self.config_enabled:
            memberships.append(Membership(CONFIG, REPLICA, self.config_class, "", f"{CONFIG_PATH}.enabled"))
        if group and group.value != NO_GROUP:
            memberships.append(Membership(GROUP, REPLICA, "", group.value, group.path))
        return memberships

    def reaches_enablement(self, layer: Layer) -> bool:
        """Reports whether an `enabled` annotation applies to any clique of a layer, so that its scope and device class have an effect."""
        return any(self.layer_of(clique).effective(ENABLED) for clique in layer.cliques)

    def layer_of(self, clique: CliqueTemplate) -> Layer:
        """Returns the layer of a clique; cliques are the last layers, in their order."""
        return self.layers[len(self.layers) - len(self.cliques) + clique.index]

    @lazy
    def scoped(self) -> list[tuple[CliqueTemplate, Membership]]:
        """The cliques that join a domain by annotations."""
        return [(clique, membership) for clique, membership in self.joined if membership.mnnvl_mode == ANNOTATIONS]

    @lazy
    def gang_per_replica_groups(self) -> dict[str, ScalingGroupTemplate]:
        """The scaling groups by name whose replicas are gangs of their own, because each has its own domain."""
        groups = [clique.group for clique, membership in self.scoped if membership.scope == SCALING_GROUP_REPLICA]
        return {group.name: group for group in groups if group}

    def gang_per_replica(self, group: ScalingGroupTemplate | None) -> bool:
        """Reports whether each replica of the group is a gang of its own."""
        return self.is_mentioned and group is not None and group.name in self.gang_per_replica_groups

    @lazy
    def has_base_gang(self) -> bool:
        """Whether any clique is left for the base gang of a replica."""
        return any(not self.gang_per_replica(clique.group) for clique in self.cliques)

    @lazy
    def inherited(self) -> dict[str, str]:
        """The annotations of the set that its scaling groups inherit, including those that disable MNNVL."""
        return {key: self.set_annotations[key] for key in (*DESIGN_KEYS, GROUP_ANNOTATION) if key in self.set_annotations}

    def propagated(self, clique: CliqueTemplate) -> dict[str, str]:
        """Returns the design's annotations that apply to a clique, its own included, and those that disable MNNVL too."""
        return self._propagated[clique.index] if self.is_mentioned else {}

    @lazy
    def _propagated(self) -> list[dict[str, str]]:
        layers = map(self.layer_of, self.cliques)
        return [{key: annotation.value for key in DESIGN_KEYS if (annotation := layer.effective(key))} for layer in layers]
