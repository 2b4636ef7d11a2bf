"""Compiled rules: what runs. Made by `build`, kept by `dump`, brought back by `load` without parsing anything."""

from __future__ import annotations

import marshal
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import partial
from types import CodeType
from typing import Any, Literal

from grove_compiler.engine.runtime import builtins, patching
from grove_compiler.engine.runtime.access import EvaluationError, as_text, contains, describe, each, get_field, get_item, multiply, power
from grove_compiler.engine.runtime.cost_budget import STEPS_OF_A_FINDING, Effort
from grove_compiler.engine.runtime.defaults import apply_default
from grove_compiler.engine.runtime.omit import OMIT
from grove_compiler.engine.sources import Vocabulary
from grove_compiler.graph.diagnostic import Diagnostic, Severity
from grove_compiler.graph.node import Manifest, Node, ObjectRef

FORMAT = f"grove-rules-4 {sys.implementation.cache_tag}"
"""What a dump begins with. It changes with the form of generated code; Python's tag stands for that of bytecode."""

MODULE = "<grove rules>"

Part = int | Literal["all", "rest"]
"""What of an input is evaluated: all of it, what belongs to no slice, or the slice with this index. All slices and the rest are all."""

Items = Callable[[], Sequence[Any]]
"""Gives the slices of an input, when a rule that loops over them comes so far."""


@dataclass(slots=True, eq=False)
class RuleInfo:
    """What is known of a rule once it is compiled.

    `loops` are its `forEach` pairs; `after` holds, for each rule whose objects come first, how many leading loops both share.
    `details` are the keys of its verb that are data: kind, template, operations, severity, policy and the like.
    """

    id: str
    doc: str
    verb: str
    origin: str
    file: str
    line: int
    loops: tuple[tuple[str, str], ...]
    after: tuple[tuple[str, int], ...]
    details: dict[str, Any]

    def is_about(self, kind: str) -> bool:
        """Whether it runs for an input of this kind. A vocabulary without kinds of input has only rules about anything."""
        return not kind or kind in self.details["about"]


@dataclass(slots=True, eq=False)
class Condition:
    """A status condition that the rules computed for an object. Times are the applier's business."""

    of: ObjectRef
    type: str
    status: str
    reason: str
    message: str
    rule: str


class RuleFailure(Exception):
    """A rule that failed on this input: a mistake in the rule, not in the input. `diagnostic` names its place."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostic = diagnostic
        super().__init__(f"{diagnostic.place}: {diagnostic.message}")


class TooManyObjects(Exception):
    """More objects than the limit; `count` is where it stopped."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        super().__init__(f"more than {limit} objects")


