"""Fails a test that changes what compiled objects share: constants of the compiled rules, and the sets that steps of one process cache.

Rendered objects are read-only and have parts in common, which is where their speed comes from. Whoever changes one of them changes all
others, also those that are rendered later: nothing would tell but wrong objects elsewhere.
"""

from __future__ import annotations

import marshal
import weakref
from collections.abc import Iterator
from functools import wraps
from typing import Any

import pytest

from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.node import Manifest
from grove_compiler.model.inputs.snapshot import Snapshot
from grove_compiler.step_context import Generation, StepContext

CONSTANT = "K_"
"""The prefix of a constant in generated code."""

_programs: weakref.WeakKeyDictionary[Program, tuple[list[Any], bytes]] = weakref.WeakKeyDictionary()
"""The constants of programs, and their bytes of then. A long run has dozens of programs."""
_run: weakref.WeakSet[Program] = weakref.WeakSet()
"""The programs that have run since the last look: what they render is what a test may change."""
_sets: dict[int, tuple[Any, str]] = {}
"""The manifests that the steps of one test have cached, by their id, with their text of then."""


def constants_of(program: Program) -> list[Any]:
    """The constants of a program."""
    return [value for name, value in program._namespace.items() if name.startswith(CONSTANT)]


def as_bytes(constants: list[Any]) -> bytes:
    """Constants as bytes, without references, so that equal ones have equal bytes."""
    return marshal.dumps(constants, 2)


def watch_set(manifest: Any) -> None:
    """Has the manifest of a set be the same at the end of the test."""
    if id(manifest) not in _sets:
        _sets[id(manifest)] = manifest, repr(manifest)


def changed() -> list[str]:
    """What is not any more what it was, in words; it is the new state from then on."""
    found = []
    for program in list(_run):
        constants, before = _programs[program]
        if (now := as_bytes(constants)) != before:
            _programs[program] = constants, now
            found.append("constants of compiled rules, which all rendered objects share")
    found += [f"the cached PodCliqueSet {manifest['metadata']['name']}" for manifest, before in _sets.values() if repr(manifest) != before]
    _run.clear()
    _sets.clear()
    return found


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Fails the test that changed something."""
    yield
    if found := changed():
        pytest.fail(f"this test changed {' and '.join(found)}", pytrace=False)


def _watch() -> None:
    build, run, generation_of = Program.__init__, Program._run, StepContext.generation

    @wraps(build)
    def watched_build(self: Program, *arguments: Any, **named: Any) -> None:
        build(self, *arguments, **named)
        constants = constants_of(self)
        _programs[self] = constants, as_bytes(constants)

    @wraps(run)
    def watched_run(self: Program, *arguments: Any, **named: Any) -> None:
        _run.add(self)
        run(self, *arguments, **named)

    @wraps(generation_of)
    def watched_generation(self: StepContext, manifest: Manifest, snapshot: Snapshot) -> Generation | None:
        generation = generation_of(self, manifest, snapshot)
        if generation is not None:
            watch_set(generation.entry.manifest)
        return generation

    Program.__init__ = watched_build  # type: ignore[method-assign]
    Program._run = watched_run  # type: ignore[method-assign]
    StepContext.generation = watched_generation  # type: ignore[method-assign]


_watch()
