"""Selects the objects and fields that `grove diff` shows, and prints them: a unified diff of their YAML, owners of fields, a summary."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from applier.outcome import ABSENT, QUIET, UNDONE, Action, Conflict, FieldChange, Owner, Step, dotted
from applier.plan.reasons import who
from applier.ref import Manifest
from grove_cli.cluster.words import COLOURS, More, folded, reason_of, tally
from grove_cli.terminal import Terminal, visible
from grove_compiler.source.yaml_writer import write_yaml
from kube_objects.words import listed

if TYPE_CHECKING:
    from applier.run.difference import Difference

NOISE = ("managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink")
"""Metadata that the server sets, and that changes with every write."""


def unified(before: Manifest | None, after: Manifest | None, name: str, terminal: Terminal) -> Iterator[str]:
    """Yields the lines of the diff, its two headers first; nothing for equal objects. Keys are sorted."""
    return terminal.diff(_lines(before), _lines(after), f"live/{name}", f"wanted/{name}")


def as_text(manifest: Manifest | None) -> str:
    """Returns the object as YAML with sorted keys; empty for none."""
    return "" if manifest is None else write_yaml([_sorted(manifest)])


def _lines(manifest: Manifest | None) -> list[str]:
    return as_text(manifest).split("\n")[:-1]


def _sorted(value: object) -> object:
    if isinstance(value, dict):
        first = [key for key in ("apiVersion", "kind", "metadata", "name") if key in value]
        rest = sorted(key for key in value if key not in first)
        return {key: _sorted(value[key]) for key in (*first, *rest)}
    if isinstance(value, list | tuple):
        return [_sorted(item) for item in value]
    return value


class Shown(NamedTuple):
    """An object that would change, before and after. Either is none if the object does not exist then, both if the result is unknown."""

    step: Step
    before: Manifest | None
    after: Manifest | None


def differences(compared: Iterable[Difference]) -> list[Shown]:
    """Returns the objects that would change.

    An object of which only the owners of fields would change is unchanged, and its step becomes `UNCHANGED`.
    """
    shown = []
    for each in compared:
        if each.step.action is Action.CONFIGURED and each.live and each.merged and _content(each.live) == _content(each.merged):
            each.step.action = Action.UNCHANGED
        if each.step.action not in QUIET:
            is_known = each.merged is not None or each.step.action is Action.PRUNED
            shown.append(Shown(each.step, _shown(each.live) if is_known else None, _shown(each.merged)))
    return shown


def _shown(manifest: Manifest | None) -> Manifest | None:
    """Returns the object without its status and the metadata of the server."""
    if manifest is None:
        return None
    metadata = {key: value for key, value in (manifest.get("metadata") or {}).items() if key not in NOISE}
    return {key: metadata if key == "metadata" else value for key, value in manifest.items() if key != "status"}


def _content(manifest: Manifest) -> Any:
    return _shown(manifest), manifest.get("status")


MAX_FIELDS = 8
DIFFERING = frozenset(Action) - QUIET - {Action.FAILED}


def diff_text(differences: Sequence[Shown], counts: Mapping[Action, int], terminal: Terminal) -> str:
    """Returns the differences of each object, with failures folded by reason, and the summary."""
    blocks = ["\n".join(_block(item, terminal)) for item in folded(differences, lambda shown: shown.step)]
    return "\n\n".join([*blocks, summary(counts, terminal)]) + "\n"


def summary(counts: Mapping[Action, int], terminal: Terminal) -> str:
    """Returns `3 objects differ: 1 created, 2 configured; 1 failed; 997 unchanged`. Whether failed objects differ is unknown."""
    differing = sum(count for action, count in counts.items() if action in DIFFERING)
    words = [_some(counts, DIFFERING), _some(counts, {Action.FAILED}), _some(counts, QUIET)]
    heading = f"{differing} object{'s differ' if differing > 1 else ' differs'}: " if differing else ""
    if not differing and not counts.get(Action.FAILED):
        heading, words[0] = ("No differences: ", "") if words[2] else ("", tally({}))
    return terminal.paint(heading, "1") + "; ".join(filter(None, words))


def _some(counts: Mapping[Action, int], which: Collection[Action]) -> str:
    """Returns the counts of some actions; empty for none."""
    some = {action: count for action, count in counts.items() if action in which}
    return tally(some) if some else ""


def _block(shown: Shown | More, terminal: Terminal) -> Iterator[str]:
    if isinstance(shown, More):
        yield f"and {shown.number} more {visible(shown.reason)}"
    else:
        yield from _object(shown, terminal)


def _object(shown: Shown, terminal: Terminal) -> Iterator[str]:
    step = shown.step
    action = terminal.paint(str(step.action), "1", COLOURS.get(step.action, "0"))
    yield f"{action} {visible(str(step.ref))}" + (f": {visible(reason_of(step))}" if _needs_reason(step) else "")
    for changed_by, fields in drifted(step.changes).items():
        yield terminal.paint(visible(f"  {who(changed_by)} set {listed(fields, MAX_FIELDS)}"), "36")
    for conflict in conflicts(step.conflicts):
        yield terminal.paint(f"  {visible(conflict)}", "31")
    yield from unified(shown.before, shown.after, str(step.ref), terminal)


def drifted(changes: Sequence[FieldChange]) -> dict[Owner, list[str]]:
    """Returns the changed fields by their owners."""
    fields: dict[Owner, list[str]] = {}
    for change in changes:
        if change.old is not ABSENT:
            for owner in change.owners:
                fields.setdefault(owner, []).append(dotted(change.path))
    return fields


def conflicts(found: Sequence[Conflict]) -> Iterator[str]:
    """Yields a line for each field in conflict."""
    for conflict in found:
        yield f"{dotted(conflict.path)} belongs to {who(conflict.owner)}"


def _needs_reason(step: Step) -> bool:
    """Returns whether the reason of a step is printed: not when it only states that fields differ, as the diff shows them."""
    return bool(step.reason) and (step.action in UNDONE or step.action in (Action.RECREATED, Action.PRUNED) or not step.changes)
