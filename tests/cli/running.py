"""Runs command lines in this process, for tests that need thousands of them."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from grove_cli import entry, garbage, rulebook
from grove_cli.rulebook import Rulebook, RulebookFile
from grove_compiler.engine.runtime.program import Program
from grove_compiler.engine.sources import BUILT_IN, Vocabulary

ROOT = Path(__file__).resolve().parents[2]


class Ended(NamedTuple):
    """How a command line ended."""

    code: int
    out: str
    err: str


def run(*arguments: str, stdin: bytes = b"") -> Ended:
    """The command line's exit code and what it printed. No cache outside the test is written when `GROVE_CACHE_DIR` is set."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace") for _ in range(2))
    given = io.TextIOWrapper(io.BytesIO(stdin))
    with (
        mock.patch("sys.stdin", given),
        mock.patch.object(Rulebook, "program", _program_of_this_process),
        mock.patch.object(rulebook, "_read_folder", _read_once),
        mock.patch.object(garbage, "collect_in_small_portions", lambda: None),  # for good: this process does not only run one command
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = entry.run(arguments)
    for stream in (out, err):
        stream.flush()
    texts = [stream.buffer.getvalue().decode() for stream in (out, err)]
    return Ended(code, *texts)


_read_folder = rulebook._read_folder
_shipped: dict[str, list[RulebookFile]] = {}


def _read_once(folder: str, origin: str, *, flat: bool) -> Iterable[RulebookFile]:
    """The files of a folder: those that ship are read once, instead of a hundred for each command."""
    if origin != BUILT_IN:
        return _read_folder(folder, origin, flat=flat)
    if folder not in _shipped:
        _shipped[folder] = list(_read_folder(folder, origin, flat=flat))
    return _shipped[folder]


_load = Rulebook.program
_programs: dict[tuple[str, int], Program] = {}
_keys: dict[tuple[int, ...], str] = {}
"""The keys of rulebooks, by the identities of their files: a megabyte need not be digested for each command."""


def _program_of_this_process(rulebook: Rulebook, vocabulary: Vocabulary) -> Program:
    """The program of the rules that ship, which is loaded once: that takes half of the time of a command."""
    if any(file.origin != BUILT_IN for file in rulebook.files):
        return _load(rulebook, vocabulary)
    files = tuple(map(id, rulebook.files))  # `_shipped` keeps them
    if files not in _keys:
        _keys[files] = rulebook.key
    key = _keys[files], id(vocabulary)
    if key not in _programs:
        _programs[key] = _load(rulebook, vocabulary)
    return _programs[key]


def assert_clear(ended: Ended) -> None:
    """What every ending has in common, whatever the input was."""
    assert ended.code in (0, 1, 2), ended
    assert "internal error" not in ended.err, ended.err
    assert "Traceback" not in ended.err, ended.err
    if ended.code:
        assert ended.out == ""
        assert ended.err.strip(), "it failed without a word"
    assert "\x1b" not in ended.err
