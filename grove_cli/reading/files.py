"""Resolves file arguments and reads their content."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from grove_cli.errors import UnreadableInput, os_reason

MANIFEST_ENDINGS = (".yaml", ".yml", ".json")
STDIN = "-"
URLS = ("https://", "http://")
STDIN_NAME = "<stdin>"
MAX_FILE = 64 << 20
MAX_BYTES = 256 << 20
MAX_FILES = 10_000
MARKS_OF_WIDE_TEXT = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")  # UTF-16 and UTF-32, in which half of a text is NUL


class InputFile(NamedTuple):
    """The name of a file, as in messages, and its content. `is_found` is true for a file of a folder that was not named itself."""

    name: str
    data: bytes
    is_found: bool = False


def read_all(arguments: Sequence[str], roles: Sequence[str | None] = ()) -> list[InputFile]:
    """Returns the content of the files of `FILE… | DIR | -` in order, each file once.

    Folders are walked in sorted order; hidden entries are left out, and so are `roles`, the files that options name. Raises
    `UnreadableInput` with every problem at once.
    """
    files: list[InputFile] = []
    problems: list[str] = []
    total = 0
    for path, is_found in _without_repeats(arguments, problems, {os.path.realpath(path) for path in roles if path}):
        if len(files) >= MAX_FILES:
            raise UnreadableInput([f"more than {MAX_FILES} files"])
        try:
            files.append(read_one(path)._replace(is_found=is_found))
            total += len(files[-1].data)
        except UnreadableInput as error:
            problems += error.problems
        if total > MAX_BYTES:
            raise UnreadableInput([f"{path}: the files before and including this one are larger than {MAX_BYTES >> 20} MiB"])
    if problems:
        raise UnreadableInput(problems)
    return files


def read_one(path: str) -> InputFile:
    """Returns the content of a file, of `-` for standard input, or of a URL.

    Raises `UnreadableInput` when it is missing, too large or not text.
    """
    if path.startswith(URLS):
        return _fetched(path)
    name = STDIN_NAME if path == STDIN else path or "''"
    try:
        if path == STDIN:
            data = sys.stdin.buffer.read(MAX_FILE + 1) if sys.stdin else None
        else:
            with open(path, "rb") as stream:
                data = stream.read(MAX_FILE + 1)
    except OSError as error:
        raise UnreadableInput([f"{name}: {os_reason(error)}"]) from None
    if data is None:  # started with <&-
        raise UnreadableInput([f"{name}: closed"])
    return _as_text(name, data)


def _fetched(url: str) -> InputFile:
    from grove_cli.reading.urls import NotFetched, fetch, shown  # 40 ms to import, and few manifests are at URLs

    name = shown(url)
    try:
        return _as_text(name, fetch(url, MAX_FILE))
    except NotFetched as error:
        raise UnreadableInput([f"{name}: {error}"]) from None


def _as_text(name: str, data: bytes) -> InputFile:
    problem = _not_text(data)
    if problem:
        raise UnreadableInput([f"{name}: {problem}"])
    return InputFile(name, data)


def _not_text(data: bytes) -> str:
    """Returns why bytes cannot be a manifest; empty if they may be one. The YAML reader reports invalid bytes within a text."""
    if len(data) > MAX_FILE:
        return f"larger than {MAX_FILE >> 20} MiB"
    if b"\0" in data and not data.startswith(MARKS_OF_WIDE_TEXT):
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        return f"a binary file, not text: there is a NUL byte in line {line}; if it is UTF-16, save it as UTF-8"
    return ""


def _without_repeats(arguments: Sequence[str], problems: list[str], roles: set[str]) -> Iterator[tuple[str, bool]]:
    seen: set[str] = set()
    named = {os.path.realpath(argument) for argument in arguments}
    for argument in arguments:
        for path, is_found in _expand(argument, problems):
            real = path if path == STDIN else os.path.realpath(path)
            is_meant = not is_found or real in named
            if real not in seen and (is_meant or real not in roles):
                seen.add(real)
                yield path, not is_meant


def _expand(argument: str, problems: list[str]) -> Iterator[tuple[str, bool]]:
    """Yields the files of an argument, and whether they were found in a folder."""
    try:
        is_folder = argument != STDIN and stat.S_ISDIR(os.stat(argument).st_mode)
    except OSError:  # the read reports the error
        is_folder = False
    if not is_folder:
        yield argument, False
        return
    result, before = False, len(problems)
    for path in _walk(argument, problems):
        result = True
        yield path, True
    if not result and len(problems) == before:
        problems.append(f"{argument}: no manifests here (no *.yaml, *.yml or *.json file)")


def _walk(folder: str, problems: list[str]) -> Iterator[str]:
    """Yields the manifests of a folder and its subfolders, sorted by name. Folders reached by several links are read once."""
    walked: set[tuple[int, int]] = set()
    waiting = [folder]
    while waiting:
        place = waiting.pop()
        if not os.path.isdir(place):
            yield place
            continue
        try:
            status = os.stat(place)
            if (status.st_dev, status.st_ino) not in walked:
                walked.add((status.st_dev, status.st_ino))
                waiting += reversed(_entries(place))
        except OSError as error:
            problems.append(f"{place}: {os_reason(error)}")


def _entries(folder: str) -> list[str]:
    """Returns subfolders and manifests, sorted. Dangling and cyclic links are included, so that the read reports them."""
    with os.scandir(folder) as entries:
        return sorted(entry.path for entry in entries if entry.name[0] != "." and _is_input(entry))


def _is_input(entry: os.DirEntry[str]) -> bool:
    is_named_so = entry.name.endswith(MANIFEST_ENDINGS)
    try:
        return entry.is_dir() or (is_named_so and (entry.is_file() or not os.path.exists(entry.path)))
    except OSError:  # a cyclic link
        return is_named_so
