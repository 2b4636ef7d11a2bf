"""Finds the line of a rule or template that a field comes from, its expression, and the inputs that the expression read.

Nothing is recorded while objects are generated. To explain one, its rule is compiled again in a form that records the origin of every
scalar, and run for that object only. Inputs are recorded if the scope consists of tracked documents (see `tracking`); otherwise origins
have no inputs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple

from grove_compiler.engine.runtime import access
from grove_compiler.engine.runtime.access import OMIT
from grove_compiler.engine.runtime.compiled import Compiled
from grove_compiler.engine.runtime.cost_budget import CostBudget
from grove_compiler.engine.runtime.namespace import runtime
from grove_compiler.engine.sources import RuleSource, Vocabulary
from grove_compiler.engine.tracing import traced
from grove_compiler.engine.tracing.traced import FieldOrigin, Shape, Traced
from grove_compiler.engine.tracing.tracked_model import TrackedModel
from grove_compiler.engine.tracing.tracking import LISTED, PASSED, READ, Input, ReadRecorder, Reads, Tracked, TrackedList, inputs_of, plain
from grove_compiler.graph.field_path import FieldPath
from grove_compiler.graph.node import Node
from grove_compiler.record import record

__all__ = ["FieldOrigin", "Guard", "LoopPosition", "Omission", "Operation", "Trace", "Traced", "Tracer"]

Thunk = Callable[[], Any]


@record
class Guard:
    """Records one evaluated part of a `when` or an `$if`. `subject` is the value that it is about, where it does not hold.

    `rule` is the rule or patch that says it; `path` is where an `$if` stands in its template, empty for a `when`.
    """

    rule: str
    file: str
    line: int
    text: str
    holds: bool
    subject: Any
    inputs: tuple[Input, ...]
    path: FieldPath


@record
class Operation:
    """Records what a patch did to which field; `-` at the end of the path is the end of a list."""

    rule: str
    word: str
    path: tuple[str, ...]
    file: str
    line: int


@record
class Omission:
    """Records an expression that evaluated to `omit`. `path` is its place in the template, nearly that of the missing field."""

    rule: str
    origin: FieldOrigin
    path: FieldPath
    inputs: tuple[Input, ...]


@record
class LoopPosition:
    """Records one `forEach` of the rule: the position of the item, and the inputs that the list of items depends on."""

    name: str
    expression: str
    position: int
    inputs: tuple[Input, ...]


@record
class Trace:
    """Holds everything recorded about one object. `fields` holds every scalar and every empty container."""

    fields: dict[FieldPath, Traced] = field(default_factory=dict)
    loops: list[LoopPosition] = field(default_factory=list)
    conditions: list[Guard] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    omissions: list[Omission] = field(default_factory=list)
    shape: Shape = field(default_factory=lambda: Shape(None, dict))

    @property
    def existence(self) -> tuple[Input, ...]:
        """The inputs that decide whether the object exists, and what it is called."""
        names = [self.fields[path].rests for path in (("metadata", "name"), ("metadata", "namespace")) if path in self.fields]
        reads = [*self.shape.rests, *(read for rests in names for read in rests)]
        return inputs_of(dict.fromkeys(reads, READ))


class _Name(NamedTuple):
    """Tells the inputs that a bound value rests on as a `whole`, and the `reads` of every expression that uses the name."""

    whole: tuple[Input, ...]
    reads: Reads


class _Emitted(Exception):
    """Carries the object out of the rule that generated it."""

    def __init__(self, manifest: Any) -> None:
        self.object = manifest


def traced_rules(sources: Sequence[RuleSource], vocabulary: Vocabulary) -> Compiled:
    """Compiles rules in the form that records where every field comes from. Raises `InvalidRules`."""
    from grove_compiler.engine.codegen.build import compile_rules  # imports jinja2: cold starts only
    from grove_compiler.engine.language.load import load

    return compile_rules(load(sources), vocabulary, traced=True)


class Tracer:
    """Traces objects, conditions and defaults of rules that `traced_rules` has compiled.

    It reads its own copies of the model and shares no state, so others may compile or trace at the same time. `tracker_key` is passed to
    `TrackedModel`.
    """

    def __init__(self, compiled: Compiled, vocabulary: Vocabulary, tracker_key: str = "") -> None:
        self.rules = compiled.rules
        self.roots = vocabulary.root_names
        self.recorder = ReadRecorder()
        self.model = TrackedModel(self.recorder, tracker_key)
        budget = CostBudget()
        budget.start(range(sys.maxsize))  # what is traced has run before, within its bounds
        self._namespace = runtime(vocabulary.functions, budget) | {
            "trace": self._value, "filled": self._filled, "bind": self._name, "repeat": self._items, "enumerate": self._positions,
            "step": self._step, "walk": lambda items: items, "Shape": Shape, "settle": _settle,
            "holds": self._holds, "change": self._change, "skips": lambda: self._is_dry, "merge": traced.merge,
            "tracked_result": lambda result: traced.tracked_result(result, self.recorder),
        }  # fmt: skip
        self._begin(None)
        self._functions = compiled.functions(self._namespace)
        self.decisions = compiled.decisions(self._namespace)

    def trace(self, node: Node, scope: Mapping[str, Any], position: int = 0, roots: Mapping[str, tuple[Input, ...]] | None = None) -> Trace:
        """Returns how a node came about. `position` is how many loop positions the caller had put in front.

        `roots` are the inputs that a root as a whole rests on, where its parts tell nothing. Raises `LookupError` when the rule does
        not generate the node any more.
        """
        self._begin(node.loop[position:])
        self._names |= {name: _Name(inputs, dict.fromkeys(inputs, READ)) for name, inputs in (roots or {}).items()}
        try:
            self._call(node.rule, scope, self._emit)
        except _Emitted as emitted:
            self._trace.fields = dict(traced.leaves(emitted.object))
            return self._trace
        raise LookupError(f"the rule {node.rule!r} no longer generates {node.id}")

    def conditions(self, rule: str, scope: Mapping[str, Any]) -> list[Guard]:
        """Returns the conditions of a rule for all items that it loops over, without making any object."""
        self._begin(None, is_dry=True)
        self._call(rule, scope, self._emit)
        return self._trace.conditions

    def default(self, rule: str, scope: Mapping[str, Any], *around: Any) -> tuple[Any, list[Guard], tuple[Input, ...]]:
        """Returns the value of a default rule (`OMIT` for none), with its conditions and the inputs that it read.

        `around` are the manifest, the map that lacks the field, and the map around that.
        """
        self._begin(())
        value = self._call(rule, scope, *around)
        inputs = dict.fromkeys(source for _, leaf in traced.leaves(value) for source in leaf.sources[0])
        return plain(traced.untraced(value)), self._trace.conditions, tuple(inputs)

    # -- running -----------------------------------------------------------------------------------------------------------

    def _begin(self, position: tuple[int, ...] | None, is_dry: bool = False) -> None:
        """Resets the recording before a run; `position` is the only position of the loops to run, None for all."""
        self._trace, self._position, self._is_dry = Trace(), position, is_dry
        self._names: dict[str, _Name] = {}

    def _call(self, rule: str, scope: Mapping[str, Any], *rest: Any) -> Any:
        index = next(number for number, info in enumerate(self.rules) if info.id == rule)
        self._loops = self.rules[index].loops
        arguments = [self.model.track(scope.get(word), {}) for word in self.roots]
        function = self._functions[index]
        assert function is not None  # only patches have none
        return function(*arguments, *rest)

    def _emit(self, manifest: Any, loop: tuple[int, ...], _: Any, __: Any = True) -> None:
        if loop == self._position:
            raise _Emitted(manifest)

    # -- what traced rules call --------------------------------------------------------------------------------------------

    def _evaluate(self, thunk: Thunk, names: tuple[str, ...] = ()) -> tuple[Any, Reads]:
        """Evaluates a thunk; returns its value and what was read for it, by itself and by the names that it uses.

        Names of texts and numbers were read when they were bound. Containers and model instances record reads themselves; if none was
        recorded, the expression used them as a whole.
        """
        value, reads = self.recorder.listen(thunk)
        used = [self._names[name] for name in names if name in self._names]
        if not reads and not isinstance(value, Tracked):
            reads = {read: LISTED for name in used for read in name.whole}
        merged: Reads = {}
        for more in (reads, *(name.reads for name in used)):
            for read, how in more.items():
                merged[read] = merged.get(read, PASSED) | how
        return value, merged

    def _value(
        self, thunk: Thunk, rule: str, place: tuple[str, int], text: str, names: tuple[str, ...], path: FieldPath, shape: Shape | None
    ) -> Any:
        value, reads = self._evaluate(thunk, names)
        origin = FieldOrigin(*place, text)
        if shape is not None:
            shape.part(reads, value is not OMIT)
        if value is OMIT:
            self._trace.omissions.append(Omission(rule, origin, path, inputs_of(reads)))
            return OMIT
        return traced.opened(Traced(value, origin, rule, reads, names))

    def _filled(self, value: Any, rule: str, place: tuple[str, int], shape: Shape) -> Any:
        if value is OMIT:
            return OMIT
        if not value:
            return Traced(value, FieldOrigin(*place, ""), rule, guards=shape.rests | shape.left_out)
        shape.settle(value)
        return value

    def _name(self, name: str, thunk: Thunk, names: tuple[str, ...]) -> Any:
        value, reads = self._evaluate(thunk, names)
        return self._bind(name, self.model.track(value, reads), reads, {})

    def _bind(self, name: str, value: Any, reads: Reads, passed: Reads) -> Any:
        """Binds a value to a name. A scalar counts as read by whatever uses the name: Python may turn it into an untracked one."""
        own = dict.fromkeys(value.inputs, READ) if isinstance(value, Tracked) else reads
        self._names[name] = _Name(inputs_of(reads), passed | own if isinstance(value, str | int | float | None) else passed)
        return value

    def _items(self, name: str, thunk: Thunk, names: tuple[str, ...], shape: Shape | None) -> Iterator[Any]:
        value, reads = self._evaluate(lambda: access.each(thunk()), names)
        (shape or self._trace.shape).guard(reads, holds=True)
        passed = {} if name in dict(self._loops) else dict.fromkeys(reads, PASSED)
        for item in self.model.track([*list.__iter__(value)] if isinstance(value, TrackedList) else value, reads):
            yield self._bind(name, item, reads, passed)

    def _step(self, thunk: Thunk, names: tuple[str, ...], shape: Shape) -> Any:
        value, reads = self._evaluate(thunk, names)
        shape.guard(reads, holds=True)
        return value

    def _positions(self, items: Any) -> Iterator[tuple[int, Any]]:
        """Yields the positions of a loop of the rule: all, or only the requested one. Loops are entered from the outermost on."""
        depth = len(self._trace.loops)
        if self._position is None or depth >= len(self._position):
            yield from enumerate(items)
            return
        name, expression = self._loops[depth]
        position = self._position[depth]
        for number, item in enumerate(items):
            if number == position:
                self._trace.loops.append(LoopPosition(name, expression, position, self._names[name].whole))
                yield number, item
                return

    def _holds(
        self, rule: str, place: tuple[str, int], parts: tuple[tuple[str, Thunk, Thunk, tuple[str, ...]], ...], path: FieldPath,
        shape: Shape | None,
    ) -> bool:  # fmt: skip
        for text, test, about, names in parts:
            value, reads = self._evaluate(test, names)
            subject = None if value else self._evaluate(about)[0]
            self._trace.conditions.append(Guard(rule, *place, text, bool(value), subject, inputs_of(reads), path))
            (shape or self._trace.shape).guard(reads, bool(value))
            if not value:
                return False
        return True

    def _change(self, word: str, rule: str, place: tuple[str, int], shape: Shape, manifest: Any, path: tuple[str, ...], *new: Any) -> Any:
        if new and new[0] is OMIT:
            return manifest
        if new:
            shape.settle(new[0])
            if shape.outer is not None:
                shape.outer.settle(new[0])
        self._trace.operations.append(Operation(rule, word, path, *place))
        return traced.patch(word, manifest, path, *new)


def _settle(manifest: Any, shape: Shape, paths: Sequence[tuple[str, ...]]) -> None:
    for path in paths:
        shape.settle(manifest, *path)
