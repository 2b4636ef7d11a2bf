"""Where annotations about MNNVL may stand, and which of them reaches a clique: the nearest, key by key.

The order is that of the shipped operator and of the annotation design: clique, scaling group, set.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grove_compiler.model.spec.declared import CliqueTemplate, PodCliqueSet

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
    above: Layer | None = field(default=None, repr=False)

    @property
    def mnnvl_annotations(self) -> list[MnnvlAnnotation]:
        """Its own, in the manifest's order."""
        return [MnnvlAnnotation(self, key, value) for key, value in self.annotations.items() if key.startswith(PREFIX)]

    @property
    def uses_gpu(self) -> bool:
        """Whether any clique that it reaches asks for GPUs."""
        return any(clique.uses_gpu for clique in self.cliques)

    def nearest(self, key: str) -> MnnvlAnnotation | None:
        """The annotation that holds here: its own, else that of the layers above."""
        layer: Layer | None = self
        while layer is not None:
            if key in layer.annotations:
                return MnnvlAnnotation(layer, key, layer.annotations[key])
            layer = layer.above
        return None

    def value(self, key: str, default: str) -> str:
        """The value that holds here."""
        found = self.nearest(key)
        return found.value if found else default


def layers_of(set: PodCliqueSet) -> list[Layer]:
    """The set, then its scaling groups, then its cliques. A clique of a group inherits from that."""
    top = Layer("set", set.name, "the set", "replica", "metadata.annotations", set.annotations, set.cliques)
    groups = [
        Layer(
            "group",
            group.name,
            f'scaling group "{group.name}"',
            "scalingGroupReplica",
            f"{group.path}.annotations",
            group.annotations,
            [clique for clique in group.cliques if clique.group is group],
            top,
        )
        for group in set.groups
    ]
    cliques = [
        Layer(
            "clique",
            clique.name,
            f'clique "{clique.name}"',
            "clique",
            f"{clique.path}.annotations",
            clique.annotations,
            [clique],
            groups[clique.group.index] if clique.group else top,
        )
        for clique in set.cliques
    ]
    return [top, *groups, *cliques]
