"""Which rules apply: those that ship, the user's folders, and the ready-to-run program made of them.

A warm start reads some thirty small files, hashes them and loads one cached file; it parses no rule and does not import jinja2.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import grove_compiler
from grove_compiler.engine.runtime.program import Program
from grove_compiler.engine.sources import RuleSource, Vocabulary
from grove_compiler.version import __version__
from grove_operator import warm_cache

try:  # hashlib loads OpenSSL for this, which costs more than all else in this module
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

SHIPPED = "grove"
PACKAGE = os.path.dirname(os.path.abspath(grove_compiler.__file__))
CHECKOUT = os.path.dirname(PACKAGE)
PARTS = ("rules", "templates")
WARM_FOLDER = os.path.join(PACKAGE, "_warm")
LARGEST_RULE_FILE = 1 << 20
USUAL_RULE_FILE = 1 << 16
"""Asking at once for as much as is allowed costs 17 µs a file, for memory that is given back unused."""


class UnreadableRules(Exception):
    """A rules folder that cannot be read. The text is one line for people."""


class RuleFile(NamedTuple):
    """One file of rules or one template: `name` as the engine knows it (`rules/podgangs.yaml`), and where it really is."""

    name: str
    path: str
    origin: str
    data: bytes


class Rulebook(NamedTuple):
    """Everything that decides behaviour, unparsed. Later files win over earlier ones."""

    files: tuple[RuleFile, ...]

    @property
    def key(self) -> str:
        """A name for exactly this content, this release and this Python: what a program was made of."""
        return self._digest(f"{__version__} {sys.implementation.cache_tag} {sys.hexversion:x}", lambda file: file.origin)

    @property
    def name(self) -> str:
        """A name for what the rules say, the same on every machine and wherever they lie."""
        return self._digest("", lambda file: SHIPPED if file.origin == SHIPPED else "")

    def _digest(self, begin: str, origin: Callable[[RuleFile], str]) -> str:
        digest = blake2b(begin.encode(), digest_size=16)
        for file in self.files:
            digest.update(f"\0{origin(file)}\0{file.name}\0{len(file.data)}\0".encode("utf-8", "surrogateescape"))
            digest.update(file.data)
        return digest.hexdigest()

    def sources(self) -> list[RuleSource]:
        """Returns the files as the engine takes them. Raises `UnreadableRules` for what is not UTF-8."""
        return [RuleSource(file.name, _text(file), file.origin) for file in self.files]

    def find(self, name: str) -> RuleFile | None:
        """Returns the file that a diagnostic names. A user's file hides the shipped one of the same name."""
        return next((file for file in reversed(self.files) if file.name == name), None)

    def program(self, vocabulary: Vocabulary) -> Program:
        """Returns the rules ready to run: from the wheel, from the user's cache, or built now and remembered.

        Raises `InvalidRules` with every reason when they cannot be used, `UnreadableRules` when they are not text.
        """
        key = self.key
        warm = os.path.join(WARM_FOLDER, key)
        program = _load(warm_cache.read_shipped(warm), vocabulary)
        if program is not None:
            return program
        entry = f"{key}-{_fingerprint_of_code()}"
        program = _load(warm_cache.read(entry), vocabulary)
        if program is None:
            program = self.build(vocabulary)
            warm_cache.store(entry, program.dump())
        return program

    def build(self, vocabulary: Vocabulary) -> Program:
        """Returns the rules parsed, checked and compiled, without any cache."""
        from grove_compiler.engine.codegen.build import build  # imports jinja2: cold starts only

        return build(self.sources(), vocabulary)


def read(folders: Sequence[str] = (), *, may_be_empty: bool = False) -> Rulebook:
    """Returns what ships, then each of the user's folders in order. Raises `UnreadableRules`.

    A folder without rules is a mistake, unless it `may_be_empty`: one that is mounted into a pod may get its files later.
    """
    files = list(_read_folder(shipped_folder(), SHIPPED, flat=False))
    for folder in folders:
        mine = list(_read_folder(folder, folder, flat=True))
        if not mine and not may_be_empty:
            raise UnreadableRules(f"{folder}: no rules here: expected *.yaml, rules/*.yaml or templates/*.yaml")
        files += mine
    return Rulebook(tuple(files))


