"""Holds compiled rules, saves them for the next process, and maps an error inside them to the file and line that they came from."""

from __future__ import annotations

import marshal
import sys
import zlib
from collections.abc import Sequence
from dataclasses import fields
from types import CodeType, FunctionType, SimpleNamespace
from typing import Any

from grove_compiler.engine.runtime.access import EvaluationError
from grove_compiler.engine.runtime.failure import FAILED, Position, RuleFailure, RuleInfo
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.record import record

FORMAT = f"grove-rules-8 {sys.implementation.cache_tag}"
"""The header of a dump. The number is raised when the form of generated code changes; Python's cache tag stands for its bytecode."""


@record
class Compiled:
    """Holds the rules in the order in which they run, the code of each but patches, and the constants that it names.

    `places` are marshalled: by the name of a function's code, for each line the number of its place or -1, and the places as file, line and
    path. Only what failed asks for them, and 10,000 values more to make would take each start half a millisecond.
    """

    rules: Sequence[RuleInfo]
    codes: Sequence[CodeType | None]
    constants: dict[str, Any]
    places: bytes

    def functions(self, namespace: dict[str, Any]) -> list[FunctionType | None]:
        """Returns the functions of the rules, which run in a namespace, and adds to it the constants and decisions that they name."""
        functions = [FunctionType(code, namespace) if code is not None else None for code in self.codes]
        decisions = zip(self.rules, functions, strict=True)
        namespace |= self.constants | {f"fn_{rule.details['decision']}": function for rule, function in decisions if rule.verb == "decide"}
        return functions

    def decisions(self, namespace: dict[str, Any]) -> SimpleNamespace:
        """Returns the functions that `decide` rules became, as attributes, from a namespace that `functions` has filled."""
        names = [rule.details["decision"] for rule in self.rules if rule.verb == "decide"]
        return SimpleNamespace(**{name: namespace[f"fn_{name}"] for name in names})

    def dump(self) -> bytes:
        """Serializes the rules to bytes that only this version of Python can read."""
        infos = [tuple(getattr(rule, field.name) for field in fields(RuleInfo)) for rule in self.rules]
        data = marshal.dumps((infos, list(self.codes), self.constants, self.places))
        return f"{FORMAT} {len(data)} {zlib.crc32(data)}\n".encode() + data

    @classmethod
    def load(cls, data: bytes) -> Compiled:
        """Restores rules from the bytes of `dump`. Raises `ValueError` for bytes that are damaged or of another version.

        The bytes become code that runs, so they must come from a place that only the user and the package can write: the checksum
        finds accidents, not forgeries.
        """
        end = data.find(b"\n")
        body = memoryview(data)[end + 1 :]  # a copy of half a megabyte would take 0.3 ms
        if end < 0 or data[:end] != f"{FORMAT} {len(body)} {zlib.crc32(body)}".encode():
            raise ValueError(f"not a program that {FORMAT!r} compiled, or a damaged one")
        infos, *rest = marshal.loads(body)
        return cls([RuleInfo(*info) for info in infos], *rest)

    def failure(self, error: Exception, rule: RuleInfo) -> RuleFailure:
        """Turns what went wrong while a rule ran into a failure at the place of the expression."""
        file, line, path = self._place(error, rule)
        what = str(error) if isinstance(error, EvaluationError) else f"{type(error).__name__}: {error}"
        message = f"the rule {self._label(rule, file, line)} failed: {what}"
        return RuleFailure(Diagnostic(FAILED, "error", message, path, file, line))

    def _label(self, rule: RuleInfo, file: str, line: int) -> str:
        """Names the rule that failed, and the patch if what failed stands in one."""
        patches = [other for other in self.rules if other.verb == "patch" and other.file == file and other.line <= line]
        patch = max(patches, key=lambda other: other.line, default=None)
        is_own = rule.file == file and (patch is None or patch.line < rule.line <= line)
        return repr(rule.id) if patch is None or is_own else f"{patch.id!r}, for an object of {rule.id!r},"

    def _place(self, error: BaseException, rule: RuleInfo) -> Position:
        """Finds the place in the rules that the deepest line of generated code came from."""
        tables = marshal.loads(self.places)
        place: Position = (rule.file, rule.line, "")
        trace = error.__traceback__
        while trace is not None:
            lines, places = tables.get(trace.tb_frame.f_code.co_filename, ((), ()))
            index = lines[trace.tb_lineno - 1] if trace.tb_lineno <= len(lines) else -1
            place = places[index] if index >= 0 else place
            trace = trace.tb_next
        return place
