"""Implements `grove test`: compiles test cases, and compares with expected results."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

import click

from grove_cli import output as outputs
from grove_cli.errors import UnreadableInput
from grove_cli.golden.case import Case, find_cases
from grove_cli.golden.outcome import CaseOutcome
from grove_cli.golden.run import Runner
from grove_cli.options import FILES, output_option, rules_option
from grove_compiler.graph.nearest import nearest

DELAY = 0.5
"""Seconds until progress is shown on a terminal."""
INTERVAL = 10.0
"""Seconds between two progress lines in a log."""


@click.command(
    "test",
    epilog="""\b
A case is a folder with
  input.yaml               what is compiled
  expected.yaml            all generated objects
  expected-findings.yaml   every finding (either of the two, or both)
and, if needed, config.yaml, snapshot.yaml, old.yaml (the sets before an update), a folder rules/, and
  options.yaml             namespace, kubeVersion, pods, maxObjects, mnnvlShape, strict, rules (folders), kinds (to compare)

\b
Examples:
  grove test tests/                          all cases below, with their own rules
  grove test tests/ --rules our-rules/       with a directory of rules for all of them
  grove test tests/ -k 'queue*' -k gpu       only cases whose names match
  grove test tests/ --update                 write the actual output; review the diff before you commit it
  grove test tests/ -o junit > report.xml    for a build server

\b
Exit codes: 0 all passed, 1 some failed, 2 some could not be run.""",
)
@click.argument("folders", metavar="DIR…", nargs=-1, required=True, type=FILES)
@rules_option
@click.option(
    "-k", "filters", metavar="PATTERN", multiple=True, help="Only cases whose path contains this text, or matches it as a glob; repeatable."
)
@click.option("--update", is_flag=True, help="Overwrite expected output with actual output where they differ.")
@click.option("-v", "--verbose", is_flag=True, help="Also list passed cases.")
@output_option("text", "json", "junit", help_text="Output format: text, json, or junit (for build servers).")
def command(folders: tuple[str, ...], rules: tuple[str, ...], filters: tuple[str, ...], update: bool, verbose: bool, output: str) -> int:
    """Compile test cases, and compare objects and fields with the expected ones."""
    cases = _chosen(find_cases(folders), filters)
    runner = Runner(rules, update)
    outcomes = list(_run(runner, cases))
    if output == "json":
        from grove_cli.golden.reports import as_json

        outputs.write([as_json(outcomes)])
    elif output == "junit":
        from grove_cli.golden.reports import as_junit

        outputs.write([as_junit(outcomes)])
    else:
        from grove_cli.golden.reports import write

        write(outcomes, runner.find_file, sys.stdout, verbose)
    statuses = {outcome.status for outcome in outcomes}
    return 2 if "broken" in statuses else 1 if "failed" in statuses else 0


def _chosen(cases: list[Case], filters: Sequence[str]) -> list[Case]:
    """Returns the cases that match a filter; all without filters. Raises `UnreadableInput` for filters without a match."""
    if not filters:
        return cases
    idle = [text for text in filters if not any(_matches(case, text) for case in cases)]
    if idle:
        raise UnreadableInput([_no_match(text, cases) for text in idle])
    return [case for case in cases if any(_matches(case, text) for text in filters)]


def _matches(case: Case, text: str) -> bool:
    name = case.name.replace("\\", "/")
    return text in name or fnmatchcase(name, text) or fnmatchcase(name.rpartition("/")[2], text)


def _no_match(text: str, cases: list[Case]) -> str:
    close = nearest(text, [case.name.replace("\\", "/").rpartition("/")[2] for case in cases])
    return f"no case matches {text!r}" + (f'; did you mean "{close}"?' if close else "")


def _run(runner: Runner, cases: list[Case]) -> Iterator[CaseOutcome]:
    progress = _Progress(len(cases))
    failed = 0
    for number, case in enumerate(cases):
        progress.show(number, failed, case.name)
        start = time.perf_counter()
        outcome = runner.run(case)
        outcome.seconds = time.perf_counter() - start
        failed += outcome.status in ("failed", "broken")
        yield outcome
    progress.end()


class _Progress:
    """Prints the progress of a long run to standard error: one updated line on a terminal, periodic lines in a log."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.terminal = sys.stderr.isatty()
        self.next = time.monotonic() + (DELAY if self.terminal else INTERVAL)
        self.is_shown = False

    def show(self, done: int, failed: int, name: str) -> None:
        now = time.monotonic()
        if now < self.next:
            return
        self.next = now + (DELAY / 5 if self.terminal else INTERVAL)
        text = f"{done} of {self.total} cases{f', {failed} failed' if failed else ''}"
        if self.terminal:
            self.is_shown = True
            sys.stderr.write(f"\r\x1b[K{text}: {name}")
        else:
            sys.stderr.write(f"{text}\n")
        sys.stderr.flush()

    def end(self) -> None:
        if self.is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
