"""Who asks for multi-node NVLink, and how: the three ways of a declared set, resolved for each clique (`docs/mnnvl.md`).

| way | declared by | domains |
|---|---|---|
| `annotations` | `grove.io/mnnvl-{enabled,scope,device-class}` on the set, scaling groups and cliques | one per item of the scope |
| `computeDomainConfig` | `spec.template.computeDomainConfig` (GREP-270) | one per replica of the set |
| `mnnvl-group` | `grove.io/mnnvl-group` on the set, scaling groups and cliques (shipped semantics §9) | one per replica and group |
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from grove_compiler.model.lazy import lazy
from grove_compiler.model.spec.mnnvl_layers import Layer, MnnvlAnnotation, layers_of

if TYPE_CHECKING:
    from grove_compiler.model.spec.declared import CliqueTemplate, PodCliqueSet, ScalingGroupTemplate

Way = Literal["annotations", "computeDomainConfig", "mnnvl-group"]
ANNOTATIONS: Way = "annotations"
CONFIG: Way = "computeDomainConfig"
GROUP: Way = "mnnvl-group"

ENABLED = "grove.io/mnnvl-enabled"
SCOPE = "grove.io/mnnvl-scope"
DEVICE_CLASS = "grove.io/mnnvl-device-class"
GROUP_ANNOTATION = "grove.io/mnnvl-group"
DESIGN_KEYS = (ENABLED, SCOPE, DEVICE_CLASS)

REPLICA = "replica"
CLIQUE = "clique"
SCALING_GROUP_REPLICA = "scalingGroupReplica"
NO_GROUP = "none"
DEFAULT_DEVICE_CLASS = "compute-domain.nvidia.com"
CONFIG_PATH = "spec.template.computeDomainConfig"


@dataclass(slots=True, eq=False)
class Membership:
    """That the pods of a clique join a domain. `place` is the field that says so; `group` is empty but for the way `mnnvl-group`."""

    way: Way
    scope: str
    device_class: str
    group: str
    place: str


@dataclass(eq=False)
class Mnnvl:
    """Everything that a declared set says about multi-node NVLink. It can be read from any set, however wrong."""

    set: PodCliqueSet = field(repr=False)

    @lazy
    def layers(self) -> list[Layer]:
        """The set, its scaling groups and its cliques."""
        return layers_of(self.set)

    @lazy
    def annotations(self) -> list[MnnvlAnnotation]:
        """Every annotation about MNNVL, outermost first."""
        return [found for layer in self.layers for found in layer.mnnvl_annotations]

    @lazy
    def config_enabled(self) -> bool:
        """Whether `computeDomainConfig` gives each replica a domain."""
        return bool((self.set.template.get("computeDomainConfig") or {}).get("enabled"))

    @lazy
    def config_class(self) -> str:
        """`computeDomainConfig.deviceClassName`; the default one when absent."""
        return (self.set.template.get("computeDomainConfig") or {}).get("deviceClassName") or DEFAULT_DEVICE_CLASS

    @lazy
    def is_mentioned(self) -> bool:
        """Whether the set says anything about MNNVL at all: if not, nothing else here is ever worked out."""
        return self.config_enabled or bool(self.annotations)

    @lazy
    def by_annotations(self) -> bool:
        """Whether any layer enables MNNVL by the design's annotations; then objects carry the design's labels (decisions §2)."""
        return any(found.key == ENABLED and found.value == "true" for found in self.annotations)

    @lazy
    def is_used(self) -> bool:
        """Whether any clique joins a domain."""
        return self.is_mentioned and any(self.membership(clique) for clique in self.set.cliques)

    @lazy
    def follows_design(self) -> list[Membership]:
        """Memberships whose objects have the form of the designs, unless the target's driver asks for another."""
        found = [self.membership(clique) for clique in self.set.cliques] if self.is_mentioned else []
        return [one for one in found if one and one.way != GROUP]

    def ways(self, clique: CliqueTemplate) -> list[Membership]:
        """Every way that reaches a clique, whether it uses GPUs or not; in a valid set at most one."""
        return self._ways[clique.index] if self.is_mentioned else []

    def membership(self, clique: CliqueTemplate) -> Membership | None:
        """The domain that the pods of a clique join; none for cliques without GPUs."""
        return next(iter(self.ways(clique)), None) if clique.uses_gpu else None

    @lazy
    def _ways(self) -> list[list[Membership]]:
        return [self._resolve(self.layer_of(clique)) for clique in self.set.cliques]

    def _resolve(self, layer: Layer) -> list[Membership]:
        found = []
        enabled, group = layer.nearest(ENABLED), layer.nearest(GROUP_ANNOTATION)
        if enabled and enabled.value == "true":
            scope, device_class = layer.value(SCOPE, REPLICA), layer.value(DEVICE_CLASS, DEFAULT_DEVICE_CLASS)
            found.append(Membership(ANNOTATIONS, scope, device_class, "", enabled.path))
        if self.config_enabled:
            found.append(Membership(CONFIG, REPLICA, self.config_class, "", f"{CONFIG_PATH}.enabled"))
        if group and group.value != NO_GROUP:
            found.append(Membership(GROUP, REPLICA, "", group.value, group.path))
        return found

    def reaches_enablement(self, layer: Layer) -> bool:
        """Whether any clique of a layer is told whether MNNVL is enabled, so that its scope and device class matter."""
        return any(self.layer_of(clique).nearest(ENABLED) for clique in layer.cliques)

    def layer_of(self, clique: CliqueTemplate) -> Layer:
        """The layer of a clique: the last ones are the cliques'."""
        return self.layers[len(self.layers) - len(self.set.cliques) + clique.index]

    @lazy
    def scoped(self) -> list[tuple[CliqueTemplate, Membership]]:
        """The cliques that join a domain by annotations."""
        pairs = [(clique, self.membership(clique)) for clique in self.set.cliques if self.is_mentioned]
        return [(clique, membership) for clique, membership in pairs if membership and membership.way == ANNOTATIONS]

    @lazy
    def groups_apart(self) -> list[str]:
        """Scaling groups each of whose replicas is a gang of its own, since it has a domain of its own (decisions §4)."""
        found = [clique.group for clique, membership in self.scoped if membership.scope == SCALING_GROUP_REPLICA]
        return list(dict.fromkeys(group.name for group in found if group))

    def is_apart(self, group: ScalingGroupTemplate | None) -> bool:
        """Whether each replica of the group is a gang of its own."""
        return self.is_mentioned and group is not None and group.name in self.groups_apart

    @lazy
    def has_base_gang(self) -> bool:
        """Whether anything is left for the base gang of a replica."""
        return any(not self.is_apart(clique.group) for clique in self.set.cliques)

    @lazy
    def inherited(self) -> dict[str, str]:
        """The annotations that scaling groups inherit from the set: its group, and the design's when they enable anything."""
        keys = (*DESIGN_KEYS, GROUP_ANNOTATION) if self.by_annotations else (GROUP_ANNOTATION,)
        return {key: self.set.annotations[key] for key in keys if key in self.set.annotations}

    def propagated(self, clique: CliqueTemplate) -> dict[str, str]:
        """The design's annotations that reach a clique, each from the nearest layer that has it, its own included."""
        return self._propagated[clique.index] if self.by_annotations else {}

    @lazy
    def _propagated(self) -> list[dict[str, str]]:
        return [
            {found.key: found.value for key in DESIGN_KEYS if (found := self.layer_of(clique).nearest(key))} for clique in self.set.cliques
        ]
