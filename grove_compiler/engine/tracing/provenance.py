"""Which line of which rule or template made a field, from which expression, and what that expression read.

Nothing is recorded while objects are generated. When somebody asks about one, its rule is written once more in a form that ties
every scalar to its place, run for that object alone, and read off. What was read is known when the scope is made of watched values
(see `watching`); otherwise origins have no inputs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from grove_compiler.engine.codegen.build import compile_rules
from grove_compiler.engine.language.load import load
from grove_compiler.engine.language.rule import RuleSet
from grove_compiler.engine.runtime import access
from grove_compiler.engine.runtime.access import OMIT
from grove_compiler.engine.runtime.cost_budget import CostBudget
from grove_compiler.engine.runtime.failure import RuleInfo
from grove_compiler.engine.runtime.namespace import runtime
from grove_compiler.engine.sources import RuleSource, Vocabulary
from grove_compiler.engine.tracing import traced
from grove_compiler.engine.tracing.traced import Origin, Traced
from grove_compiler.engine.tracing.tracking import Input, Recorder, inputs_of, marked, plain
from grove_compiler.graph.field_path import FieldPath
from grove_compiler.graph.node import Node

__all__ = ["Condition", "Loop", "Omission", "Operation", "Origin", "Trace", "Traced", "Tracer"]

Thunk = Callable[[], Any]


@dataclass(slots=True, eq=False)
class Condition:
    """One part of a `when` or an `$if` that was evaluated. `subject` is what it is about, when it does not hold.

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


@dataclass(slots=True, eq=False)
class Operation:
    """What a patch did, and to which field; `-` at the end of the path is a list's end."""

    rule: str
    word: str
    path: tuple[str, ...]
    file: str
    line: int


@dataclass(slots=True, eq=False)
class Omission:
    """An expression that gave `omit`. `path` is where it stands in its document, which is nearly where the field would be."""

    rule: str
    origin: Origin
    path: FieldPath
    inputs: tuple[Input, ...]


@dataclass(slots=True, eq=False)
class Loop:
    """One `forEach` of the rule: which item it is, and what the list of items rests on."""

    name: str
    expression: str
    position: int
    inputs: tuple[Input, ...]


@dataclass(slots=True, eq=False)
class Trace:
    """How one object came about. `fields` holds every scalar and every empty container."""

    fields: dict[FieldPath, Traced] = field(default_factory=dict)
    loops: list[Loop] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    omissions: list[Omission] = field(default_factory=list)


class _Found(Exception):
    """Carries the object out of the rule that made it."""

    def __init__(self, object: Any) -> None:
        self.object = object


