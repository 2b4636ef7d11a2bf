"""Runs all rows of a table in one test: `@rows` takes the place of `@pytest.mark.parametrize` where there are dozens of rows or more.

A parametrized test costs a millisecond to collect, in every worker, and another two to run, which is more than most rows need. Pytest's
own `subtests` do not help: each is a report of its own, 0.6 ms without workers and 2 ms with them, which have to send it.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import warnings
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast

import pytest

Test = TypeVar("Test", bound=Callable[..., Any])
Values = Iterable[Any] | Callable[[], Iterable[Any]]
Ids = Iterable[object] | Callable[[Any], object] | None
"""The ids of rows, or what makes the id of a value; `None` where the values shall do."""

MAX_VALUE_LENGTH = 60
"""Characters of a value that become part of its row's id."""


@dataclass(frozen=True)
class Table:
    """The rows of one `@rows`: values for some parameters of a test."""

    names: tuple[str, ...]
    single: bool
    """Whether a row is a value rather than a tuple of values: as for `parametrize`, where a string has one name."""
    values: Values
    ids: Ids

    def rows(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yields each row's id and its values by name."""
        values = self.values() if callable(self.values) else self.values
        for number, entry in enumerate(values):
            one, given = self._row(entry)
            label = given or (self.ids[number] if isinstance(self.ids, Sequence) else None)
            yield str(label or "-".join(_label(value, self.ids) for value in one)), dict(zip(self.names, one, strict=True))

    def _row(self, entry: Any) -> tuple[Sequence[Any], str | None]:
        """Returns the values of a row, and the id it has been given by `pytest.param`."""
        if isinstance(entry, type(pytest.param())):
            if entry.marks:
                raise TypeError(f"a row cannot have marks, as {entry} does: leave the test parametrized")
            return entry.values, entry.id if isinstance(entry.id, str) else None
        return (entry,) if self.single else tuple(entry), None


def _label(value: Any, ids: Ids) -> str:
    """Returns what a value contributes to the id of its row."""
    if callable(ids) and (label := ids(value)) is not None:
        return str(label)
    text = value if isinstance(value, str) and value.isprintable() else getattr(value, "__name__", None) or repr(value)
    return text if len(text) <= MAX_VALUE_LENGTH else text[: MAX_VALUE_LENGTH - 1] + "…"


@dataclass
class Outcomes:
    """What became of the rows of a table."""

    passed: int = 0
    failed: list[tuple[str, BaseException]] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)

    def note(self, row: str, raised: BaseException | None) -> None:
        """Notes how a row ended."""
        if raised is None:
            self.passed += 1
        elif isinstance(raised, pytest.skip.Exception):
            self.skipped.append((row, str(raised.msg)))
        else:
            self.failed.append((row, raised))

    def report(self) -> None:
        """Fails if a row has failed or there is none, and skips the test if all of them were skipped."""
        __tracebackhide__ = True
        if self.failed:
            self._fail()
        if not self.passed and not self.skipped:
            pytest.fail("the table has no rows")
        if not self.passed:
            pytest.skip(f"all {len(self.skipped)} rows: {self.skipped[0][1]}")
        for row, reason in self.skipped:
            warnings.warn(pytest.PytestWarning(f"row [{row}] was skipped: {reason}"), stacklevel=1)

    def _fail(self) -> NoReturn:
        __tracebackhide__ = True
        count = self.passed + len(self.failed) + len(self.skipped)
        listed = [f"[{row}]\n{_indented(raised)}" for row, raised in self.failed]
        raise AssertionError("\n\n".join([f"{len(self.failed)} of {count} rows fail:", *listed])) from self.failed[0][1]


def _indented(raised: BaseException) -> str:
    text = str(raised) if isinstance(raised, AssertionError | pytest.fail.Exception) else f"{type(raised).__name__}: {raised}"
    return "\n".join(f"    {line}" for line in text.splitlines() or [type(raised).__name__])


def rows(names: str | Sequence[str], values: Values, *, ids: Ids = None) -> Callable[[Test], Test]:
    """Has a test run all rows of a table, and fail with a list of all rows that fail, and with the traceback of the first.

    It takes the arguments of `@pytest.mark.parametrize`, and can be stacked like it, for all combinations. `values` may be a function, too,
    which is called when the test runs: what takes time to prepare does not delay collection then.

    The rows share the fixtures of the test, but for two: each row has a `tmp_path` and a `monkeypatch` of its own.
    """
    parameters = tuple(name.strip() for name in names.split(",") if name.strip()) if isinstance(names, str) else tuple(names)
    single = isinstance(names, str) and len(parameters) == 1
    kept = values if callable(values) else list(values)
    table = Table(parameters, single, kept, ids if callable(ids) or ids is None else list(ids))

    def decorate(test: Test) -> Test:
        inner, tables = getattr(test, "rows_of", (test, ()))
        return cast("Test", _over(inner, (*tables, table)))

    return decorate


def _over(test: Any, tables: tuple[Table, ...]) -> Any:
    """Returns a test that runs another one for all combinations of the rows of tables; to pytest it lacks the tables' parameters."""
    if hasattr(test, "is_hypothesis_test"):
        raise TypeError(f"{test.__name__} is a property: leave it parametrized")
    signature = inspect.signature(test)
    taken = {name for table in tables for name in table.names}
    if unknown := taken - set(signature.parameters):
        raise TypeError(f"{test.__name__} has no parameter {', '.join(sorted(unknown))}")

    def passed_on(fixtures: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yields the id of each row and the arguments of the test for it."""
        for number, parts in enumerate(itertools.product(*(list(table.rows()) for table in tables))):
            arguments = dict(fixtures)
            if isinstance(folder := fixtures.get("tmp_path"), Path):
                arguments["tmp_path"] = folder / f"row-{number}"
                arguments["tmp_path"].mkdir()
            for _, values in parts:
                arguments.update(values)
            if "monkeypatch" not in fixtures:
                yield "-".join(label for label, _ in parts), arguments
                continue
            with pytest.MonkeyPatch.context() as arguments["monkeypatch"]:
                yield "-".join(label for label, _ in parts), arguments

    if inspect.iscoroutinefunction(test):

        async def run_all(*instance: Any, **fixtures: Any) -> None:
            __tracebackhide__ = True
            outcomes = Outcomes()
            for row, arguments in passed_on(fixtures):
                outcomes.note(row, await _raised_by_coroutine(test(*instance, **arguments)))
            outcomes.report()
    else:

        def run_all(*instance: Any, **fixtures: Any) -> None:  # type: ignore[misc]
            __tracebackhide__ = True
            outcomes = Outcomes()
            for row, arguments in passed_on(fixtures):
                outcomes.note(row, _raised_by(functools.partial(test, *instance, **arguments)))
            outcomes.report()

    run: Any = functools.wraps(test)(run_all)
    run.__signature__ = signature.replace(parameters=[each for name, each in signature.parameters.items() if name not in taken])
    run.rows_of = (test, tables)
    return run


def _raised_by(running: Callable[[], None]) -> BaseException | None:
    """Returns what a test raised for a row; an interrupt or an exit ends all rows."""
    __tracebackhide__ = True
    try:
        running()
    except (Exception, pytest.fail.Exception, pytest.skip.Exception) as raised:
        return raised
    return None


async def _raised_by_coroutine(running: Awaitable[None]) -> BaseException | None:
    """Returns what an asynchronous test raised for a row."""
    __tracebackhide__ = True
    try:
        await running
    except (Exception, pytest.fail.Exception, pytest.skip.Exception) as raised:
        return raised
    return None
