"""A program that counts what each of its rules did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Sized
from typing import Any

from grove_compiler.engine.codegen.build import compile_rules
from grove_compiler.engine.language.load import load
from grove_compiler.engine.runtime.omit import OMIT
from grove_compiler.engine.runtime.program import Condition, Part, Program, RuleInfo
from grove_compiler.engine.sources import RuleSource, Vocabulary
from grove_compiler.graph.diagnostic import Diagnostic


class CountingProgram(Program):
    """Does what the program of the same sources does. Making one costs a cold start. Raises `InvalidRules`.

    `counts` holds, by id: fields that a default set, findings of a validation, objects that a rule generated or a patch changed,
    conditions that were computed.
    """

    def __init__(self, sources: Sequence[RuleSource], vocabulary: Vocabulary) -> None:
        compiled = compile_rules(load(sources), vocabulary, counted=True)
        super().__init__(compiled.rules, compiled.code, compiled.lines, compiled.places, vocabulary)
        self.counts: Counter[str] = Counter()
        self._touched: set[str] = set()
        self._namespace["touched"] = self._touched.add

    def validate(self, scope: Mapping[str, Any], operation: str, about: str = "") -> list[Diagnostic]:
        """As the program does, counted."""
        found = super().validate(scope, operation, about)
        self.counts.update(finding.code for finding in found)
        return found

    def conditions(self, scope: Mapping[str, Any], about: str = "", part: Part = "all") -> list[Condition]:
        """As the program does, counted."""
        found = super().conditions(scope, about, part)
        self.counts.update(condition.rule for condition in found)
        return found

    def _function(self, index: int) -> Callable[..., Any]:
        function, rule = super()._function(index), self.rules[index]
        if rule.verb != "default":
            return function

        def counted(*arguments: Any) -> Any:
            value = function(*arguments)
            self.counts[rule.id] += value is not OMIT
            return value

        return counted

    def _run(self, index: int, rule: RuleInfo, scope: Mapping[str, Any], *report: Callable[..., Any], made: Sized = ()) -> None:
        emit, *rest = report

        def counted(*arguments: Any) -> None:
            self.counts.update([rule.id, *self._touched])
            self._touched.clear()
            emit(*arguments)

        super()._run(index, rule, scope, counted if rule.verb == "generate" else emit, *rest, made=made)