def shipped_folder() -> str:
    """Returns the folder that holds the `rules` and `templates` which ship.

    A wheel carries them inside the package (`force-include` in `pyproject.toml`); in a checkout they stand at its top, beside the
    package, where people read and edit them.
    """
    return PACKAGE if os.path.isdir(os.path.join(PACKAGE, "rules")) else CHECKOUT


def _read_folder(folder: str, origin: str, *, flat: bool) -> Iterator[RuleFile]:
    """Reads `rules/**/*.yaml` and `templates/**/*.yaml` of a folder; with `flat` also `*.yaml` beside them, which are rules."""
    if flat:
        for name, path in _yaml_files(folder, deep=False):
            yield RuleFile(_flat_name(name), path, origin, _data(path))
    for part in PARTS:
        inner = os.path.join(folder, part)
        if os.path.isdir(inner):
            for name, path in _yaml_files(inner):
                yield RuleFile(f"{part}/{name}", path, origin, _data(path))


def _flat_name(name: str) -> str:
    """Makes of `templates.parts.web.yaml` the template `parts/web.yaml`, since keys of a ConfigMap have no folders; all else are rules."""
    first, *folders, extension = name.split(".")
    return f"{'/'.join((first, *folders))}.{extension}" if first == "templates" and folders else f"rules/{name}"


def _yaml_files(folder: str, *, deep: bool = True) -> Iterable[tuple[str, str]]:
    """Lists YAML files by their path below the folder, with `/` on every system, and where they are; in the order of those paths."""
    files: list[tuple[str, str]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name[0] == ".":
                    continue
                if entry.is_dir(follow_symlinks=False):  # a link may lead back up
                    files += [(f"{entry.name}/{name}", path) for name, path in _yaml_files(entry.path)] if deep else []
                elif entry.name.endswith((".yaml", ".yml")) and _is_readable(entry.path):
                    files.append((entry.name, entry.path))
    except OSError as error:
        raise UnreadableRules(f"{folder}: {_reason(error)}") from None
    return sorted(files)


def _is_readable(path: str) -> bool:
    """Whether it is a file, or a link that leads nowhere, which reading it tells. A pipe among them would be waited for without end."""
    return os.path.isfile(path) or not os.path.exists(path)


def _data(path: str) -> bytes:
    try:
        with open(path, "rb", buffering=0) as stream:
            data = stream.read(USUAL_RULE_FILE) or b""
            if len(data) == USUAL_RULE_FILE:
                data += stream.read(LARGEST_RULE_FILE) or b""
    except OSError as error:
        raise UnreadableRules(f"{path}: {_reason(error)}") from None
    if len(data) > LARGEST_RULE_FILE:
        raise UnreadableRules(f"{path}: larger than {LARGEST_RULE_FILE >> 20} MiB, which no rule file should be")
    return data


def _text(file: RuleFile) -> str:
    try:
        return file.data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableRules(f"{file.path}: not UTF-8 text (byte {error.start})") from None


def _reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()


def _load(data: bytes | None, vocabulary: Vocabulary) -> Program | None:
    """Returns the program of a cache entry; none when there is no entry, or none that this engine can use."""
    if data is None:
        return None
    try:
        return Program.load(data, vocabulary)
    except ValueError:
        return None


def _fingerprint_of_code() -> str:
    """Changes whenever somebody edits the engine or the model in a source checkout, where the release number stays the same."""
    digest = blake2b(digest_size=8)
    for room in ("engine", "model", "source"):
        for entry in sorted(_python_files(os.path.join(PACKAGE, room)), key=lambda entry: entry.path):
            status = entry.stat()
            digest.update(f"{entry.path}\0{status.st_mtime_ns}\0{status.st_size}\0".encode())
    return digest.hexdigest()


def _python_files(folder: str) -> Iterator[os.DirEntry[str]]:
    """Finds the sources below a folder; an installation without it on disk has nothing to edit."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    yield entry
                elif entry.name != "__pycache__" and entry.is_dir():
                    yield from _python_files(entry.path)
    except OSError:
        return
