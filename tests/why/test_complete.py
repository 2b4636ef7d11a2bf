"""Each reason to wait that the rules know is told in a test, on recorded objects and beside an operator."""

from __future__ import annotations

from grove_operator.controller.waiting import HELD
from tests.features.compiling import shipped_program

from .live.situation import cases as live_cases
from .test_cases import CASES, read, rules_in, told
from .test_updates import rules_of_updates


def test_every_reason_to_wait_is_told_in_a_case() -> None:
    in_cases = {rule for path in CASES for rule in rules_in(told(read(path))[1])}
    assert written() - in_cases - rules_of_updates() == set()


def test_every_reason_to_wait_is_brought_about_on_a_real_server() -> None:
    assert written() == {case["rule"] for case in live_cases()}


def written() -> set[str]:
    """The rules that tell a reason to wait, and what stands for one where no rule runs."""
    return {rule.id for rule in shipped_program().rules if rule.verb == "wait"} | {HELD}
