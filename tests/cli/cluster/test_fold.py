"""What is said of many objects alike is said once."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from unittest import mock

import pytest

from applier.errors import Forbidden
from applier.events import Finished, Waiting, WaveStarted
from applier.outcome import Action, Outcome, Step
from applier.ref import Ref
from applier.testing.virtual_time import in_virtual_time
from grove_cli.cluster.lines import FOLDING_PERIOD, OutcomeLines, WaitLines
from grove_cli.cluster.words import Folding, More, alike, folded
from grove_cli.terminal import Terminal

from .in_memory import Bench, config_map


def ref(number: int) -> Ref:
    return Ref("", "ConfigMap", "shop", f"a{number}")


def said(*whys: str) -> list[str]:
    """Lines about one object after the other."""
    found: list[str] = []
    folding = Folding(found.append, " (all)")
    for number, why in enumerate(whys):
        folding.add(ref(number), why)
    folding.end()
    return found


def line(number: int, why: str = "why") -> str:
    return f"ConfigMap/shop/a{number}: {why}"


@pytest.mark.parametrize(
    ("number", "lines"),
    [
        (0, []),
        (3, [line(0), line(1), line(2)]),
        (4, [line(0), line(1), line(2), line(3)]),
        (5, [line(0), line(1), line(2), "and 2 more: why (all)"]),
        (500, [line(0), line(1), line(2), "and 497 more: why (all)"]),
    ],
)
def test_the_first_objects_are_named_and_the_rest_is_counted(number: int, lines: list[str]) -> None:
    assert said(*["why"] * number) == lines


def test_reasons_are_counted_apart_and_the_rest_comes_last() -> None:
    lines = said(*["one", "two"] * 5)
    assert [one.partition(": ")[2] for one in lines[:6]] == ["one", "two"] * 3
    assert lines[6:] == ["and 2 more: one (all)", "and 2 more: two (all)"]


@pytest.mark.parametrize(
    "why",
    [
        'configmaps "{name}" is forbidden: exceeded quota',
        "{ref} is too large",
        "waits for ConfigMap/shop/{name}-first, which failed",
        "waits for Secret/shop/{name}, which waits for Job.batch/x, which is held",
        "helm (Update at 2026-01-01T00:00:0{digit}Z) owns data.x",
    ],
)
def test_what_differs_from_object_to_object_makes_no_reason_another(why: str) -> None:
    whys = {alike(ref(number), why.format(name=f"a{number}", ref=ref(number), digit=number)) for number in range(9)}
    assert len(whys) == 1


def test_a_name_that_is_part_of_a_word_is_left_in_it() -> None:
    assert alike(Ref("", "ConfigMap", "shop", "a"), "a webhook said no") == "a webhook said no"


# While a run goes on.


def outcome(number: int) -> Finished:
    return Finished(Outcome(Step(ref(number), Action.CREATED), Action.FAILED, "why"))


def test_the_first_failures_are_told_at_once_and_the_rest_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    lines = OutcomeLines(Terminal(colours=False, width=100, wraps=False))
    for number in range(9):
        lines.sink(outcome(number))
    lines.sink(WaveStarted(1, 9))
    lines.sink(outcome(9))
    assert capsys.readouterr().err.splitlines() == [f"grove: {line(number, 'failed: why')}" for number in range(3)]
    lines.rest([])
    assert capsys.readouterr().err == "grove: and 7 more: failed: why (-o json names all)\n"


@in_virtual_time
async def test_of_what_is_learnt_to_wait_within_a_moment_the_first_are_named() -> None:
    lines, told = WaitLines(), list[str]()
    with mock.patch("builtins.print", lambda line, **_: told.append(line)):
        for number in range(9):
            lines.sink(Waiting(ref(number), "no pods"))
            await asyncio.sleep(FOLDING_PERIOD / 10)
        assert told == [f"configmap/a{number} waits: no pods" for number in range(3)]
        await asyncio.sleep(FOLDING_PERIOD)
        lines.sink(Waiting(ref(1), "no pods"))
    assert told[3:] == ["and 6 more: waits: no pods", "configmap/a1 waits: no pods"]


@in_virtual_time
async def test_what_waits_is_told_when_a_run_ends_before_the_moment_is_over() -> None:
    lines, told = WaitLines(), list[str]()
    with mock.patch("builtins.print", lambda line, **_: told.append(line)):
        for number in range(9):
            lines.sink(Waiting(ref(number), "no pods"))
        lines.end()
        assert told[3:] == ["and 6 more: waits: no pods"]
        await asyncio.sleep(2 * FOLDING_PERIOD)
    assert len(told) == 4


# In what is told at the end.


def step(number: int, action: Action = Action.FAILED, wave: int = 0) -> Step:
    return Step(ref(number), action, "why", wave=wave)


def itself(step: Step) -> Step:
    return step


def test_what_would_be_done_is_never_folded() -> None:
    steps = [step(number, Action.CREATED) for number in range(9)]
    shown = folded(steps, itself)
    assert list(shown) == steps


def test_the_number_stands_behind_the_last_that_is_named_and_in_each_wave() -> None:
    steps = [step(number, wave=number // 10) for number in range(20)]
    shown = folded(steps, itself)
    assert list(shown) == [*steps[:3], More(7, "failed: why"), *steps[10:13], More(7, "failed: why")]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    found = Bench(tmp_path)
    found.cluster.fail("apply", Forbidden(403, "Forbidden", "no"), times=-1)
    return found


MANY = [config_map(f"a{number:03}", "nowhere") for number in range(300)]


@pytest.mark.parametrize("command", [("diff",), ("plan",), ("apply",), ("apply", "--dry-run"), ("apply", "-o", "name"), ("delete",)])
def test_an_account_of_hundreds_of_failures_is_a_few_lines(bench: Bench, command: tuple[str, ...]) -> None:
    ended = bench.run(*command, bench.file(*MANY))
    text = ended.out + ended.err
    assert (ended.code, "and 297 more" in text, len(text.splitlines()) < 15) == (2, True, True)


def test_programs_get_all_of_them(bench: Bench) -> None:
    ended = bench.run("apply", "-o", "json", bench.file(*MANY))
    assert (len(json.loads(ended.out)["objects"]), len(ended.err.splitlines())) == (300, 4)


def test_failures_are_told_beside_names_and_accounts_of_deletes_too(bench: Bench) -> None:
    bench.cluster.seed(config_map("a"))
    bench.cluster.fail("delete", Forbidden(403, "Forbidden", "no"), times=-1)
    for output in ("name", "json"):
        assert bench.run("delete", "-o", output, bench.file(config_map("a"))).err == "grove: ConfigMap/shop/a: failed: no\n"