class Program:
    """Rules in the order in which they run, bound to a vocabulary. Stateless: one program compiles any number of inputs."""

    def __init__(
        self,
        rules: Sequence[RuleInfo],
        code: CodeType,
        lines: Sequence[int],
        places: Sequence[tuple[str, int]],
        vocabulary: Vocabulary,
    ) -> None:
        self.rules = tuple(rules)
        self._code, self._lines, self._places = code, lines, places
        self._roots = vocabulary.words
        self._first_subject = next(iter(vocabulary.subjects), "")
        self._effort = Effort()
        self._namespace = runtime(vocabulary.functions, self._effort)
        exec(code, self._namespace)  # our own module: see `Program.load` on whose bytes are trusted

    # -- kept and brought back ---------------------------------------------------------------------------------------------

    def dump(self) -> bytes:
        """The program as bytes that only this version of Python reads."""
        infos = [tuple(getattr(rule, name) for name in RuleInfo.__slots__) for rule in self.rules]
        data = marshal.dumps((infos, self._code, tuple(self._lines), tuple(self._places)))
        return f"{FORMAT} {len(data)} {zlib.crc32(data)}\n".encode() + data

    @classmethod
    def load(cls, data: bytes, vocabulary: Vocabulary) -> Program:
        """The inverse of `dump`. Raises `ValueError` for what is broken, cut off, or made by another version.

        The bytes become code that runs, so they must come from a place that only the user and the package can write: the checksum
        finds accidents, not forgeries.
        """
        head, _, body = data.partition(b"\n")
        if head != f"{FORMAT} {len(body)} {zlib.crc32(body)}".encode():
            raise ValueError(f"not a program that {FORMAT!r} compiled, or a damaged one")
        infos, code, lines, places = marshal.loads(body)
        return cls([RuleInfo(*info) for info in infos], code, lines, places, vocabulary)

    # -- the verbs ---------------------------------------------------------------------------------------------------------

    def default(self, kind: str, manifest: Manifest, scope: Mapping[str, Any]) -> Manifest:
        """The manifest with every default that its kind's rules set. The one given is left as it is; parts are shared."""
        owned: set[int] = set()
        for index, rule in enumerate(self.rules):
            if rule.verb != "default" or kind not in rule.details["of"]:
                continue
            value = partial(self._function(index), *self._arguments(scope))
            for path in rule.details["paths"]:
                manifest = self._guarded(rule, apply_default, manifest, path, value, owned, rule.details["absent"])
        return manifest

    def validate(self, scope: Mapping[str, Any], operation: str, about: str = "") -> list[Diagnostic]:
        """Every finding of the validations of a kind for `create` or `update`. Files and lines are the caller's to add."""
        findings: list[Diagnostic] = []

        def report(index: int, path: str, at: str, message: str, value: Any, known: Any, hint: str) -> None:
            rule = self.rules[index]
            severity: Severity = rule.details["severity"]
            nearest = _nearest(value, known) if known else ""
            kind = rule.details["type"]
            self._effort.spend(STEPS_OF_A_FINDING)
            findings.append(Diagnostic(rule.id, severity, message, path, nearest=nearest, type=kind, value=value, hint=hint, at=at))

        for index, rule in enumerate(self.rules):
            if rule.verb == "validate" and operation in rule.details["operations"] and rule.is_about(about or self._first_subject):
                self._run(index, rule, scope, report)
        return findings

    def generate(
        self, scope: Mapping[str, Any], limit: int, position: tuple[int, ...] = (), about: str = "", part: Part = "all"
    ) -> list[Node]:
        """Returns every object for an input of a kind, or for a part of it, rule by rule in apply order.

        `position` is put before the loop positions of each. Raises `TooManyObjects`, and `RuleFailure` for a rule that cannot run.
        """
        nodes: list[Node] = []
        for index, rule in enumerate(self.rules):
            if rule.verb == "generate" and rule.is_about(about or self._first_subject):
                self._run_part(index, rule, scope, _collector(rule, nodes, limit, position), nodes, part)
        return nodes

    def conditions(self, scope: Mapping[str, Any], about: str = "", part: Part = "all") -> list[Condition]:
        """Returns every status condition that the rules compute for an input of a kind, or for a part of it."""
        found: list[Condition] = []

        def report(index: int, of: ObjectRef, status: str, reason: str, message: str) -> None:
            rule = self.rules[index]
            found.append(Condition(of, rule.details["type"], status, reason, message, rule.id))

        for index, rule in enumerate(self.rules):
            if rule.verb == "condition" and rule.is_about(about or self._first_subject):
                self._run_part(index, rule, scope, report, found, part)
        return found

    # -- running -----------------------------------------------------------------------------------------------------------

    def _function(self, index: int) -> Callable[..., Any]:
        function: Callable[..., Any] = self._namespace[f"rule_{index}"]
        return function

    def _arguments(self, scope: Mapping[str, Any]) -> list[Any]:
        return [scope.get(word) for word in self._roots]

    def _run(self, index: int, rule: RuleInfo, scope: Mapping[str, Any], *report: Callable[..., Any], made: Sized = ()) -> None:
        self._guarded(rule, self._function(index), *self._arguments(scope), *report, made=made)

    def _run_part(self, index: int, rule: RuleInfo, scope: Mapping[str, Any], report: Callable[..., None], made: Sized, part: Part) -> None:
        """Runs a rule for a part of the input: a rule that loops over slices for one or all of them, any other rule for the rest."""
        if rule.details["sliced"]:
            if part != "rest":
                self._run(index, rule, scope, report, _each if part == "all" else partial(_only, part), made=made)
        elif part in ("all", "rest"):
            self._run(index, rule, scope, report, made=made)

    def _guarded(self, rule: RuleInfo, function: Callable[..., Any], *arguments: Any, made: Sized = ()) -> Any:
        """Calls; what goes wrong inside an expression becomes a `RuleFailure` with the place of the expression."""
        self._effort.start(made)
        try:
            return function(*arguments)
        except TooManyObjects:
            raise
        except (EvaluationError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            file, line = self._place(error, rule)
            what = str(error) if isinstance(error, EvaluationError) else f"{type(error).__name__}: {error}"
            message = f"the rule {self._said_by(rule, file, line)} failed: {what}"
            raise RuleFailure(Diagnostic("rules/failed", "error", message, file=file, line=line)) from error

    def _said_by(self, rule: RuleInfo, file: str, line: int) -> str:
        """The rule that failed, and the patch if what failed stands in one."""
        patches = [one for one in self.rules if one.verb == "patch" and one.file == file and one.line <= line]
        patch = max(patches, key=lambda one: one.line, default=None)
        is_own = rule.file == file and (patch is None or patch.line < rule.line <= line)
        return repr(rule.id) if patch is None or is_own else f"{patch.id!r}, for an object of {rule.id!r},"

    def _place(self, error: BaseException, rule: RuleInfo) -> tuple[str, int]:
        """The place in the rules that the deepest line of generated code came from."""
        place, trace = (rule.file, rule.line), error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == MODULE:
                index = self._lines[trace.tb_lineno - 1] if trace.tb_lineno <= len(self._lines) else -1
                place = self._places[index] if index >= 0 else place
            trace = trace.tb_next
        return place


def runtime(functions: Mapping[str, Callable[..., Any]], effort: Effort) -> dict[str, Any]:
    """The names that generated code uses. Metered code pays by `effort`."""
    names: dict[str, Any] = {
        "OMIT": OMIT, "pay": effort.pay, "concat": effort.concat,
        "as_text": as_text, "contains": contains, "each": each, "get_field": get_field, "get_item": get_item,
        "multiply": multiply, "power": power, "modulo": modulo, "merge": patching.merge, "pointer": patching.pointer,
        "patch_add": patching.patch_add, "patch_replace": patching.patch_replace, "patch_remove": patching.patch_remove,
        "patch_test": patching.patch_test, "patch_merge": patching.patch_merge,
    }  # fmt: skip
    names |= {f"filter_{name}": function for name, function in {**builtins.FILTERS, **functions}.items()}
    names |= {f"fn_{name}": function for name, function in {**builtins.FUNCTIONS, **functions}.items()}
    return names | {f"test_{name}": function for name, function in builtins.TESTS.items()}


def modulo(left: Any, right: Any) -> Any:
    """`left % right` for numbers only: on text it would be a formatting language of its own."""
    if not isinstance(left, int | float):
        raise EvaluationError(f"% is for numbers, not for {describe(left)}")
    return left % right


def _each(items: Items) -> Iterator[tuple[int, Any]]:
    """Goes through all slices."""
    return enumerate(items())


def _only(index: int, items: Items) -> Iterator[tuple[int, Any]]:
    """Goes through the slice with this index, if there is one; a list that makes its items when asked makes only this one."""
    slices = items()
    return iter([(index, slices[index])] if index < len(slices) else ())


def _collector(rule: RuleInfo, nodes: list[Node], limit: int, position: tuple[int, ...]) -> Callable[..., None]:
    policy, id = rule.details["policy"], rule.id
    append = nodes.append

    def emit(_: int, object: Manifest, loop: tuple[int, ...], owner: ObjectRef | None) -> None:
        if len(nodes) >= limit:
            raise TooManyObjects(limit)
        metadata = object["metadata"]
        namespace, name = metadata.get("namespace"), metadata["name"]
        node = f"{object['kind']}/{namespace}/{name}" if namespace else f"{object['kind']}/{name}"
        append(Node(node, object, id, position + loop, owner, policy))

    return emit


def _nearest(value: Any, known: Any) -> str:
    from grove_compiler.graph.nearest import nearest

    return nearest(str(value), [str(word) for word in known])
