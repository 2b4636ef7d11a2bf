"""Runs compiled rules. A program is made by `build`, saved by `dump`, and loaded by `load` without parsing anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Literal, NoReturn

from grove_compiler.engine.runtime.compiled import Compiled
from grove_compiler.engine.runtime.cost_budget import STEPS_OF_A_FINDING, CostBudget
from grove_compiler.engine.runtime.defaults import apply_default, replaced_values
from grove_compiler.engine.runtime.failure import FAILURES, RuleInfo
from grove_compiler.engine.runtime.namespace import runtime
from grove_compiler.engine.runtime.results import Event, ObjectWait, RequestedDeletion, StatusCondition, StatusPatch
from grove_compiler.engine.sources import Vocabulary
from grove_compiler.graph.diagnostic import MAX_FINDINGS, SEVERITIES, Diagnostic, Severity, too_many_findings
from grove_compiler.graph.field_path import FieldPath, render
from grove_compiler.graph.node import Manifest, Node, ObjectRef
from grove_compiler.unknown import Unknown

Part = int | Literal["all", "rest"]
"""Selects the part of an input to evaluate: all of it, what belongs to no slice, or the slice with this index.

All slices and the rest together are all (design: a replica of a set is a slice, so that a change of one pod costs one replica).
"""

Items = Callable[[], Sequence[Any]]
"""Returns the slices of an input. Called only when a rule's loop over them is reached."""

Scope = Mapping[str, Any]
"""The values of the roots, by name. A missing root is none; `now`, in seconds since the epoch, is 0 where it is not given."""


MAX_NEAREST = 20
"""Findings of one input that may suggest what was meant: nobody reads more, and to compare with a thousand names takes milliseconds."""


class _Enough(Exception):
    """Ends the validation of an input that has reached the limit of findings."""