class Tracer:
    """Answers for the rules of the given sources. Making one costs a cold start. Raises `InvalidRules`."""

    def __init__(self, sources: Sequence[RuleSource], vocabulary: Vocabulary, recorder: Recorder | None = None) -> None:
        self.rule_set: RuleSet = load(sources)
        compiled = compile_rules(self.rule_set, vocabulary, traced=True)
        self.rules: list[RuleInfo] = compiled.rules
        self.roots = vocabulary.words
        self.recorder = recorder or Recorder()
        self._namespace = runtime(vocabulary.functions, _boundless()) | self._words()
        self._begin(None)
        exec(compiled.code, self._namespace)
        decisions = [rule.details["decision"] for rule in self.rules if rule.verb == "decide"]
        self.decisions = SimpleNamespace(**{name: self._namespace[f"fn_{name}"] for name in decisions})

    def fields(self, node: Node, scope: Mapping[str, Any], position: int = 0) -> dict[FieldPath, Origin]:
        """The origin of every scalar of a node, by its path. `position` is how many loop positions the caller had put in front."""
        return {path: found.origin for path, found in self.trace(node, scope, position).fields.items()}

    def trace(self, node: Node, scope: Mapping[str, Any], position: int = 0, roots: Mapping[str, tuple[Input, ...]] | None = None) -> Trace:
        """How a node came about. `roots` are the inputs that a root as a whole rests on, where its parts tell nothing.

        Raises `LookupError` when the rule does not generate the node any more.
        """
        self._begin(node.loop[position:])
        self._bound.update(roots or {})
        try:
            self._call(node.rule, scope, self._found)
        except _Found as found:
            self._trace.fields = dict(traced.leaves(found.object))
            return self._trace
        raise LookupError(f"the rule {node.rule!r} no longer generates {node.id}")

    def conditions(self, rule: str, scope: Mapping[str, Any]) -> Trace:
        """The conditions of a rule for all items that it loops over, without making any object."""
        self._begin(None)
        self._is_dry = True
        self._call(rule, scope, self._found)
        return self._trace

    def default(self, rule: str, scope: Mapping[str, Any], *around: Any) -> tuple[Any, Trace, tuple[Input, ...]]:
        """What a default rule gives, `OMIT` for nothing, what it decided, and what it read.

        `around` are the manifest, the map that lacks the field, and the map around that.
        """
        self._begin(())
        value = self._call(rule, scope, *around)
        inputs = dict.fromkeys(one for _, leaf in traced.leaves(value) for one in leaf.sources[0])
        return plain(traced.untraced(value)), self._trace, tuple(inputs)

    # -- running -----------------------------------------------------------------------------------------------------------

    def _begin(self, wanted: tuple[int, ...] | None) -> None:
        """Before a run; `wanted` is the only position of the loops that is of interest."""
        self._trace, self._wanted, self._is_dry = Trace(), wanted, False
        self._bound: dict[str, tuple[Input, ...]] = {}
        self._rule = ""

    def _function(self, rule: str) -> Callable[..., Any]:
        index = next(number for number, info in enumerate(self.rules) if info.id == rule)
        self._loops = self.rules[index].loops
        self._rule = rule
        function: Callable[..., Any] = self._namespace[f"rule_{index}"]
        return function

    def _call(self, rule: str, scope: Mapping[str, Any], *rest: Any) -> Any:
        function = self._function(rule)
        self.recorder.open()
        try:
            return function(*[scope.get(word) for word in self.roots], *rest)
        finally:
            self.recorder.close()

    def _found(self, _: int, object: Any, loop: tuple[int, ...], __: Any) -> None:
        if loop == self._wanted:
            raise _Found(object)

    # -- what traced rules call --------------------------------------------------------------------------------------------

    def _words(self) -> dict[str, Any]:
        return {
            "trace": self._value, "filled": self._filled, "bind": self._name, "repeat": self._items, "enumerate": self._positions,
            "holds": self._holds,
            "change": self._change, "said_by": self._said_by, "skips": lambda: self._is_dry, "seen": self._seen,
            "merge": traced.merge,
        }  # fmt: skip

    def _evaluated(self, thunk: Thunk) -> tuple[Any, tuple[Input, ...], tuple[Input, ...]]:
        """A value, what was read for it, and what was only passed on the way."""
        self.recorder.open()
        try:
            value = thunk()
        finally:
            reads = self.recorder.close()
        return value, inputs_of(reads), inputs_of({one: True for one, is_value in reads.items() if not is_value})

    def _evaluate(self, thunk: Thunk) -> tuple[Any, tuple[Input, ...]]:
        value, inputs, _ = self._evaluated(thunk)
        return value, inputs

    def _value(self, thunk: Thunk, place: tuple[str, int], said: str, names: tuple[str, ...], path: FieldPath) -> Any:
        value, inputs, passed = self._evaluated(thunk)
        inputs = inputs or self._inputs_of_names(names)
        origin = Origin(*place, said)
        if value is OMIT:
            self._trace.omissions.append(Omission(self._rule, origin, path, inputs))
            return OMIT
        return Traced(value, origin, self._rule, inputs, names, passed=passed)

    def _filled(self, value: Any, place: tuple[str, int]) -> Any:
        return Traced(value, Origin(*place, ""), self._rule) if value in ({}, []) else value

    def _inputs_of_names(self, names: tuple[str, ...]) -> tuple[Input, ...]:
        return tuple(dict.fromkeys(one for name in names for one in self._bound.get(name, ())))

    def _name(self, name: str, thunk: Thunk, names: tuple[str, ...]) -> Any:
        value, inputs = self._evaluate(thunk)
        self._bound[name] = inputs or self._inputs_of_names(names)
        return _derived(value, self._bound[name])

    def _items(self, name: str, thunk: Thunk, names: tuple[str, ...]) -> Any:
        value, inputs = self._evaluate(lambda: _all_of(thunk()))
        self._bound[name] = inputs or self._inputs_of_names(names)
        items = access.each(value)
        return [marked(item, self._bound[name]) for item in list.__iter__(items)] if isinstance(items, list) else items

    def _positions(self, items: Any) -> Iterator[tuple[int, Any]]:
        """A loop of the rule: all positions, or the wanted one. Loops are entered from the outermost on."""
        depth = len(self._trace.loops)
        if self._wanted is None or depth >= len(self._wanted):
            yield from enumerate(items)
            return
        name, expression = self._loops[depth]
        position = self._wanted[depth]
        for number, item in enumerate(items):
            if number == position:
                self._trace.loops.append(Loop(name, expression, position, self._bound.get(name, ())))
                yield number, item
                return

    def _holds(self, rule: str, place: tuple[str, int], parts: tuple[tuple[str, Thunk, Thunk], ...], path: FieldPath) -> bool:
        for text, test, about in parts:
            value, inputs = self._evaluate(test)
            subject = None if value else self._evaluate(about)[0]
            self._trace.conditions.append(Condition(rule, *place, text, bool(value), subject, inputs, path))
            if not value:
                return False
        return True

    def _seen(self, object: Any) -> Any:
        return traced.seen(object, self.recorder)

    def _said_by(self, rule: str) -> None:
        self._rule = rule

    def _change(self, word: str, place: tuple[str, int], object: Any, path: tuple[str, ...], *new: Any) -> Any:
        if new and new[0] is OMIT:
            return object
        self._trace.operations.append(Operation(self._rule, word, path, *place))
        return _CHANGES[word](object, path, *new)


def _all_of(items: Any) -> Any:
    """A list that makes its items on demand makes them all now, so that what they are made of is read for the loop."""
    return list(items) if isinstance(items, Sequence) and not isinstance(items, list | str) else items


def _boundless() -> CostBudget:
    """What is traced has run before, within its bounds."""
    budget = CostBudget()
    budget.start(range(sys.maxsize))
    return budget


def _derived(value: Any, inputs: tuple[Input, ...]) -> Any:
    """A value that a name stands for: its texts and numbers rest on what its expression read."""
    if type(value) is list:
        return [marked(item, inputs) for item in value]
    if type(value) is dict:
        return {key: marked(item, inputs) for key, item in value.items()}
    return marked(value, inputs)


_CHANGES: dict[str, Callable[..., Any]] = {
    "add": traced.patch_add,
    "replace": traced.patch_replace,
    "remove": traced.patch_remove,
    "merge": traced.patch_merge,
    "test": traced.patch_test,
}
