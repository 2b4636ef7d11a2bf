"""Holds compiled rules, and saves them for the next process."""

from __future__ import annotations

import marshal
import sys
import zlib
from collections.abc import Sequence
from dataclasses import fields
from types import CodeType, FunctionType
from typing import Any

from grove_compiler.engine.runtime.failure import RuleInfo
from grove_compiler.record import record

FORMAT = f"grove-rules-8 {sys.implementation.cache_tag}"
"""The header of a dump. The number is raised when the form of generated code changes; Python's cache tag stands for its bytecode."""


@record
class Compiled:
    """Holds the rules in the order in which they run, the code of each but patches, the constants that it names, and `LinePlaces`."""

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