class TooManyObjects(Exception):
    """Reports that the rules made more objects than the limit."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        super().__init__(f"more than {limit} objects")


class Program:
    """Runs rules in their order, bound to a vocabulary. Stateless between calls: one program compiles any number of inputs.

    `user_rendered` are the `generate` rules whose objects a user's rule, template, patch, part, constant or default has a part in.
    `name` identifies these rules; it is empty if unspecified.
    `decisions` holds, as attributes, the functions that `decide` rules became, for the model to call. They take their arguments by
    position, and raise `RuleFailure`.
    """

    def __init__(self, compiled: Compiled, vocabulary: Vocabulary, budget: CostBudget | None = None) -> None:
        self.rules = tuple(compiled.rules)
        self.name = ""
        self._compiled = compiled
        self._roots = vocabulary.root_names
        self._first_subject = next(iter(vocabulary.subjects), "")
        self._budget, self._vocabulary = budget or CostBudget(), vocabulary
        self._chosen: dict[tuple[str, str, str, str, bool], Sequence[tuple[RuleInfo, Callable[..., Any], bool]]] = {}
        self._namespace = runtime(vocabulary.functions, self._budget) | {"failed": self._failed}
        self._functions = compiled.functions(self._namespace)  # our own code: see `Compiled.load` on whose bytes are trusted
        self.user_rendered = frozenset(rule.id for rule in self.rules if "written" in rule.details)
        self.decisions = compiled.decisions(self._namespace)

    # -- saving and loading ------------------------------------------------------------------------------------------------

    def dump(self) -> bytes:
        """Serializes the program to bytes that only this version of Python can read."""
        return self._compiled.dump()

    @classmethod
    def load(cls, data: bytes, vocabulary: Vocabulary) -> Program:
        """Restores a program from the bytes of `dump`, which have to be trusted: see `Compiled.load`. Raises `ValueError` as it does."""
        return cls(Compiled.load(data), vocabulary)

    def with_budget(self, budget: CostBudget) -> Program:
        """Returns another instance of the same program, for another thread: instances share nothing that changes."""
        other = Program(self._compiled, self._vocabulary, budget)
        other.name = self.name
        return other

    def place_of(self, rule: str, path: FieldPath) -> tuple[str, int]:
        """Returns file and line of what wrote the field at `path` in an object of a user-rendered rule, or else what is around it.

        Patches are known after the template that they change, so of two that fit as well the later one did it.
        """
        info = next(info for info in self.rules if info.id == rule)
        best, depth = (info.file, info.line), 0
        for steps, file, line in info.details["written"]:
            if depth <= len(steps) <= len(path) and all(map(_fits, steps, path)):
                best, depth = (file, line), len(steps)
        return best

    @cached_property
    def about_updates(self) -> frozenset[str]:
        """The `validate` rules that compare an object with what it was."""
        return frozenset(rule.id for rule in self.rules if rule.details.get("operations") == ["update"])

    @cached_property
    def about_creations(self) -> frozenset[str]:
        """The `validate` rules that are only about an object that is new."""
        return frozenset(rule.id for rule in self.rules if rule.details.get("operations") == ["create"])

    @cached_property
    def hold_always(self) -> frozenset[str]:
        """The `validate` rules whose errors hold sets that have run as they are, too."""
        return self.about_updates | {rule.id for rule in self.rules if rule.details.get("holds") == "always"}

    @cached_property
    def hold_updates(self) -> frozenset[str]:
        """The `validate` rules whose errors hold only sets with pods of another template."""
        return frozenset(rule.id for rule in self.rules if rule.details.get("holds") == "updates")

    # -- what is declared --------------------------------------------------------------------------------------------------

    def default(self, kind: str, manifest: Manifest, scope: Scope, report: Callable[[Diagnostic], None] = lambda _: None) -> Manifest:
        """Returns the manifest with every default that the rules set for its kind. The given manifest is not changed; parts are shared.

        `report` gets a warning for each value that a rule with `warn` replaces.
        """
        owned: set[int] = set()
        for index, rule in enumerate(self.rules):
            if rule.verb != "default" or kind not in rule.details["of"]:
                continue
            value = partial(self._function(index), *self._arguments(scope))
            warning = rule.details["warn"]
            if warning:
                owned.clear()  # what is changed in place could not be compared with what it was
            for path in rule.details["paths"]:
                before, manifest = manifest, self._guarded(rule, apply_default, manifest, path, value, owned, rule.details["absent"])
                for place in replaced_values(before, manifest, path) if warning else ():
                    report(Diagnostic(rule.id, "warning", warning, render(place)))
        return manifest

    def validate(self, scope: Scope, operation: str, about: str = "", *, errors_only: bool = False) -> list[Diagnostic]:
        """Returns the findings of the `validate` rules for a kind and an operation (`create` or `update`). The caller adds files and lines.

        After `MAX_FINDINGS` errors validation stops, and warnings beyond that number are omitted; the last finding says so. A warning must
        not keep anybody from an edit: one that depends on what is `Unknown` is omitted, too, and that a rule that warns cannot run is a
        warning (`FAILED`, with its place). With `errors_only` such rules are not run. Raises `RuleFailure` for any other rule that fails.
        """
        findings: list[Diagnostic] = []
        left = dict.fromkeys(SEVERITIES, MAX_FINDINGS)

        def report(path: str, at: str, message: str, value: Any, known: Any, hint: str) -> None:
            severity: Severity = rule.details["severity"]
            left[severity] -= 1
            if left[severity] < 0:
                if severity == "error":
                    raise _Enough
                return  # an error may come later
            nearest = _nearest(value, known) if known and len(findings) < MAX_NEAREST else ""
            kind = rule.details["type"]
            self._budget.spend(STEPS_OF_A_FINDING)
            findings.append(Diagnostic(rule.id, severity, message, path, nearest=nearest, type=kind, value=value, hint=hint, at=at))

        arguments = [*self._arguments(scope), report]
        try:
            for rule, function, _ in self._rules_of("validate", about, operation=operation, errors_only=errors_only):
                self._budget.start()
                try:
                    function(*arguments)
                except Unknown:
                    if rule.details["severity"] == "error":
                        raise
                except FAILURES as error:
                    failure = self._compiled.failure(error, rule)
                    if rule.details["severity"] == "error":
                        raise failure from error
                    findings.append(replace(failure.diagnostic, severity="warning"))
        except _Enough:
            pass
        return findings + [too_many_findings(severity) for severity in SEVERITIES if left[severity] < 0]

    def generate(self, scope: Scope, limit: int, about: str = "", part: Part = "all", *, position: tuple[int, ...] = ()) -> list[Node]:
        """Returns every object for an input of a kind, or for a part of it, rule by rule in apply order.

        `position` is put before the loop positions of each. Raises `TooManyObjects`, and `RuleFailure` for a rule that cannot run.
        """
        nodes: list[Node] = []
        self._run("generate", scope, about, part, nodes, lambda rule: _collector(rule, nodes, limit, position))
        return nodes

    # -- what runs ---------------------------------------------------------------------------------------------------------

    def conditions(self, scope: Scope, about: str = "", part: Part = "all") -> list[StatusCondition]:
        """Returns every status condition that the rules compute for an input of a kind, or for a part of it."""
        return self._results("condition", scope, about, part)

    def statuses(self, scope: Scope, about: str = "", part: Part = "all") -> list[StatusPatch]:
        """Returns the status fields that the rules compute besides conditions, rule by rule."""
        return self._results("status", scope, about, part)

    def events(self, scope: Scope, about: str = "", part: Part = "all") -> list[Event]:
        """Returns the Kubernetes events to record; the same occurrence always has the same name, so that it is recorded once."""
        return self._results("event", scope, about, part)

    def deletions(self, scope: Scope, about: str = "", part: Part = "all") -> list[RequestedDeletion]:
        """Returns the objects to delete, in the order of their rules."""
        return self._results("delete", scope, about, part)

    def waits(self, scope: Scope, about: str = "", part: Part = "all") -> list[ObjectWait]:
        """Returns what objects wait for, in the order of the rules."""
        return self._results("wait", scope, about, part)

    def requeue_at(self, scope: Scope, about: str = "", part: Part = "all") -> float | None:
        """Returns when to requeue, in seconds since the epoch: the earliest time that a rule asks for; None when none does."""
        times: list[float] = self._results("requeue", scope, about, part)
        return min(times, default=None)

    def _results(self, verb: str, scope: Scope, about: str, part: Part) -> list[Any]:
        results: list[Any] = []
        append = results.append
        self._run(verb, scope, about, part, results, lambda _: append)
        return results

    # -- running -----------------------------------------------------------------------------------------------------------

    def _run(
        self, verb: str, scope: Scope, about: str, part: Part, results: Sized, report: Callable[[RuleInfo], Callable[..., None]]
    ) -> None:
        """Runs the rules of a verb for a part of the input.

        `report(rule)` returns the function that the rule calls with each result; `results` is the list that they are appended to: the
        budget of metered rules grows with its length.
        """
        arguments, loop = self._arguments(scope), partial(_only, part) if isinstance(part, int) else _each
        try:
            # In one function, and not by one for each rule: the calls between were a sixth of a step in a cluster.
            for chosen in self._rules_of(verb, about, "one" if isinstance(part, int) else part):
                rule, function, is_sliced = chosen
                self._budget.start(results)
                if is_sliced:
                    function(*arguments, report(rule), loop)
                else:
                    function(*arguments, report(rule))
        except FAILURES as error:
            raise self._compiled.failure(error, rule) from error

    def _rules_of(
        self, verb: str, about: str, part: str = "all", operation: str = "", *, errors_only: bool = False
    ) -> Sequence[tuple[RuleInfo, Callable[..., Any], bool]]:
        """Returns the rules of a verb about a kind, each with its function and whether it loops over slices.

        `part` selects: `all`, `one` (only those that loop over slices) or `rest` (only the others); `operation` those of validation.

        Cached: a step in a cluster asks for six verbs, and looking through all rules for each of them took a quarter of its time.
        """
        subject = about or self._first_subject
        cached = self._chosen.get((verb, subject, part, operation, errors_only))
        if cached is None:
            rules = [(index, rule) for index, rule in enumerate(self.rules) if rule.verb == verb and rule.is_about(subject)]
            if operation:
                rules = [(index, rule) for index, rule in rules if operation in rule.details["operations"]]
            if errors_only:
                rules = [(index, rule) for index, rule in rules if rule.details["severity"] == "error"]
            runnable = [(rule, self._function(index), bool(rule.details.get("sliced"))) for index, rule in rules]
            cached = [entry for entry in runnable if part == "all" or entry[2] == (part == "one")]
            self._chosen[verb, subject, part, operation, errors_only] = cached
        return cached

    def _function(self, index: int) -> Callable[..., Any]:
        function = self._functions[index]
        assert function is not None  # only patches have none
        return function

    def _arguments(self, scope: Scope) -> list[Any]:
        return [scope.get(word, 0.0 if word == "now" else None) for word in self._roots]

    def _guarded(self, rule: RuleInfo, function: Callable[..., Any], *arguments: Any) -> Any:
        """Calls the function; an error inside an expression is raised as a `RuleFailure` with the place of the expression."""
        self._budget.start()
        try:
            return function(*arguments)
        except FAILURES as error:
            raise self._compiled.failure(error, rule) from error

    def _failed(self, decision: str, error: Exception) -> NoReturn:
        """Raises the failure of a decision with the decision's own position, not that of the calling rule."""
        raise self._compiled.failure(error, next(rule for rule in self.rules if rule.id == decision)) from error


