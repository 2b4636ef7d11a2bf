"""Prints a summary of a set: counts, gangs, pods, GPUs, and the tree."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple, TypeVar

from grove_cli.compile.traits import Fact, traits
from grove_cli.terminal import Terminal, visible
from grove_cli.tree_rows import branched
from grove_compiler.compile import CompileResult, SubjectResult
from grove_compiler.gangs.clique import GPU, MIG, CompiledClique
from grove_compiler.gangs.gang import CompiledGang
from grove_compiler.gangs.replicas import CompiledReplica, SetObjects, objects_by_set
from grove_compiler.graph.node import Manifest
from kube_objects.words import counted

MAX_ALIKE = 2
"""The number of equal siblings that are drawn before the others are counted."""
MAX_SHAPES = 30

T = TypeVar("T", CompiledGang, CompiledReplica)


class _Branch(NamedTuple):
    """A node of the tree with its details and children."""

    label: str
    detail: str = ""
    below: Sequence[_Branch] = ()


def summarize(result: CompileResult, declared: Mapping[str, Manifest], terminal: Terminal) -> str:
    """Returns a section for each set, and one for objects of none. `declared` are the input manifests by id."""
    statuses = {status.ref.id: status for status in result.statuses}
    sections = []
    for objects in objects_by_set(result.graph.nodes):
        facts = [*traits(objects, declared.get(objects.owner, {})), *_facts(statuses.get(objects.owner))]
        sections.append(section(objects, facts, terminal))
    return "\n".join(sections)


def _facts(status: SubjectResult | None) -> Iterator[Fact]:
    """Yields the generation hash, the set's own conditions, and one line for each type of condition on its objects."""
    if status is None:
        return
    yield Fact("generation", f"hash {status.generation_hash}")
    of_objects: dict[tuple[str, ...], int] = {}
    for condition in status.conditions:
        state = f"{condition.type}={condition.status}"
        if condition.of.id == status.ref.id:
            message = f": {condition.message}" if condition.message else ""
            yield Fact("condition", f"{state}, {condition.reason}{message}")
        else:
            key = (state, condition.of.kind, condition.reason)
            of_objects[key] = of_objects.get(key, 0) + 1
    for (state, kind, reason), count in of_objects.items():
        yield Fact("condition", f"{state} of {counted(count, kind)}, {reason}")


def section(objects: SetObjects, facts: Iterable[Fact], terminal: Terminal) -> str:
    """Returns the section of a set. `facts` are printed below the counts."""
    kind, _, name = objects.owner.partition("/")
    heading = f"{kind} {name}" if kind else "Objects that belong to no set"
    rows = [*_counts(objects), *facts]
    width = max(len(row.name) for row in rows)
    lines = [terminal.paint(visible(heading), "1")]
    for row in rows:
        first, *rest = terminal.wrapped(visible(row.text), width + 4, width + 4)
        lines += [f"  {row.name.ljust(width)}  {first}", *rest]
    if objects.replicas:
        lines += ["", *_draw(_tree(objects), terminal)]
    return "\n".join(lines) + "\n"


def _counts(objects: SetObjects) -> Iterator[Fact]:
    yield Fact("objects", f"{sum(objects.kinds.values())}: " + ", ".join(f"{count} {kind}" for kind, count in objects.kinds.items()))
    if not objects.replicas:
        return
    scaled = sum(gang.scaled for gang in objects.gangs)
    yield Fact("gangs", f"{len(objects.gangs)}: {len(objects.gangs) - scaled} base, {scaled} scaled")
    minimum = sum(clique.minimum for clique in objects.cliques if not clique.scaled)
    yield Fact("pods", f"{sum(clique.pods for clique in objects.cliques)}, of which the base gangs need {minimum} to start")
    amounts = {word: _per_replica(objects, word) for word in (GPU, MIG)}
    if not any(amounts.values()):
        yield Fact("GPUs", "none")
    for word, text in amounts.items():
        if text:
            yield Fact(f"{word}s", text)


def _per_replica(objects: SetObjects, device: str) -> str:
    """Returns `16 per replica, 32 in all`; empty for none."""
    each = [sum(clique.pods * clique.devices.get(device, 0) for clique in replica.cliques) for replica in objects.replicas]
    if len(each) == 1 or not any(each):
        return str(each[0] or "") if each else ""
    fewest, most = min(each), max(each)
    return f"{fewest if fewest == most else f'{fewest} to {most}'} per replica, {sum(each)} in total"


def _tree(objects: SetObjects) -> _Branch:
    name = objects.owner.rpartition("/")[2]
    return _Branch(name, below=_shortened(objects.replicas, "replica", _replica, lambda replica: str(replica.index)))


def _replica(replica: CompiledReplica) -> _Branch:
    return _Branch(f"replica {replica.index}", below=_shortened(replica.gangs, "gang", _gang, lambda gang: gang.name))


def _gang(gang: CompiledGang) -> _Branch:
    below = [_clique(clique) for clique in gang.cliques]
    if not gang.name:
        return below[0]
    kind = "scaled gang" if gang.scaled else "gang"
    together = sum(clique.minimum for clique in gang.cliques)
    return _Branch(f"{kind} {gang.name}", f"{counted(together, 'pod')} start{'s' if together == 1 else ''} together", below)


def _clique(clique: CompiledClique) -> _Branch:
    devices = "".join(f", {counted(count, word)} each" for word, count in clique.devices.items())
    needed = f", {clique.minimum} needed" if clique.minimum != clique.pods else ""
    return _Branch(f"clique {clique.name}", f"{counted(clique.pods, 'pod')}{needed}{devices}")


def _shortened(things: Sequence[T], word: str, draw: Callable[[T], _Branch], name: Callable[[T], str]) -> list[_Branch]:
    """Returns a branch for each item; of equal siblings only the first ones, and a line with the number of the others."""
    branches: list[_Branch] = []
    for position, alike in enumerate(list(run) for _, run in groupby(things, _shape)):
        if position == MAX_SHAPES:
            branches.append(_Branch(f"… and more, down to {word} {name(things[-1])}"))
            break
        shown = alike if len(alike) <= MAX_ALIKE + 1 else alike[:1]
        branches += [draw(thing) for thing in shown]
        if len(shown) < len(alike):
            rest = alike[len(shown) :]
            branches.append(_Branch(f"… {len(rest)} more {word}s like it: {name(rest[0])} to {name(rest[-1])}"))
    return branches


def _shape(thing: CompiledReplica | CompiledGang | CompiledClique) -> Hashable:
    """Returns the key of equal siblings: everything that is drawn but names and indices."""
    if isinstance(thing, CompiledClique):
        return thing.template_name, thing.pods, thing.minimum, *thing.devices.items()
    if isinstance(thing, CompiledGang):
        return bool(thing.name), thing.scaled, *map(_shape, thing.cliques)
    return tuple(map(_shape, thing.gangs))


def _draw(tree: _Branch, terminal: Terminal) -> list[str]:
    """Returns the tree with its details in a column, within the width of the terminal."""
    rows = list(_rows(tree, "", ""))
    column = min(max((len(left) for left, detail in rows if detail), default=0), terminal.width * 2 // 3)
    return [f"{visible(left).ljust(column)}  {terminal.paint(visible(detail), '2')}" if detail else visible(left) for left, detail in rows]


def _rows(branch: _Branch, first: str, rest: str) -> Iterator[tuple[str, str]]:
    yield first + branch.label, branch.detail
    for child, before, below in branched(branch.below, rest):
        yield from _rows(child, before, below)
