"""The rules that ship, for tests of one room alone."""

from __future__ import annotations

from functools import cache

from grove_cli import rulebook
from grove_compiler.compile import VOCABULARY
from grove_compiler.engine.runtime.program import Program
from grove_compiler.model.decisions import DecisionRules


@cache
def program() -> Program:
    """The program of `rules/` and `templates/`."""
    return rulebook.read().program(VOCABULARY)


@cache
def program_without_pod_rules() -> Program:
    """The same program, but for the rules about pod templates: for templates that hold everything, and that no server would take."""
    files = rulebook.read().files
    return rulebook.Rulebook(tuple(file for file in files if not file.name.startswith("rules/validation/pod/"))).program(VOCABULARY)


@cache
def decisions() -> DecisionRules:
    """What `rules/` decides."""
    return DecisionRules(program().decisions)
