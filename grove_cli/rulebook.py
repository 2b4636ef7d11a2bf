"""Collects the effective rules: built-in ones and the user's folders, and their compiled program.

A warm start reads some thirty small files, hashes them and loads one cached file; it parses no rule and does not import jinja2.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import grove_compiler
from grove_cli import warm_cache
from grove_cli.errors import UnreadableInput, os_reason
from grove_compiler.engine.runtime.compiled import Compiled
from grove_compiler.engine.runtime.program import Program
from grove_compiler.engine.sources import BUILT_IN, RuleSource, Vocabulary
from grove_compiler.version import __version__

try:  # hashlib loads OpenSSL for this, which costs more than all else in this module
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

T = TypeVar("T")
PACKAGE = os.path.dirname(os.path.abspath(grove_compiler.__file__))
CHECKOUT = os.path.dirname(PACKAGE)
PARTS = ("rules", "templates")
CODE_BELOW_RULES = ("engine", "graph", "kube", "model", "source")
"""Packages of the compiler that a build of rules imports; a test holds that none is missing."""
WARM_FOLDER = os.path.join(PACKAGE, "_warm")
MAX_RULE_FILE = 1 << 20
USUAL_RULE_FILE = 1 << 16
"""Bytes of the first read. A buffer of the largest size would cost 17 µs a file for its allocation."""


class RulebookFile(NamedTuple):
    """A file of rules or a template: its `name` in the engine (`rules/podgangs.yaml`), and its path."""

    name: str
    path: str
    origin: str
    data: bytes


class Rulebook(NamedTuple):
    """The source files of all rules. Later files take precedence."""

    files: tuple[RulebookFile, ...]

    @property
    def key(self) -> str:
        """The cache key: a hash of the content, this release and this version of Python."""
        return self._digest(f"{__version__} {sys.implementation.cache_tag} {sys.hexversion:x}", lambda file: file.origin)

    @property
    def name(self) -> str:
        """A hash of the rules, independent of machine and path."""
        return self._digest("", lambda file: BUILT_IN if file.origin == BUILT_IN else "")

    def _digest(self, begin: str, origin: Callable[[RulebookFile], str]) -> str:
        digest = blake2b(begin.encode(), digest_size=16)
        for file in self.files:
            digest.update(f"\0{origin(file)}\0{file.name}\0{len(file.data)}\0".encode("utf-8", "surrogateescape"))
            digest.update(file.data)
        return digest.hexdigest()

    def sources(self) -> list[RuleSource]:
        """Returns the files as sources of the engine. Raises `UnreadableInput` for files that are not UTF-8."""
        return [RuleSource(file.name, _text(file), file.origin) for file in self.files]

    def find(self, name: str, origin: str = "") -> RulebookFile | None:
        """Returns the file that a diagnostic names: of several of that name the one of the origin, else the last, a user's."""
        return next((file for file in reversed(self.files) if file.name == name and origin in ("", file.origin)), None)

    def place(self, file: str, line: int, origin: str = "") -> str:
        """Returns `file:line` of a rule or template: its path, or its name in the package where it is built in."""
        known = self.find(file, origin)
        return f"{file if known is None or known.origin == BUILT_IN else known.path}:{line}"

    def program(self, vocabulary: Vocabulary) -> Program:
        """Returns the compiled rules: from the wheel, the user's cache, or compiled now and cached.

        Raises `InvalidRules` with every reason when they cannot be used, `UnreadableInput` when they are not text.
        """

        def load(data: bytes) -> Program:
            return Program.load(data, vocabulary)

        key = self.key
        warm = os.path.join(WARM_FOLDER, key)
        program = _load(warm_cache.read_installed(warm), load)
        if program is not None:
            return program
        entry = f"{key}-{_fingerprint_of_code()}"
        program = _load(warm_cache.read(entry), load)
        if program is None:
            program = self.build(vocabulary)
            warm_cache.store(entry, program.dump())
        return program

    def traced(self, vocabulary: Vocabulary) -> Compiled:
        """Returns the rules in the form that explains what they make: from the user's cache, or compiled now and cached.

        Raises as `program` does.
        """
        entry = f"{self.key}-{_fingerprint_of_code()}-traced"
        compiled = _load(warm_cache.read(entry), Compiled.load)
        if compiled is None:
            from grove_compiler.engine.tracing.provenance import traced_rules  # no compilation needs it

            compiled = traced_rules(self.sources(), vocabulary)
            warm_cache.store(entry, compiled.dump())
        return compiled

    def build(self, vocabulary: Vocabulary) -> Program:
        """Returns the rules parsed, validated and compiled, without a cache."""
        from grove_compiler.engine.codegen.build import build  # imports jinja2: cold starts only

        return build(self.sources(), vocabulary)


def read(folders: Sequence[str] = (), *, may_be_empty: bool = False) -> Rulebook:
    """Returns the built-in rules, followed by those of the user's folders in order. Raises `UnreadableInput`.

    A folder without rules is a mistake, unless it `may_be_empty`: one that is mounted into a pod may get its files later.
    """
    files = list(_read_folder(built_in_folder(), BUILT_IN, flat=False))
    for folder in folders:
        mine = list(_read_folder(folder, folder, flat=True))
        if not mine and not may_be_empty:
            raise UnreadableInput([f"{folder}: no rules here: expected *.yaml, rules/*.yaml or templates/*.yaml"])
        files += mine
    return Rulebook(tuple(files))


