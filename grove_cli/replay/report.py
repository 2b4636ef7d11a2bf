"""Formats the results of replays as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from grove_cli.terminal import Terminal, visible
from grove_compiler.kube.timestamp import timestamp
from grove_compiler.replay.bundle import Bundle
from grove_compiler.replay.replay import Replayed
from grove_compiler.replay.views import in_words
from grove_compiler.source.yaml_writer import write_yaml
from grove_compiler.version import __version__


class ReplayedBundle(NamedTuple):
    """A replayed bundle; `name` is that of the rules."""

    file: str
    bundle: Bundle
    replayed: Replayed
    name: str


def report_text(report: ReplayedBundle, terminal: Terminal) -> str:
    """Returns a line with the result, followed by different inputs and the differences of the decision."""
    return "\n".join(_lines(report, terminal)) + "\n"


def report_value(report: ReplayedBundle) -> dict[str, Any]:
    """Returns the result as JSON, with the new decision and the recorded writes."""
    bundle, replayed = report.bundle, report.replayed
    return {
        "file": report.file,
        "key": str(bundle.key),
        "time": timestamp(bundle.now),
        "equal": replayed.is_equal,
        "rules": {"recorded": bundle.rules, "here": report.name},
        "version": {"recorded": bundle.version, "here": __version__},
        "notRecorded": [in_words(read) for read in replayed.missing],
        "decision": replayed.decision,
        **({} if replayed.is_equal else {"recorded": bundle.decision}),
        "writes": bundle.writes,
    }


def _lines(report: ReplayedBundle, terminal: Terminal) -> Iterator[str]:
    bundle, replayed = report.bundle, report.replayed
    word = terminal.paint("same   ", "32") if replayed.is_equal else terminal.paint("differs", "31")
    yield f"{word}  {visible(str(bundle.key))}  {timestamp(bundle.now)}  {visible(report.file)}"
    if bundle.version != __version__:
        yield f"  recorded with release {visible(bundle.version)}; this is {__version__}"
    if bundle.rules and bundle.rules != report.name:
        yield "  recorded with different rules; pass those with --rules"
    for question in dict.fromkeys(map(in_words, replayed.missing)):
        yield f"  not recorded: {visible(question)}"
    if not replayed.is_equal:
        then, now = (write_yaml([decision]).split("\n")[:-1] for decision in (bundle.decision, replayed.decision))
        yield from terminal.diff(then, now, f"recorded/{bundle.key}", f"here/{bundle.key}")