def _each(items: Items) -> Iterator[tuple[int, Any]]:
    """Yields every slice with its index."""
    return enumerate(items())


def _only(index: int, items: Items) -> Iterator[tuple[int, Any]]:
    """Yields the slice with this index, if there is one. A lazy list computes only that item, which is the point of slices."""
    slices = items()
    return iter([(index, slices[index])] if index < len(slices) else ())


def _collector(rule: RuleInfo, nodes: list[Node], limit: int, position: tuple[int, ...]) -> Callable[..., None]:
    yielding, keeping, rule_id = rule.details["policy"], rule.details["keeping"], rule.id
    append = nodes.append

    def emit(manifest: Manifest, loop: tuple[int, ...], owner: ObjectRef | None, yields: bool = True) -> None:
        if len(nodes) >= limit:
            raise TooManyObjects(limit)
        metadata = manifest["metadata"]
        namespace, name = metadata.get("namespace"), metadata["name"]
        node = f"{manifest['kind']}/{namespace}/{name}" if namespace else f"{manifest['kind']}/{name}"
        append(Node(node, manifest, rule_id, position + loop, owner, yielding if yields else keeping))

    return emit


def _fits(written: str | int, step: str | int) -> bool:
    """Reports whether a step of a template or a pointer may be that of an object: loops move items, and `-` is any of a list."""
    return isinstance(step, int) if isinstance(written, int) or written == "-" or written.isdigit() else written == step


def _nearest(value: Any, known: Any) -> str:
    from grove_compiler.graph.nearest import nearest

    return nearest(str(value), [str(word) for word in known])
