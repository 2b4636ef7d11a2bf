"""How `@rows` reports the rows of a table, seen from a run of pytest."""

from __future__ import annotations

import pytest

from tests.suite.rows import rows

pytest_plugins = ["pytester"]

HEAD = """
import asyncio
import pytest
from tests.suite.rows import rows
"""


def run(pytester: pytest.Pytester, source: str) -> tuple[dict[str, int], str]:
    """Returns how many tests ended in which way, and what was printed."""
    pytester.makepyfile(HEAD + source)
    options = ("asyncio_mode=auto", "asyncio_default_fixture_loop_scope=function")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", *(f"--override-ini={option}" for option in options))
    return result.parseoutcomes(), result.stdout.str()


def test_a_table_is_one_test_that_runs_every_row(pytester: pytest.Pytester) -> None:
    outcomes, _ = run(
        pytester,
        """
seen = []

@rows("number", range(20))
def test_numbers(number): seen.append(number)

def test_all_were_seen(): assert seen == list(range(20))
""",
    )
    assert outcomes == {"passed": 2}


def test_all_rows_that_fail_are_listed_with_what_they_assert(pytester: pytest.Pytester) -> None:
    outcomes, printed = run(
        pytester,
        """
@rows(("text", "length"), [("good", 4), ("bad", 4), ("fine", 4), ("worse", 4)])
def test_lengths(text, length): assert len(text) == length
""",
    )
    assert outcomes == {"failed": 1}
    assert "2 of 4 rows fail:" in printed
    assert "[bad-4]" in printed
    assert "[worse-4]" in printed
    assert "[good-4]" not in printed
    assert "AssertionError: assert 3 == 4" in printed
    assert "where 5 = len('worse')" in printed


def test_the_first_row_that_fails_has_its_whole_traceback(pytester: pytest.Pytester) -> None:
    _, printed = run(
        pytester,
        """
def refuse(number): raise ValueError(f"no {number}")

@rows("number", [1, 2])
def test_numbers(number): refuse(number)
""",
    )
    assert 'def refuse(number): raise ValueError(f"no {number}")' in printed
    assert "E   ValueError: no 1" in printed
    assert "    ValueError: no 2" in printed
    assert "rows.py" not in printed


@pytest.mark.parametrize(
    ("table", "row"),
    [
        ('"a", [1], ids=["one"]', "[one]"),
        ('"a", [1], ids=[7]', "[7]"),
        ('"a", [1], ids=[None]', "[1]"),
        ('"a", [1], ids=lambda value: f"n{value}"', "[n1]"),
        ('"a", [pytest.param(1, id="one")]', "[one]"),
        ('["a"], [[1]]', "[1]"),
        ('"a,", [[1]]', "[[1]]"),
        ('"a", [None]', "[None]"),
        ('"a", [int]', "[int]"),
        ('"a", ["\\n"]', "['\\n']"),
        ('"a", ["x" * 100]', f"[{'x' * 59}…]"),
        ('"a", lambda: [1]', "[1]"),
        ('"a", {"one": 1}', "[one]"),
    ],
)
def test_a_row_is_named_as_for_parametrize(pytester: pytest.Pytester, table: str, row: str) -> None:
    outcomes, printed = run(pytester, f"@rows({table})\ndef test_never(a): assert False\n")
    assert outcomes == {"failed": 1}
    assert f"{row}\n" in printed


def test_stacked_tables_are_multiplied(pytester: pytest.Pytester) -> None:
    _, printed = run(
        pytester,
        """
@rows("left", [1, 2])
@rows("right", ["x", "y"])
def test_never(left, right): assert False
""",
    )
    assert "4 of 4 rows fail:" in printed
    assert all(f"[{row}]" in printed for row in ("x-1", "x-2", "y-1", "y-2"))


def test_marks_and_parametrize_go_with_rows(pytester: pytest.Pytester) -> None:
    outcomes, _ = run(
        pytester,
        """
@pytest.mark.skip
@rows("number", [1, 2])
def test_skipped(number): assert False

@pytest.mark.parametrize("letter", "ab")
@rows("number", [1, 2])
def test_both(number, letter): assert number in (1, 2) and letter in "ab"
""",
    )
    assert outcomes == {"passed": 2, "skipped": 1}


def test_an_asynchronous_test_has_rows_as_well(pytester: pytest.Pytester) -> None:
    outcomes, printed = run(
        pytester,
        """
@rows("number", [1, 2, 3])
async def test_numbers(number):
    await asyncio.sleep(0)
    assert number == 2
""",
    )
    assert outcomes == {"failed": 1}
    assert "2 of 3 rows fail:" in printed


def test_each_row_has_a_folder_and_patches_of_its_own_and_other_fixtures_are_shared(pytester: pytest.Pytester) -> None:
    outcomes, _ = run(
        pytester,
        """
import os

@pytest.fixture
def shared(): return []

@rows("number", [0, 1, 2])
def test_rows(number, shared, tmp_path, monkeypatch):
    (tmp_path / "file").open("x").close()
    assert "ROW" not in os.environ
    monkeypatch.setenv("ROW", str(number))
    shared.append(number)
    assert len(shared) == number + 1

def test_after(): assert "ROW" not in os.environ
""",
    )
    assert outcomes == {"passed": 2}


def test_a_parameter_may_have_any_name(pytester: pytest.Pytester) -> None:
    names = ("test", "row", "running", "instance", "fixtures", "arguments")
    outcomes, _ = run(pytester, f"@rows({names}, [range(6)])\ndef test_all({', '.join(names)}): assert (test, arguments) == (0, 5)\n")
    assert outcomes == {"passed": 1}


def test_a_skipped_row_is_a_warning(pytester: pytest.Pytester) -> None:
    outcomes, printed = run(
        pytester,
        """
@rows("number", [1, 2])
def test_some(number):
    if number == 1: pytest.skip("no server")
""",
    )
    assert outcomes == {"passed": 1, "warnings": 1}
    assert "row [1] was skipped: no server" in printed


def test_a_test_is_skipped_if_all_rows_are(pytester: pytest.Pytester) -> None:
    outcomes, _ = run(pytester, '@rows("number", [1, 2])\ndef test_none(number): pytest.skip("no server")\n')
    assert outcomes == {"skipped": 1}


def test_a_row_that_fails_by_a_call_of_pytest_is_listed(pytester: pytest.Pytester) -> None:
    _, printed = run(pytester, '@rows("number", [1, 2])\ndef test_none(number): pytest.fail(f"not {number}")\n')
    assert "2 of 2 rows fail:" in printed
    assert "    not 2" in printed


@pytest.mark.parametrize("values", ["[]", "lambda: []", "(each for each in ())"])
def test_an_empty_table_fails(pytester: pytest.Pytester, values: str) -> None:
    outcomes, printed = run(pytester, f'@rows("number", {values})\ndef test_nothing(number): pass\n')
    assert outcomes == {"failed": 1}
    assert "the table has no rows" in printed


def test_a_parameter_that_the_test_lacks_is_refused() -> None:
    with pytest.raises(TypeError, match="test has no parameter nmber"):

        @rows("nmber", [1])
        def test(number: int) -> None: ...
