"""What an update does to annotations about MNNVL: none may come, go or change (shipped semantics §6.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from grove_compiler.model.spec.declared import PodCliqueSet
from grove_compiler.model.spec.mnnvl_layers import Layer, MnnvlAnnotation


@dataclass(slots=True, eq=False)
class MnnvlChange:
    """An annotation that an update adds, removes or changes. `value` is the new one and `former` the old one; empty for none."""

    what: Literal["added", "removed", "changed"]
    path: str
    value: str
    former: str


def mnnvl_changes(new: PodCliqueSet, old: PodCliqueSet) -> list[MnnvlChange]:
    """Every change of a layer that both sets have: the sets themselves, groups and cliques of the same name."""
    if not new.mnnvl.is_mentioned and not old.mnnvl.is_mentioned:
        return []
    former = {_key(layer): layer for layer in reversed(old.mnnvl.layers)}
    return [change for layer in new.mnnvl.layers if _key(layer) in former for change in _changes(layer, former[_key(layer)])]


def _key(layer: Layer) -> tuple[str, str]:
    """The set is the same one whatever it is called."""
    return layer.kind, layer.name if layer.kind != "set" else ""


def _changes(new: Layer, old: Layer) -> list[MnnvlChange]:
    then = {found.key: found.value for found in old.mnnvl_annotations}
    now = {found.key: found for found in new.mnnvl_annotations}
    found = [MnnvlChange("removed", MnnvlAnnotation(new, key, "").path, "", value) for key, value in then.items() if key not in now]
    for key, entry in now.items():
        if key not in then:
            found.append(MnnvlChange("added", entry.path, entry.value, ""))
        elif entry.value != then[key]:
            found.append(MnnvlChange("changed", entry.path, entry.value, then[key]))
    return found
