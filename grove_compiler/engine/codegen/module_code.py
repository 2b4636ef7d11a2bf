"""Compiles generated source to Python's bytecode. Of a later build in a process only the functions that no earlier one had are compiled.

A user's rules change few of some 600 functions, and to compile all of them takes two thirds of a build.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from types import CodeType
from typing import NamedTuple

from grove_compiler.engine.runtime.failure import MODULE

MAX_CACHED = 6000
"""Functions that are kept: of all built-in rules, in the three forms of code, three times over."""
_FUNCTION = re.compile(r"^def (\w+)\(.*\):$", re.MULTILINE)

_compiled: dict[str, tuple[CodeType, int]] = {}
"""Functions by their source, and the line at which each of them begins in its code."""


class _Function(NamedTuple):
    """Represents a function of a module: its name, its first line without the body, its whole source, and the line where that begins."""

    name: str
    signature: str
    text: str
    line: int


def code_of(source: str) -> CodeType | None:
    """Compiles a module of constants and functions.

    Returns None when it is nested too deeply for Python, which can happen though each expression is not.
    """
    functions = list(_functions(source))
    constants = source[: source.index(functions[0].text)] if functions else source
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # what Python thinks of `0 is not None` is nothing that a rule's author can use
            if 2 * sum(function.text in _compiled for function in functions) > len(functions):
                return _put_together(constants, functions)
            code = _compile(source)
    except (SyntaxError, RecursionError, MemoryError):
        return None
    found = _codes_in(code)
    for function in functions:
        _remember(function.text, found[function.name], function.line)
    return code


def _functions(source: str) -> Iterator[_Function]:
    starts = list(_FUNCTION.finditer(source))
    ends = [start.start() for start in starts[1:]] + [len(source)]
    line = 1 + source.count("\n", 0, starts[0].start()) if starts else 1
    for start, end in zip(starts, ends, strict=False):
        text = source[start.start() : end]
        yield _Function(start[1], start[0], text, line)
        line += text.count("\n")


def _put_together(constants: str, functions: list[_Function]) -> CodeType:
    """Returns the code of a module whose functions are compiled one by one, or have been before."""
    codes = {function.name: _moved(*_code_of_function(function), function.line) for function in functions}
    module = _compile(constants + "".join(f"{function.signature} pass\n" for function in functions))
    parts = (codes[part.co_name] if isinstance(part, CodeType) else part for part in module.co_consts)
    return module.replace(co_consts=tuple(parts))


def _code_of_function(function: _Function) -> tuple[CodeType, int]:
    if function.text not in _compiled:
        _remember(function.text, _codes_in(_compile(function.text))[function.name], 1)
    return _compiled[function.text]


def _remember(text: str, code: CodeType, line: int) -> None:
    if len(_compiled) >= MAX_CACHED:
        _compiled.clear()
    _compiled[text] = code, line


def _compile(source: str) -> CodeType:
    return compile(source, MODULE, "exec", dont_inherit=True)


def _codes_in(module: CodeType) -> dict[str, CodeType]:
    return {part.co_name: part for part in module.co_consts if isinstance(part, CodeType)}


def _moved(code: CodeType, line: int, to: int) -> CodeType:
    """Returns the same code as if its source began at another line: failures are located by lines."""
    if line == to:
        return code
    parts = (_moved(part, line, to) if isinstance(part, CodeType) else part for part in code.co_consts)
    return code.replace(co_firstlineno=code.co_firstlineno + to - line, co_consts=tuple(parts))
