"""Models the layers that may carry MNNVL annotations: the set, its scaling groups and its cliques, which inherit in this order."""

from __future__ import annotations

from dataclasses import field
from typing import Protocol

from grove_compiler.model.decisions import DecisionRules
from grove_compiler.model.spec.templates import CliqueTemplate, ScalingGroupTemplate
from grove_compiler.record import record

PREFIX = "grove.io/mnnvl-"
SCOPES = {"set": "replica", "group": "scalingGroupReplica", "clique": "clique"}
TITLES = {"group": "scaling group", "clique": "clique"}


@record
class MnnvlAnnotation:
    """An MNNVL annotation and the layer that carries it. `path` is its field path, which upstream's findings write as `upstream_path`."""

    layer: Layer = field(repr=False)
    key: str
    value: str

    @property
    def path(self) -> str:
        return f"{self.layer.path}[{self.key}]"

    @property
    def upstream_path(self) -> str:
        return f"{self.layer.path}.{self.key}"


class AnnotationDecisions(Protocol):
    @staticmethod
    def mnnvl_annotation(annotations: list[MnnvlAnnotation]) -> MnnvlAnnotation:
        """Decides which of the annotations with the same key on a layer and the layers above applies; they come outermost first."""


@record
class Layer:
    """A set, a scaling group or a clique, by `kind` (`set`, `group`, `clique`).

    `path` is the field path of its annotations, `cliques` are those that they apply to, `above` is the layer that it inherits from.
    """

    kind: str
    name: str
    path: str
    annotations: dict[str, str] = field(repr=False)
    cliques: list[CliqueTemplate] = field(repr=False)
    decisions: DecisionRules = field(repr=False)
    above: Layer | None = field(default=None, repr=False)

    @property
    def origin(self) -> str:
        """What messages call it, such as `scaling group "model"`."""
        return f'{TITLES[self.kind]} "{self.name}"' if self.kind in TITLES else "the set"

    @property
    def scope(self) -> str:
        """The scope whose annotations belong here (MNNVL design, Annotation Placement)."""
        return SCOPES[self.kind]

    @property
    def mnnvl_annotations(self) -> list[MnnvlAnnotation]:
        """Its own MNNVL annotations, in the manifest's order."""
        return [MnnvlAnnotation(self, key, value) for key, value in self.annotations.items() if key.startswith(PREFIX)]

    @property
    def uses_gpu(self) -> bool:
        """Whether any clique that it applies to requests GPUs."""
        return any(clique.uses_gpu for clique in self.cliques)

    def effective(self, key: str) -> MnnvlAnnotation | None:
        """Returns the annotation that applies here, by the rule `mnnvl_annotation`; none where no layer up to the set has it."""
        annotations: list[MnnvlAnnotation] = []
        layer: Layer | None = self
        while layer is not None:
            if key in layer.annotations:
                annotations.insert(0, MnnvlAnnotation(layer, key, layer.annotations[key]))
            layer = layer.above
        return self.decisions.of(AnnotationDecisions).mnnvl_annotation(annotations) if annotations else None

    def value(self, key: str, default: str) -> str:
        """Returns the value that applies here; the default for an absent or empty one."""
        annotation = self.effective(key)
        return (annotation.value if annotation else "") or default


def layers_of(
    name: str, annotations: dict[str, str], cliques: list[CliqueTemplate], groups: list[ScalingGroupTemplate], decisions: DecisionRules
) -> list[Layer]:
    """Returns the layer of the set, then those of its scaling groups, then those of its cliques, which inherit from their group's."""
    top = Layer("set", name, "metadata.annotations", annotations, cliques, decisions)
    # `group.cliques` may list a clique that an earlier group has claimed (an error of its own): it inherits from that one only.
    group_layers = [_below(top, "group", group, [clique for clique in group.cliques if clique.group is group]) for group in groups]
    clique_layers = [_below(group_layers[clique.group.index] if clique.group else top, "clique", clique, [clique]) for clique in cliques]
    return [top, *group_layers, *clique_layers]


def _below(above: Layer, kind: str, template: CliqueTemplate | ScalingGroupTemplate, cliques: list[CliqueTemplate]) -> Layer:
    return Layer(kind, template.name, f"{template.path}.annotations", template.annotations, cliques, above.decisions, above)
