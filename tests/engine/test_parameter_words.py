"""Rules call parameters by their own words, whatever Python has to call them: `type`, `set` and `hash` are functions of Python's."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from grove_compiler.engine.codegen.build import build
from grove_compiler.engine.runtime.program import Program
from grove_compiler.engine.sources import InvalidRules, Vocabulary
from tools.rules_reference import reference

from .bookshop import sources


@dataclass(eq=False)
class Crate:
    types: list[str]

    def holds(self, thing_type: str) -> bool:
        """Whether a thing of that type is in it."""
        return thing_type in self.types


def count(crate: Crate, thing_type: str) -> int:
    """Returns how many things of a type are in a crate."""
    return crate.types.count(thing_type)


def is_full(crate: Crate, thing_type: str) -> bool:
    """Decides whether nothing more of a type fits."""
    raise NotImplementedError


def is_closed(crate: Crate) -> bool:
    """Decides whether a crate is sent."""
    raise NotImplementedError


VOCABULARY = Vocabulary(
    {"crate": Crate}, {"count": count}, decisions={"is_full": is_full, "is_closed": is_closed}, words={"thing_type": "type"}
)


def deciding(is_full: str, is_closed: str = "true") -> Program:
    values = {"is_full": is_full, "is_closed": is_closed}
    return build(
        sources([f"rule: crates/{name.replace('_', '-')}\ndoc: A.\ndecide: {name}\nvalue: {value}\n" for name, value in values.items()]),
        VOCABULARY,
    )


@pytest.mark.parametrize(
    "value",
    [
        "count(crate, type) == 2",
        "count(crate, type=type) == 2",
        "count(type=type, crate=crate) == 2",
        "crate | count(type=type) == 2",
        "crate.holds(type) and count(crate, 'cup') == 0",
        "crate.holds(type=type) and count(crate, 'cup') == 0",
    ],
)
def test_functions_filters_and_methods_are_called_in_the_words_of_rules(value: str) -> None:
    assert deciding(value).decisions.is_full(Crate(["pot", "pot"]), "pot") is True


def test_decisions_ask_for_others_in_the_words_of_rules() -> None:
    made = deciding("count(crate, type) == 2", "is_full(type='pot', crate=crate)")
    assert made.decisions.is_closed(Crate(["pot", "pot"])) is True


@pytest.mark.parametrize(
    "call", ["count(crate, thing_type='pot') == 2", "crate | count(thing_type='pot') == 2", "crate.holds(thing_type='pot')"]
)
def test_the_names_of_python_are_none_of_theirs(call: str) -> None:
    with pytest.raises(InvalidRules, match=r"\(.*, type\): missing a required argument: 'type'"):
        deciding(call)


def test_a_missing_argument_is_named_by_its_word() -> None:
    with pytest.raises(InvalidRules, match=r"count\(crate, type\): missing a required argument: 'type'"):
        deciding("count(crate) == 2")


def test_the_reference_has_the_words_of_rules() -> None:
    text = reference(VOCABULARY)
    assert all(call in text for call in ("`count(crate, type)`", "`is_full`(`crate`: [Crate](#crate), `type`: text)", "`holds(type)`"))
