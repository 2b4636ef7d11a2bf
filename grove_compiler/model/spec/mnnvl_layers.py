"""Where annotations about MNNVL may stand: on the set, its scaling groups and its cliques, which inherit them in this order."""

from __future__ import annotations

from dataclasses import dataclass, field

from grove_compiler.model.decisions import DecisionRules
from grove_compiler.model.spec.templates import CliqueTemplate, ScalingGroupTemplate

PREFIX = "grove.io/mnnvl-"


@dataclass(slots=True, eq=False)
class MnnvlAnnotation:
    """An annotation about MNNVL and the layer that has it. `path` is its field path."""

    layer: Layer = field(repr=False)
    key: str
    value: str

    @property
    def path(self) -> str:
        return f"{self.layer.path}[{self.key}]"


def mnnvl_annotation(annotations: list[MnnvlAnnotation]) -> MnnvlAnnotation:
    """Decides which annotation holds for a layer, of those with one key on it and on the layers above it, the outermost first."""
    raise NotImplementedError


@dataclass(slots=True, eq=False)
class Layer:
    """A set, a scaling group or a clique. `origin` says in words which, `kind` is `set`, `group` or `clique`.

    `scope` is the scope whose annotations belong here (design, Annotation Placement); `path` is that of its annotations, `cliques`
    are those that they reach, `above` is the layer that it inherits from.
    """

    kind: str
    name: str
    origin: str
    scope: str
    path: str
    annotations: dict[str, str] = field(repr=False)
    cliques: list[CliqueTemplate] = field(repr=False)
    decisions: DecisionRules = field(repr=False)
    above: Layer | None = field(default=None, repr=False)

    @property
    def mnnvl_annotations(self) -> list[MnnvlAnnotation]:
        """Its own, in the manifest's order."""
        return [MnnvlAnnotation(self, key, value) for key, value in self.annotations.items() if key.startswith(PREFIX)]

    @property
    def uses_gpu(self) -> bool:
        """Whether any clique that it reaches asks for GPUs."""
        return any(clique.uses_gpu for clique in self.cliques)

    def effective(self, key: str) -> MnnvlAnnotation | None:
        """Returns the annotation that holds here, by the rule `mnnvl_annotation`; none where neither this layer nor one above has it."""
        annotations: list[MnnvlAnnotation] = []
        layer: Layer | None = self
        while layer is not None:
            if key in layer.annotations:
                annotations.insert(0, MnnvlAnnotation(layer, key, layer.annotations[key]))
            layer = layer.above
        return self.decisions.of(mnnvl_annotation)(annotations) if annotations else None

    def value(self, key: str, default: str) -> str:
        """Returns the value that holds here."""
        annotation = self.effective(key)
        return annotation.value if annotation else default


def layers_of(
    name: str, annotations: dict[str, str], cliques: list[CliqueTemplate], groups: list[ScalingGroupTemplate], decisions: DecisionRules
) -> list[Layer]:
    """Returns the set of that name and annotations, then its scaling groups, then its cliques. A clique of a group inherits from that."""
    top = Layer("set", name, "the set", "replica", "metadata.annotations", annotations, cliques, decisions)
    of_groups = [
        Layer(
            "group",
            group.name,
            f'scaling group "{group.name}"',
            "scalingGroupReplica",
            f"{group.path}.annotations",
            group.annotations,
            [clique for clique in group.cliques if clique.group is group],
            decisions,
            top,
        )
        for group in groups
    ]
    of_cliques = [
        Layer(
            "clique",
            clique.name,
            f'clique "{clique.name}"',
            "clique",
            f"{clique.path}.annotations",
            clique.annotations,
            [clique],
            decisions,
            of_groups[clique.group.index] if clique.group else top,
        )
        for clique in cliques
    ]
    return [top, *of_groups, *of_cliques]
