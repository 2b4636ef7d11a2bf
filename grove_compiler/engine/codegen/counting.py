"""Counts what each rule of a program did, for `grove rules`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from grove_compiler.engine.codegen.build import compile_rules
from grove_compiler.engine.language.load import load
from grove_compiler.engine.runtime.access import OMIT
from grove_compiler.engine.runtime.program import Program
from grove_compiler.engine.sources import RuleSource, Vocabulary


class CountingProgram(Program):
    """Behaves like `Program`, and counts. Creating one compiles the rules. Raises `InvalidRules`.

    `counts` holds, by id: fields that a default set, findings of a validation, objects that a rule generated or a patch changed,
    results of the verbs of run time, and calls of a decision. `idle` are the ids of patches whose operations were applied without changing
    an object.
    """

    def __init__(self, sources: Sequence[RuleSource], vocabulary: Vocabulary) -> None:
        super().__init__(compile_rules(load(sources), vocabulary, counted=True), vocabulary)
        self.counts: Counter[str] = Counter()
        self._touched: set[str] = set()
        self.idle: set[str] = set()
        self._namespace |= {"patched": self._patched, "decided": lambda rule: self.counts.update([rule])}

    def _patched(self, patch: str, before: Any, after: Any) -> Any:
        (self.idle if before == after else self._touched).add(patch)
        return after

    def _function(self, index: int) -> Callable[..., Any]:
        function, rule, place = super()._function(index), self.rules[index], len(self._roots)

        def sets(*arguments: Any) -> Any:
            value = function(*arguments)
            self.counts[rule.id] += value is not OMIT
            return value

        def reports(*arguments: Any) -> None:
            def counted(*results: Any) -> None:
                self.counts.update([rule.id, *self._touched])
                self._touched.clear()
                arguments[place](*results)

            function(*arguments[:place], counted, *arguments[place + 1 :])

        return sets if rule.verb == "default" else reports
