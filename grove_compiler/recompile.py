"""What a compilation rests on, and what of its result still holds when only numbers of replicas have changed since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from grove_compiler.admission import Admission, Inputs
from grove_compiler.engine.growing import Record
from grove_compiler.engine.program import Program
from grove_compiler.graph.identical import identical_all
from grove_compiler.intake import SET_KIND
from grove_compiler.model.settings import Settings


@dataclass(slots=True, eq=False)
class Basis:
    """Everything that a compilation depends on. `declared` holds the documents of the input, and the sets after defaulting."""

    program: Program
    settings: Settings
    declared: Sequence[Any]
    others: Sequence[Any]

    def differs_in_replicas_only(self, other: Basis) -> bool:
        """Whether all is the same to the letter but for `spec.replicas` of sets, if even that."""
        return (
            self.program is other.program
            and all(getattr(self.settings, name) == getattr(other.settings, name) for name in Settings.__slots__)
            and identical_all(self.others, other.others)
            and identical_all(list(map(_apart_from_replicas, self.declared)), list(map(_apart_from_replicas, other.declared)))
        )


@dataclass(slots=True, eq=False)
class Records:
    """What the rules made for one input: objects and conditions. `hashes` are those of a set's templates, which take long to tell."""

    objects: Record = field(default_factory=Record)
    conditions: Record = field(default_factory=Record)
    hashes: tuple[list[str], str] | None = None


@dataclass(slots=True, eq=False)
class Made:
    """How a result came about: what a later compilation can reuse. One entry of `records` for each input that was compiled."""

    basis: Basis
    records: list[Records] = field(default_factory=list)

    def can_reuse(self, former: Made) -> bool:
        """Whether everything but numbers of replicas is as it was."""
        return self.basis.differs_in_replicas_only(former.basis)

    def add(self, former: Made | None) -> Records:
        """The records of the next input, which know those of the same input in the former result."""
        found = Records()
        if former is not None:
            old = former.records[len(self.records)]
            found.objects.former, found.conditions.former, found.hashes = old.objects, old.conditions, old.hashes
        self.records.append(found)
        return found

    def settle(self) -> None:
        """Lets go of the former result, which would otherwise keep its own former one, and so on."""
        for records in self.records:
            records.objects.former = records.conditions.former = None


def basis_of(inputs: Inputs, program: Program, admissions: Sequence[Admission]) -> Basis:
    """What a compilation of these inputs rests on."""
    config = [inputs.config.value] if inputs.config else []
    others = [config, list(inputs.snapshot), [document.value for document in inputs.old]]
    sets = [admission.set.manifest for admission in admissions if admission.set is not None]
    return Basis(program, inputs.settings, [*(document.value for document in inputs.documents), *sets], others)


def _apart_from_replicas(value: Any) -> Any:
    """A document without `spec.replicas` of sets, also of those in a `List`. Everything else is shared."""
    if not isinstance(value, dict):
        return value
    items, spec = value.get("items"), value.get("spec")
    if value.get("kind") == "List" and isinstance(items, list):
        return {**value, "items": [_apart_from_replicas(item) for item in items]}
    if value.get("kind") == SET_KIND and isinstance(spec, dict):
        return {**value, "spec": {key: part for key, part in spec.items() if key != "replicas"}}
    return value
