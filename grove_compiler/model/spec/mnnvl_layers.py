"""Where annotations about MNNVL may stand: on the set, its scaling groups and its cliques, which inherit them in this order."""

from __future__ import annotations

from dataclasses import field

from grove_compiler.model.decisions import DecisionRules
from grove_compiler.model.spec.templates import CliqueTemplate, ScalingGroupTemplate
from grove_compiler.record import record

PREFIX = "grove.io/mnnvl-"


@record
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


@record
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
        """Returns the value that holds here; an empty one says as little as none."""
        annotation = self.effective(key)
        return (annotation.value if annotation else "") or default


def layers_of(
    name: str, annotations: dict[str, str], cliques: list[CliqueTemplate], groups: list[ScalingGroupTemplate], decisions: DecisionRules
) -> list[Layer]:
    """Returns the set of that name and annotations, then its scaling groups, then its cliques. A clique of a group inherits from that."""
    top = Layer("set", name, "the set", "replica", "metadata.annotations", annotations, cliques, decisions)
    of_groups = [_below(top, "group", "scaling group", group, [one for one in group.cliques if one.group is group]) for group in groups]
    of_cliques = [_below(of_groups[one.group.index] if one.group else top, "clique", "clique", one, [one]) for one in cliques]
    return [top, *of_groups, *of_cliques]


def _below(above: Layer, kind: str, words: str, template: CliqueTemplate | ScalingGroupTemplate, cliques: list[CliqueTemplate]) -> Layer:
    scope = "clique" if kind == "clique" else "scalingGroupReplica"
    path, origin = f"{template.path}.annotations", f'{words} "{template.name}"'
    return Layer(kind, template.name, origin, scope, path, template.annotations, cliques, above.decisions, above)
