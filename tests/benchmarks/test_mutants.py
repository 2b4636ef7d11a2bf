"""The faults of the benchmark of the tests are what they should be, they are put where they should be, and runs are compared."""

from __future__ import annotations

import builtins
import gc
from functools import cache, wraps
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.benchmarks.mutation.areas import AREAS, NOT_COLLECTED
from tests.benchmarks.mutation.code import REACHED, LiveFunctions, NoEffect
from tests.benchmarks.mutation.mutant import FOUND, NEVER_ENDS, SPENT, STILLBORN, SURVIVED, Mutant, Result
from tests.benchmarks.mutation.order import Cost, Order, chunks
from tests.benchmarks.mutation.processes import _ended
from tests.benchmarks.mutation.python_mutants import python_mutants
from tests.benchmarks.mutation.report import Comparison, dump, load, not_found, table
from tests.benchmarks.mutation.rule_mutants import rule_mutants
from tests.benchmarks.mutation.sample import sample

ROOT = Path(__file__).parents[2]


def changes(source: str) -> set[tuple[int, str, str]]:
    return {(mutant.line, mutant.kind, mutant.change) for mutant in python_mutants("area", "it.py", source)}


def test_a_condition_has_all_its_faults() -> None:
    assert changes("def f(a: int) -> bool:\n    return a < 3 and not a\n") == {
        (2, "value not returned", "a < 3 and not a -> None"),
        (2, "and/or swapped", "a < 3 and not a -> a < 3 or not a"),
        (2, "comparison negated", "a < 3 -> a >= 3"),
        (2, "boundary moved", "a < 3 -> a <= 3"),
        (2, "constant +1", "3 -> 4"),
        (2, "constant -1", "3 -> 2"),
        (2, "not dropped", "not a -> a"),
    }


def test_statements_have_theirs() -> None:
    assert changes("class C:\n    def f(self, a, b):\n        if a:\n            b(a)\n        self.n += a * b\n        return [a]\n") == {
        (3, "not added", "a -> not a"),
        (3, "condition forced true", "a -> True"),
        (3, "condition forced false", "a -> False"),
        (4, "call dropped", "b(a) -> None"),
        (5, "arithmetic swapped", "self.n += a * b -> self.n -= a * b"),
        (5, "arithmetic swapped", "a * b -> a // b"),
        (6, "value not returned", "[a] -> []"),
    }


UNTOLD = '''
from typing import TYPE_CHECKING
NAME = "text"
if TYPE_CHECKING:
    def only_declared(): return "a"
class C:
    def __repr__(self): return "C"
def f(a: "int" = 1) -> "int":
    """Says it."""
    b: "int"
    log.info("a", 1 < 2)
    self.logger.warning("b")
    assert a, "told"
    if f"{a < 1}": raise ValueError("told" + 1)
'''


def test_what_is_told_to_people_and_to_type_checkers_has_none() -> None:
    assert {kind for _, kind, _ in changes(UNTOLD)} == {"not added", "condition forced true", "condition forced false"}


def test_a_fault_keeps_all_lines_and_columns_in_bytes() -> None:
    source = "def f(a, b):\n    'ä'\n    g('ä', a <\n      b)\n    return a\n"
    mutant = next(one for one in python_mutants("area", "it.py", source) if one.kind == "boundary moved")
    assert mutant.apply(source.encode()).decode() == "def f(a, b):\n    'ä'\n    g('ä', (a <= b\n))\n    return a\n"


RULES = """\
# Two rules.
rule: one
validate: create
when: [a is not none, "b in ['x and y', 'z']"]  # why
assert: >-
  a <= 3 or
  not b
message: a is not 3
---
rule: two
decide: it
cases:
  - {when: a == 1, value: "'a' if b and c else ''"}
  - {value: a > b}
---
constants: {MOST: 12, NAME: a1}
"""


def test_rules_have_faults_and_stay_yaml() -> None:
    found = list(rule_mutants("rules", "rules/it.yaml", RULES))
    for mutant in found:
        assert list(yaml.safe_load_all(mutant.apply(RULES.encode()))) != list(yaml.safe_load_all(RULES)), mutant
    assert sorted((one.line, one.kind) for one in found) == [
        (2, "rule dropped"),
        (4, "comparison negated"), (4, "comparison negated"), (4, "condition dropped"), (4, "condition dropped"),
        (6, "and/or swapped"), (6, "assertion negated"), (6, "boundary moved"), (6, "comparison negated"), (6, "number +1"),
        (7, "not dropped"),
        (13, "and/or swapped"), (13, "comparison negated"), (13, "number +1"),
        (14, "boundary moved"), (14, "comparison negated"),
        (16, "number +1"),
    ]  # fmt: skip


def test_a_rule_changes_as_is_said() -> None:
    after = {one.kind: yaml.safe_load_all(one.apply(RULES.encode())) for one in rule_mutants("rules", "rules/it.yaml", RULES)}
    documents = {kind: list(values) for kind, values in after.items()}
    assert documents["assertion negated"][0]["assert"] == "not (a <= 3 or not b)"
    assert [one.get("rule") for one in documents["rule dropped"]] == ["two", None]
    assert documents["number +1"][2]["constants"] == {"MOST": 13, "NAME": "a1"}
    assert documents["not dropped"][0]["assert"] == "a <= 3 or b"


