"""Finds every set that waits, and formats a line for each with its root cause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from applier.ref import Manifest, Ref
from grove_cli.age import age
from grove_cli.operator.read_objects import ReadObjects
from grove_cli.render.as_table import HEADER, WAITING, table
from grove_cli.terminal import Terminal, visible
from grove_cli.why.as_text import why_report
from grove_cli.why.causes import causes_of_sets
from grove_compiler.decoder import SET_KIND
from grove_compiler.kube.conditions import status_of
from grove_compiler.record import record
from grove_compiler.step import StepContext
from grove_operator.cluster.why import Reason, root_cause
from grove_operator.controller.waiting import HELD
from kube_objects.label_selector import Selector

HEAD = ("NAME", "READY", "FOR", "WHY")


@record
class WaitingSet:
    """A set with the causes of its wait, at least one."""

    set: Manifest
    causes: Sequence[Reason]

    @property
    def ref(self) -> Ref:
        return Ref.of(self.set)

    @property
    def replicas(self) -> tuple[int, int]:
        """The replicas that are available, and those declared."""
        return int(status_of(self.set).get("availableReplicas") or 0), int((self.set.get("spec") or {}).get("replicas") or 0)

    @property
    def since(self) -> float | None:
        """When the oldest of the waits began, in seconds since the epoch; none if no wait says so."""
        return min((wait for cause in self.causes for wait in _times(cause)), default=None)

    @property
    def badness(self) -> tuple[Any, ...]:
        """The sort key by which the worst is first: what is held, then what serves least, then what has waited longest."""
        available, declared = self.replicas
        is_held = root_cause(self.causes[0]).rule == HELD
        return not is_held, available / max(declared, 1), self.since is None, self.since or 0.0, self.ref


def waiting_sets(read: ReadObjects, context: StepContext, now: float, namespace: str, selector: str) -> list[WaitingSet]:
    """Returns the selected sets that wait, the worst first; of all namespaces if `namespace` is empty."""
    selected = Selector(selector)
    sets = [each for each in read.objects if each["kind"] == SET_KIND and namespace in ("", each["metadata"].get("namespace"))]
    found = [WaitingSet(pcs, each) for pcs, each in causes_of_sets(read, filter(selected.matches, sets), context, now) if each]
    return sorted(found, key=lambda each: each.badness)


def several_text(waiting: Sequence[WaitingSet], now: float, terminal: Terminal, *, with_namespaces: bool) -> str:
    """Returns a table with a line for each set, or a sentence if there is none."""
    if not waiting:
        return "nothing waits\n"
    where = ("NAMESPACE",) if with_namespaces else ()
    rows = [(*where, *HEAD), *((*((each.ref.namespace,) if where else ()), *_cells(each, now)) for each in waiting)]
    return table([[visible(cell) for cell in row] for row in rows], terminal, [HEADER, *(WAITING for _ in waiting)])


def several_value(waiting: Sequence[WaitingSet]) -> list[dict[str, Any]]:
    """Returns the sets and their causes as JSON, each as that of a single object."""
    return [why_report(each.ref, each.causes) for each in waiting]


def _cells(waiting: WaitingSet, now: float) -> tuple[str, ...]:
    ref, (available, declared) = waiting.ref, waiting.replicas
    since = waiting.since
    return ref.name, f"{available}/{declared}", "" if since is None else age(now - since), why_line(ref, waiting.causes)


def why_line(ref: Ref, causes: Sequence[Reason]) -> str:
    """Returns the root cause of an object's wait, and the number of others: `Unschedulable: Pod a: no room (and 2 more)`."""
    root = root_cause(causes[0])
    subject = "" if (root.of.kind, root.of.name) == (ref.kind, ref.name) else f"{root.of.kind} {root.of.name}: "
    more = len(causes) - 1
    return f"{root.reason}: {subject}{root.message}" + (f" (and {more} more)" if more else "")


def _times(cause: Reason) -> Iterator[float]:
    if cause.wait.since is not None:
        yield cause.wait.since
    for below in cause.below:
        yield from _times(below)
