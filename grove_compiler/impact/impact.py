"""What an edit does: two inputs to what becomes of every object, of pods and GPUs, and why."""

from __future__ import annotations

from dataclasses import dataclass, field

from grove_compiler.compile import Inputs, Result
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.diagnostic import Diagnostic, has_errors
from grove_compiler.graph.node import Manifest, Node
from grove_compiler.impact.edit import Edit, applied, as_declared, edits, given, in_order
from grove_compiler.impact.fate import ON_DELETE, Fate, fates, id_of, part_of, rolled_parts
from grove_compiler.impact.pods import Pods, pods_of
from grove_compiler.kube.defaults import apply_defaults
from grove_compiler.kube.definitions import DEFINITIONS

SetPlace = tuple[str, str]
"""Namespace and name of a set."""

NOWHERE: SetPlace = ("", "")
STRATEGY = {"ref": "grove.io/v1alpha1.UpdateStrategy"}
KEEP_THEIR_NUMBER = ("PodClique", "PodCliqueScalingGroup")
MOST_CAUSES = 16
"""More edits than this are told, but not compiled one by one."""


@dataclass(slots=True, eq=False)
class SetImpact:
    """What becomes of one set, or of objects that belong to none: then `place` is empty.

    `strategy` is RollingRecreate or OnDelete. `hashes` are the generation hash before and after, empty where the set is not there.
    """

    place: SetPlace
    strategy: str
    hashes: tuple[str, str]
    fates: list[Fate]
    pods: Pods

    @property
    def touches(self) -> bool:
        """Whether anything that exists, or should, is another than before."""
        return any(fate.what != "left" for fate in self.fates)


@dataclass(slots=True, eq=False)
class Cause:
    """One edit, and what it does by itself; `alone` is none when that is not known (`reason` says why)."""

    edit: Edit
    alone: list[SetImpact] | None
    reason: str = ""


@dataclass(slots=True, eq=False)
class Impact:
    """Everything that an edit does. With errors among `findings` nothing is known: `forbidden` are those that only an update has."""

    sets: list[SetImpact] = field(default_factory=list)
    causes: list[Cause] = field(default_factory=list)
    forbidden: list[Diagnostic] = field(default_factory=list)
    findings: list[Diagnostic] = field(default_factory=list)

    @property
    def is_known(self) -> bool:
        return not has_errors(self.forbidden) and not has_errors(self.findings)

    @property
    def touches(self) -> bool:
        """Whether anything that exists, or should, is another than before."""
        return any(one.touches for one in self.sets)


def impact(old: Inputs, new: Inputs, program: Program) -> Impact:
    """Returns what happens when `old`, which runs, is replaced by `new`. Both have the same settings, configuration and snapshot.

    What an API server adds to objects is left out of both.
    """
    old, new = (Inputs(as_declared(one.documents), one.snapshot, [], one.config, one.settings) for one in (old, new))
    comparison = _Comparison(old, program)
    wanted = comparison.compile(new)
    result = Impact(findings=[one for one in comparison.before.diagnostics if one.severity == "error"])
    of_updates = {rule.id for rule in program.rules if rule.verb == "validate" and list(rule.details["operations"]) == ["update"]}
    for one in wanted.diagnostics:
        (result.forbidden if one.code in of_updates else result.findings).append(one)
    if not result.is_known:
        return result
    after = comparison.after(new, wanted)
    result.findings += [one for one in after.diagnostics if one.severity == "error"]
    if not result.is_known:
        return result
    result.sets = comparison.sets(new, wanted, after)
    made = edits(comparison.given, given(new.documents, new.settings.namespace))
    result.causes = [Cause(made[0], result.sets)] if len(made) == 1 else [comparison.cause(edit, len(made)) for edit in in_order(made)]
    return result