def test_a_sample_is_the_same_for_a_seed_and_its_mutants_differ() -> None:
    area = next(area for area in AREAS if area.name == "loop")
    one, again, other = (sample(ROOT, [area], 60, seed) for seed in (1, 1, 2))
    assert one == again != other
    assert len({mutant.identity for mutant in one}) == len(one) == 10
    assert set(sample(ROOT, [area], 30, 1)) < set(one)


def test_each_area_has_sources_and_tests() -> None:
    assert [area.name for area in AREAS if not list(area.files(ROOT))] == []
    folders = [*NOT_COLLECTED, *(folder for area in AREAS for folder in area.tests)]
    assert [folder for folder in folders if not (ROOT / folder).is_dir()] == []


MODULE = """
def decorated(function):
    @wraps(function)
    def inner(*arguments):
        return function(*arguments)
    return inner

class C:
    @property
    def one(self):
        return 1

    @cache
    def two(self):
        return [2 for _ in range(2)]

@decorated
def three():
    if 0:
        return 4
    return (lambda: 3)()
"""


def load_module(path: Path) -> dict[str, Any]:
    path.write_text(MODULE)
    namespace: dict[str, Any] = {"__name__": "it", "wraps": wraps, "cache": cache}
    exec(compile(MODULE, str(path), "exec"), namespace)
    return namespace


def test_faults_are_put_into_methods_getters_and_what_is_decorated(tmp_path: Path) -> None:
    path = str(tmp_path / "it.py")
    module = load_module(Path(path))
    gc.freeze()  # as the suite does after its collection
    mutants = {one.change: one for one in python_mutants("area", path, MODULE)}
    for change, expected in (("1 -> 2", (2, [2, 2], 3)), ("range(2)", (2, [2, 2], 3)), ("3 -> 4", (1, [2, 2], 4))):
        if change in mutants:
            LiveFunctions([path]).patch(path, MODULE.encode(), mutants[change])
            assert (module["C"]().one, module["C"]().two(), module["three"]()) == expected
            LiveFunctions([path]).patch(path, MODULE.encode(), mutants[change]._replace(text=change.split(" ->")[0]))


def test_a_fault_without_effect_is_an_error(tmp_path: Path) -> None:
    path = str(tmp_path / "it.py")
    module = load_module(Path(path))
    mutant = next(one for one in python_mutants("area", path, MODULE) if one.change == "1 -> 2")
    with pytest.raises(NoEffect, match="the code is the same"):
        LiveFunctions([path]).patch(path, MODULE.encode(), mutant._replace(text="1"))
    del module
    with pytest.raises(NoEffect, match="no such function"):
        LiveFunctions(["elsewhere.py"]).patch("elsewhere.py", MODULE.encode(), mutant)


def test_functions_tell_which_statement_is_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, reached = str(tmp_path / "it.py"), list[int]()
    module = load_module(Path(path))
    monkeypatch.setattr(builtins, REACHED, reached.append, raising=False)
    mutants = dict(enumerate(one for one in python_mutants("area", path, MODULE) if one.function == "three"))
    LiveFunctions([path]).instrument(path, MODULE.encode(), mutants)
    assert module["three"]() == 3
    assert {mutants[number].line for number in reached} == {19, 21}


def mutant(line: int = 1, file: str = "applier/loop/queue.py") -> Mutant:
    return Mutant("loop", file, line, 0, "not dropped", 0, 1, "(a)", "not a -> a", "f", 1, line)


def test_tests_that_reach_a_fault_go_first_and_other_files_stay_out() -> None:
    names = [f"tests/test_{name}" for name in ("a.py::one", "queue.py::one", "queue.py::two", "queue.py::three", "b.py::one")]
    order = Order({name: Cost(1.0, 1.0) for name in names}, {0: {names[0], names[2]}})
    assert order.of(0, mutant(), names) == [names[2], names[0], names[1], names[3]]
    assert order.of(1, mutant(), names) == []
    order.found(mutant(), names[0])
    assert order.of(0, mutant(), names)[0] == names[0]
    assert sorted(chain.from_iterable(chunks(names, 2))) == sorted(names)


def test_how_a_process_ends_says_what_became_of_its_mutant() -> None:
    assert [_ended(code, False, 1.0).outcome for code in (-27, -24, -11)] == [NEVER_ENDS, SPENT, FOUND]
    assert _ended(-9, True, 1.0).outcome == SPENT


def test_a_mutant_that_was_found_and_is_not_any_more_is_a_loss(tmp_path: Path) -> None:
    outcomes = [(FOUND, FOUND), (FOUND, SURVIVED), (SURVIVED, NEVER_ENDS), (NEVER_ENDS, SPENT), (FOUND, STILLBORN)]
    before = [Result(mutant(line), old, "test_it") for line, (old, _) in enumerate(outcomes)]
    after = [Result(mutant(line), new) for line, (_, new) in enumerate(outcomes)]
    dump(before, tmp_path / "before.json", seed=1)
    comparison = Comparison(load(tmp_path / "before.json"), [*after, Result(mutant(99), SURVIVED)])
    assert [after.mutant.line for _, after in comparison.lost] == [1, 3]
    assert [result.mutant.line for result in comparison.won] == [2]
    assert next(comparison.lines()).strip() == "5 mutants are in both runs: 2 are no longer found, 1 are newly found"
    assert list(table(after, {"loop": 3.0}))[2] == "| loop | 4 | 1 | 1 | 1 | 1 | 0 | 50 | 0.0 | 3 |"
    assert "  applier/loop/queue.py:1:1: not dropped: not a -> a" in list(not_found(after))
