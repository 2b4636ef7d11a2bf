"""Computes what an edit does: from two inputs the fate of every object, of pods and GPUs, and the cause of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from grove_compiler.compile import CompileResult, Inputs
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.decoder import SET_KIND
from grove_compiler.engine.runtime.program import Program
from grove_compiler.gangs.clique import CLIQUE_KIND
from grove_compiler.graph.diagnostic import Diagnostic, errors_of, has_errors
from grove_compiler.graph.node import Manifest, Node
from grove_compiler.impact.edit import Edit, GivenObjects, applied, as_declared, edits, read_given
from grove_compiler.impact.fate import GROUP_KIND, ROLLING_RECREATE, Fate, Operator, Rollout, by_id, fates, is_recreated, rollout
from grove_compiler.impact.pods import Pods, pods_of
from grove_compiler.model.inputs.snapshot import ObjectList, Snapshot
from grove_compiler.old_states import as_recorded
from grove_compiler.record import record
from grove_compiler.source.document import Document
from kube_objects.manifest import namespaced_name, section

SetPlace = tuple[str, str]
"""Namespace and name of a set."""

NOWHERE: SetPlace = ("", "")
NO_SET = "input/no-set"
KEEP_THEIR_NUMBER = (CLIQUE_KIND, GROUP_KIND)
MAX_CAUSES = 16
"""The most edits that are compiled one by one; more are only listed."""


@record
class SetImpact:
    """Describes what happens to one set, or to the objects of no set: then `place` is empty.

    `strategy` is RollingRecreate or OnDelete. `hashes` are the generation hash before and after, empty where the set does not exist.
    """

    place: SetPlace
    strategy: str
    hashes: tuple[str, str]
    fates: list[Fate]
    pods: Pods

    @property
    def touches(self) -> bool:
        """Whether any object is created, changed, replaced or deleted."""
        return any(fate.what != "left" for fate in self.fates)


@record
class EditImpact:
    """Holds one edit, and its impact alone; `alone` is None if that is unknown, for the given `reason`."""

    edit: Edit
    alone: list[SetImpact] | None
    reason: str = ""


@record
class Impact:
    """Holds everything that an edit does. With errors in `findings` the impact is unknown; `forbidden` are errors of rules on updates."""

    sets: list[SetImpact] = field(default_factory=list)
    causes: list[EditImpact] = field(default_factory=list)
    forbidden: list[Diagnostic] = field(default_factory=list)
    findings: list[Diagnostic] = field(default_factory=list)

    @property
    def is_known(self) -> bool:
        return not has_errors(self.forbidden) and not has_errors(self.findings)

    @property
    def touches(self) -> bool:
        """Whether any object is created, changed, replaced or deleted."""
        return any(each.touches for each in self.sets)


def impact(
    old: Inputs,
    new: Inputs,
    program: Program,
    *,
    operator: Operator = "grove",
    old_program: Program | None = None,
    with_causes: bool = True,
) -> Impact:
    """Returns what happens when `new` replaces `old`, which an operator runs. Both have the same settings, configuration and snapshot.

    Fields that an API server adds are ignored in both. Attributing changes to edits takes as long again for each of several edits. With an
    `old_program`, the running objects were made by other rules; changes are then not attributed to edits.
    """
    # With its revisions a set would be compiled as in a step of an operator, which changes one replica after the other.
    known = Snapshot((), ObjectList(old.snapshot))
    existing = [as_recorded(one, known) for one in old.snapshot if one.get("kind") != "ControllerRevision"]
    old, new = (Inputs(as_declared(one.documents), existing, [], one.config, one.settings) for one in (old, new))
    comparison = _Comparison(old, new, program, old_program or program, operator)
    desired = comparison.compile(new.documents)
    result = Impact(findings=errors_of(comparison.before.diagnostics))
    for diagnostic in desired.diagnostics:
        is_forbidden = diagnostic.code in program.about_updates and diagnostic.severity == "error"
        (result.forbidden if is_forbidden else result.findings).append(diagnostic)
    if not result.is_known:
        return result
    after, roll = comparison.after(new.documents, comparison.new_given)
    result.findings += errors_of(after.diagnostics)
    if not result.is_known:
        return result
    result.sets = comparison.sets(comparison.declared(new.documents, desired, roll), after, roll)
    if not with_causes or old_program is not None:
        return result
    all_edits = edits(comparison.given, comparison.new_given)
    result.causes = (
        [EditImpact(all_edits[0], result.sets)] if len(all_edits) == 1 else [comparison.cause(edit, len(all_edits)) for edit in all_edits]
    )
    return result


class _Comparison:
    """Compares a running input with the one that replaces it, as a whole and edit by edit."""

    def __init__(self, old: Inputs, new: Inputs, program: Program, old_program: Program, operator: Operator) -> None:
        self.old, self.operator = old, operator
        self.program = program
        self.before = compile_inputs(old, old_program)
        self.given = read_given(old.documents, old_program, old.settings)
        self.new_given = read_given(new.documents, program, new.settings)
        # A single edit is evaluated under the new strategy: if `OnDelete` is set along with a new image, the image restarts no pod.
        self._strategies = {
            key: str(section(one.defaulted, "spec", "updateStrategy").get("type") or ROLLING_RECREATE)
            for key, one in (*self.given.items(), *self.new_given.items())
        }

    def compile(self, documents: list[Document], snapshot: Sequence[Manifest] | None = None) -> CompileResult:
        """Compiles a new input as an update of the old one; with the old one's snapshot if none is given."""
        existing = self.old.snapshot if snapshot is None else snapshot
        return compile_inputs(Inputs(documents, existing, self.old.documents, self.old.config, self.old.settings), self.program)

    def cause(self, edit: Edit, number: int) -> EditImpact:
        """Returns what one of `number` edits does alone."""
        if number > MAX_CAUSES:
            return EditImpact(edit, None, f"more than {MAX_CAUSES} edits cannot be attributed individually")
        documents = applied(self.given, edit)
        desired = self.compile(documents)
        after, roll = self.after(documents, read_given(documents, self.program, self.old.settings))
        # Removing the only set leaves nothing to compile, which is an error elsewhere but not here.
        if any(one.code != NO_SET for one in errors_of([*desired.diagnostics, *after.diagnostics])):
            return EditImpact(edit, None, "not valid without the other edits")
        return EditImpact(edit, self.sets(self.declared(documents, desired, roll), after, roll))

    def declared(self, documents: list[Document], desired: CompileResult, rolls: Mapping[SetPlace, Rollout]) -> CompileResult:
        """Compiles a new input as if what exists had no number where it declares another one; returns `desired` if nothing is like that.

        What exists keeps its number, and so would not differ from what is declared. That of others somebody has scaled, not this edit.
        """
        resized = {_place(node.object) for place, nodes in _by_set(self.before).items() for node in nodes if rolls[place].resizes(node)}
        live = [_without_number(manifest) if _place(manifest) in resized else manifest for manifest in self.old.snapshot]
        return desired if live == list(self.old.snapshot) else self.compile(documents, live)

    def after(self, documents: list[Document], given: GivenObjects) -> tuple[CompileResult, Mapping[SetPlace, Rollout]]:
        """Compiles a new input given the PodCliques and scaling groups that stay; returns the result and the rollouts.

        Existing objects keep their replicas; recreated PodCliques get those of the template.
        """
        live = {_place(manifest): manifest for manifest in self.old.snapshot}
        rolls = {}
        for place, nodes in _by_set(self.before).items():
            key = SET_KIND, *place
            old, new = (known[key].defaulted if key in known else None for known in (self.given, given))
            rolls[place] = roll = rollout(old, new, self._strategies.get(key, ""), self.operator, nodes)
            for node in nodes:
                if is_recreated(node, roll):
                    live.pop(_place(node.object), None)
                elif node.object["kind"] in KEEP_THEIR_NUMBER:
                    live.setdefault(_place(node.object), node.object)
        return self.compile(documents, list(live.values())), rolls

    def sets(self, desired: CompileResult, after: CompileResult, rolls: Mapping[SetPlace, Rollout]) -> list[SetImpact]:
        """Returns the impact on each set, those of the new input first, then on the objects of no set."""
        old, new, target = ({place: by_id(nodes) for place, nodes in _by_set(result).items()} for result in (self.before, after, desired))
        old_hashes, new_hashes = _hashes(self.before), _hashes(after)
        result = []
        for place in {**new_hashes, **old_hashes, NOWHERE: ""}:
            hashes = old_hashes.get(place, ""), new_hashes.get(place, "")
            roll = rolls.get(place) or Rollout(self._strategies.get((SET_KIND, *place), ""), set())
            objects = fates(old.get(place, {}), new.get(place, {}), target.get(place, {}), roll)
            if objects or hashes[0] != hashes[1]:
                pods = pods_of(old.get(place, {}), new.get(place, {}), roll)
                result.append(SetImpact(place, roll.strategy if hashes[1] else "", hashes, objects, pods))
        return result


def _hashes(result: CompileResult) -> dict[SetPlace, str]:
    return {(status.ref.namespace, status.ref.name): status.generation_hash for status in result.statuses}


def _by_set(result: CompileResult) -> dict[SetPlace, list[Node]]:
    """Returns the nodes of each set, and those of none."""
    numbers = {status.number: (status.ref.namespace, status.ref.name) for status in result.statuses}
    by_set: dict[SetPlace, list[Node]] = {}
    for node in result.graph.nodes:
        by_set.setdefault(numbers.get(node.loop[0], NOWHERE), []).append(node)
    return by_set


def _without_number(manifest: Manifest) -> Manifest:
    """Returns an object without its replicas; it keeps its UID, which is in references of others to it."""
    return {**manifest, "spec": {key: value for key, value in section(manifest, "spec").items() if key != "replicas"}}


def _place(manifest: Manifest) -> tuple[Any, ...]:
    """Returns the key of an object in a snapshot."""
    return manifest.get("apiVersion"), manifest.get("kind"), *namespaced_name(manifest)