class _Comparison:
    """An input that runs, to which others are compared."""

    def __init__(self, old: Inputs, program: Program) -> None:
        self.old = old
        self.program = program
        self.before = compile_inputs(old, program)
        self.given = given(old.documents, old.settings.namespace)

    def compile(self, new: Inputs) -> Result:
        """Returns what a new input becomes where nothing exists, judged as an update."""
        return compile_inputs(Inputs(new.documents, new.snapshot, self.old.documents, new.config, new.settings), self.program)

    def cause(self, edit: Edit, number: int) -> Cause:
        """Returns what one of so many edits does by itself."""
        if number > MOST_CAUSES:
            return Cause(edit, None, f"more than {MOST_CAUSES} edits are not told apart")
        new = Inputs(applied(self.given, edit), self.old.snapshot, [], self.old.config, self.old.settings)
        wanted = self.compile(new)
        after = wanted if has_errors(wanted.diagnostics) else self.after(new, wanted)
        if has_errors(after.diagnostics):
            return Cause(edit, None, "not valid without the other edits")
        return Cause(edit, self.sets(new, wanted, after))

    def after(self, new: Inputs, wanted: Result) -> Result:
        """Returns what a new input becomes, given what exists."""
        return compile_inputs(self._with_what_exists(new, wanted), self.program)

    def sets(self, new: Inputs, wanted: Result, after: Result) -> list[SetImpact]:
        """Returns what becomes of the objects of each set, the new input's sets first, then of those of no set."""
        strategies = _strategies(new)
        was, now, asked = _by_set(self.before), _by_set(after), _by_set(wanted)
        old_hashes, new_hashes = _hashes(self.before), _hashes(after)
        result = []
        for place in {**new_hashes, **old_hashes, NOWHERE: ""}:
            known = {id_of(node): node for node in asked.get(place, [])}
            strategy = strategies.get(place, "")
            objects = fates(was.get(place, []), now.get(place, []), known, strategy)
            hashes = old_hashes.get(place, ""), new_hashes.get(place, "")
            if objects or hashes[0] != hashes[1]:
                result.append(SetImpact(place, strategy, hashes, objects, pods_of(was.get(place, []), objects, strategy)))
        return result

    def _with_what_exists(self, new: Inputs, wanted: Result) -> Inputs:
        """Returns the new input, given the PodCliques and scaling groups that exist and stay, for these keep their number of replicas.

        PodCliques that are made again take the template's.
        """
        strategies = _strategies(new)
        asked = {id_of(node): node for node in wanted.graph.nodes}
        live = {_place(manifest): manifest for manifest in self.old.snapshot}
        for place, nodes in _by_set(self.before).items():
            rolled = rolled_parts({id_of(node): node for node in nodes}, asked, strategies.get(place, ON_DELETE))
            for node in nodes:
                if part_of(node) in rolled:
                    live.pop(_place(node.object), None)
                elif node.object["kind"] in KEEP_THEIR_NUMBER:
                    live.setdefault(_place(node.object), node.object)
        return Inputs(new.documents, list(live.values()), self.old.documents, new.config, new.settings)


def _strategies(inputs: Inputs) -> dict[SetPlace, str]:
    """Returns how each set is updated."""
    sets = {key[1:]: one.manifest for key, one in given(inputs.documents, inputs.settings.namespace).items() if key[0] == "PodCliqueSet"}
    # A set without a strategy has that of an empty one: the default stands in the schema, and nowhere else.
    strategies = {place: manifest["spec"].get("updateStrategy") or {} for place, manifest in sets.items()}
    return {place: apply_defaults(strategy, STRATEGY, DEFINITIONS)["type"] for place, strategy in strategies.items()}


def _hashes(result: Result) -> dict[SetPlace, str]:
    return {(status.ref.namespace, status.ref.name): status.generation_hash for status in result.statuses}


def _by_set(result: Result) -> dict[SetPlace, list[Node]]:
    """Returns the nodes of each set, and those of none."""
    numbers = {status.number: (status.ref.namespace, status.ref.name) for status in result.statuses}
    found: dict[SetPlace, list[Node]] = {}
    for node in result.graph.nodes:
        found.setdefault(numbers.get(node.loop[0], NOWHERE), []).append(node)
    return found


def _place(manifest: Manifest) -> tuple[str, ...]:
    """Returns what a snapshot knows an object by."""
    metadata = manifest.get("metadata") or {}
    parts = manifest.get("apiVersion"), manifest.get("kind"), metadata.get("namespace"), metadata.get("name")
    return tuple(str(part or "") for part in parts)