def built_in_folder() -> str:
    """Returns the folder with the built-in `rules` and `templates`.

    A wheel carries them inside the package (`force-include` in `pyproject.toml`); in a checkout they stand at its top, beside the
    package, where people read and edit them.
    """
    return PACKAGE if os.path.isdir(os.path.join(PACKAGE, "rules")) else CHECKOUT


def _read_folder(folder: str, origin: str, *, flat: bool) -> Iterator[RulebookFile]:
    """Reads `rules/**/*.yaml` and `templates/**/*.yaml` of a folder; with `flat` also `*.yaml` at its top, as rules."""
    if flat:
        for name, path in _yaml_files(folder, deep=False):
            yield RulebookFile(_flat_name(name), path, origin, _data(path))
    for part in PARTS:
        inner = os.path.join(folder, part)
        if os.path.isdir(inner):
            for name, path in _yaml_files(inner):
                yield RulebookFile(f"{part}/{name}", path, origin, _data(path))
        elif os.path.lexists(inner):
            raise UnreadableInput([f"{inner}: expected a folder with *.yaml; a file of {part} has a name with .yaml"])


def _flat_name(name: str) -> str:
    """Returns the template `parts/web.yaml` for `templates.parts.web.yaml`, as keys of a ConfigMap have no folders; else a rule."""
    first, *folders, extension = name.split(".")
    return f"{'/'.join((first, *folders))}.{extension}" if first == "templates" and folders else f"rules/{name}"


def _yaml_files(folder: str, *, deep: bool = True) -> Iterable[tuple[str, str]]:
    """Returns the YAML files of a folder by their relative path, with `/` on every system, sorted.

    Raises `UnreadableInput` for what has the name of a file and gives none: a kubelet makes a folder of a file that it cannot mount.
    """
    files: list[tuple[str, str]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name[0] == ".":
                    continue
                found: list[tuple[str, str]] = []
                if entry.is_dir(follow_symlinks=False):  # links may be cyclic
                    found = [(f"{entry.name}/{name}", path) for name, path in _yaml_files(entry.path)] if deep else []
                elif _is_named_so(entry) and _is_readable(entry.path):
                    found = [(entry.name, entry.path)]
                if _is_named_so(entry) and not found:
                    kind = "a folder" if entry.is_dir() else "no regular file"
                    raise UnreadableInput([f"{entry.path}: expected a file of rules or a template, found {kind}"])
                files += found
    except OSError as error:
        raise UnreadableInput([f"{folder}: {os_reason(error)}"]) from None
    return sorted(files)


def _is_named_so(entry: os.DirEntry[str]) -> bool:
    return entry.name.endswith((".yaml", ".yml"))


def _is_readable(path: str) -> bool:
    """Returns whether a path is a file or a dangling link, which the read reports. A read of a named pipe would block."""
    return os.path.isfile(path) or not os.path.exists(path)


def _data(path: str) -> bytes:
    try:
        with open(path, "rb", buffering=0) as stream:
            data = stream.read(USUAL_RULE_FILE) or b""
            if len(data) == USUAL_RULE_FILE:
                data += stream.read(MAX_RULE_FILE) or b""
    except OSError as error:
        raise UnreadableInput([f"{path}: {os_reason(error)}"]) from None
    if len(data) > MAX_RULE_FILE:
        raise UnreadableInput([f"{path}: larger than {MAX_RULE_FILE >> 20} MiB, the limit of rule files"])
    return data


def _text(file: RulebookFile) -> str:
    try:
        return file.data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableInput([f"{file.path}: not UTF-8 text (byte {error.start})"]) from None


def _load(data: bytes | None, load: Callable[[bytes], T]) -> T | None:
    """Returns what a cache entry holds; none if there is no entry, or one of another engine."""
    if data is None:
        return None
    try:
        return load(data)
    except ValueError:
        return None


def _fingerprint_of_code() -> str:
    """Returns a hash that changes with edits of the code that rules are compiled with: in a checkout the release number stays the same."""
    digest = blake2b(digest_size=8)
    for entry in sorted(_code_below_rules(), key=lambda entry: entry.path):
        status = entry.stat()
        digest.update(f"{entry.path}\0{status.st_mtime_ns}\0{status.st_size}\0".encode())
    return digest.hexdigest()


def _code_below_rules() -> Iterator[os.DirEntry[str]]:
    """Yields what a build of rules imports, and files beside that: passes of the compiler, packages below them, what is shared."""
    yield from _python_files(PACKAGE, deep=False)
    for package in CODE_BELOW_RULES:
        yield from _python_files(os.path.join(PACKAGE, package))
    yield from _python_files(os.path.join(os.path.dirname(PACKAGE), "kube_objects"))


def _python_files(folder: str, *, deep: bool = True) -> Iterator[os.DirEntry[str]]:
    """Yields the sources in a folder, if `deep` also those below it; none if the package is not on disk."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    yield entry
                elif deep and entry.name != "__pycache__" and entry.is_dir():
                    yield from _python_files(entry.path)
    except OSError:
        return
