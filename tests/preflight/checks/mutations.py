"""Has accidents happen to what tools print of failures, and counts those after which it is judged as a pass. There may be none.

`python -m tests.preflight.checks.mutations 1000000 [SEED]` tries so many, shared out over all outputs, and prints those that passed.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

from preflight_images.dcgm_diag.check import ProcessResult
from preflight_images.dcgm_diag.check import verdict as of_dcgm
from preflight_images.dcgm_diag.verdict import required_tests
from preflight_images.nccl_allreduce.check import judge as of_ranks
from preflight_images.nccl_allreduce.check import read_report
from preflight_images.nccl_loopback.check import verdict as of_nccl
from preflight_images.shared.outcome import PASSED, CheckOutcome

from .recorded import RELEASES, WARNING, entity, leveled, sweep, v3, v4

OWN = {0: "GPU-a", 1: "GPU-b"}
FAILURE_FOUND = 226
"""The exit code of a diagnostic that found one."""
THRESHOLD = 10.0
VALUES = ("null", "true", "false", "0", "1", "-1", "1.5", '""', '"x"', "[]", "{}", "nan", "Infinity", "N/A")
MAX_ACCIDENTS = 4


class Recorded(NamedTuple):
    """What a tool has printed of a failure, what it prints of a success, and how a check judges such texts."""

    name: str
    text: str
    healthy: str
    judged: Callable[[str], CheckOutcome]


def recorded() -> Iterator[Recorded]:
    """Yields the outputs of all tools, of failures of all sorts."""
    yield from _of_dcgm()
    for release, text in [*RELEASES.items(), *((f"{release}, all sizes", sweep(release)) for release in RELEASES)]:
        yield Recorded(f"nccl {release}, slow", slowed(text), text, lambda text: of_nccl(0, text, THRESHOLD, 2))
        wrong = text.replace("values : 0 OK", "values : 3 FAILED")
        yield Recorded(f"nccl {release}, wrong", wrong, text, lambda text: of_nccl(1, text, THRESHOLD, 2))
        failed = text.partition("# Out of")[0] + "node: Test NCCL failure common.cu:958 'unhandled system error / '\n"
        yield Recorded(f"nccl {release}, failed", failed, text, lambda text: of_nccl(3, text, THRESHOLD, 2))
    well = json.dumps({"bus_bandwidth_gbps": 100.0, "ranks": 4, "phase": "collective", "rank": 1})
    for name, report in {
        "error": {"error": "DistBackendError: NCCL error in: x.cpp:1", "phase": "collective", "rank": 1},
        "timeout": {"error": "DistStoreError: Timed out", "phase": "init", "rank": 1},
    }.items():
        yield Recorded(f"rank, {name}", json.dumps(report), well, _of_second_rank)


def _of_dcgm() -> Iterator[Recorded]:
    memory = ("memory",)
    sick = {
        "3.1": v3({"gpu_ids": "0", "status": "Pass"}, {"gpu_ids": "1", "status": "Fail", "warnings": "ECC", "error_id": 4}),
        "3.3": v3({"gpu_id": "0", "status": "Pass"}, {"gpu_id": "1", "status": "Fail"}),
        "4": v4(entity(0, "Pass"), entity(1, "Fail", warnings=[WARNING])),
        "rounds": {"iterations": [v4(entity(0, "Pass"), entity(1, "Pass")), v4(entity(0, "Pass"), entity(1, "Fail"))]},
    }
    for form, document in sick.items():
        yield _diagnostic(f"dcgm {form}", document, v4(entity(0, "Pass"), entity(1, "Pass")), FAILURE_FOUND, memory)
    for version in (3, 4):
        for level in (1, 2, 3, 4):
            tests, well = required_tests({}, level), leveled(level, version)
            failing = {"software": "Fail"} if level == 1 else {f"{tests[-1]}_1": "Fail"}
            yield _diagnostic(f"dcgm {version}, level {level}, failed", leveled(level, version, **failing), well, FAILURE_FOUND, tests)
            yield _diagnostic(f"dcgm {version}, level {level}, not run", leveled(level, version, **{tests[-1]: "Not Run"}), well, 0, tests)


def _diagnostic(name: str, document: dict[str, Any], well: dict[str, Any], code: int, tests: tuple[str, ...]) -> Recorded:
    def judged(text: str) -> CheckOutcome:
        return of_dcgm(ProcessResult(code, text, ""), OWN, tests)

    return Recorded(name, json.dumps(document, indent=2), json.dumps(well, indent=2), judged)


def _of_second_rank(text: str) -> CheckOutcome:
    first = {"rank": 0, "phase": "collective", "bus_bandwidth_gbps": 100.0, "ranks": 4}
    return of_ranks([first, read_report("000001", text)], 2, THRESHOLD, "torchrun ended with exit code 1", 4)


def slowed(text: str) -> str:
    """An output of `all_reduce_perf` with a tenth of the bandwidth: all of its columns say so."""
    for number, slower in {"6.468 ": "64.68 ", "6.391 ": "63.91 ", "6468.3": "64683 ", "6391.3": "63913 ", "6.47e+03": "6.47e+04"}.items():
        text = text.replace(number, slower)
    return text.replace("41.50   41.50", " 4.15    4.15").replace("41.50  41.50", " 4.15   4.15").replace("42.00", " 4.20")


def garbled(one: Recorded, random: Random) -> str:
    """Returns an output after some accidents, or beside that of a success."""
    if random.randrange(20) == 0:
        between = random.choice(("", "\n", " ", "Error: the diagnostic was aborted\n"))
        return between.join(random.choice(((one.text, one.healthy), (one.healthy, one.text))))
    text = one.text
    for _ in range(random.randint(1, MAX_ACCIDENTS)):
        text = accident(text, random)
    return text


def accident(text: str, random: Random) -> str:
    """Returns a text after one accident."""
    match random.randrange(7):
        case 0:
            begin, end = _part(text, random)
            return text[:begin] + text[end:]
        case 1:
            begin, end = _part(text, random)
            at = random.choice((end, _part(text, random)[0]))
            return text[:at] + text[begin:end] + text[at:]
        case 2:
            (a, b), (c, d) = sorted((_part(text, random), _part(text, random)))
            return text if c < b else text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]
        case 3:
            at = random.randint(0, len(text))
            return text[:at] if random.random() < 0.8 else text[at:]
        case 4:
            return _with_another(r"[0-9]", text, random, lambda: random.choice(("", *"0123456789", str(random.randrange(100)))))
        case 5:
            return _with_another(r'"[^"]*"|[0-9.e+-]+|\b\w+\b', text, random, lambda: random.choice(VALUES))
        case _:
            return text + random.choice(("", "\n")) + text


def _part(text: str, random: Random) -> tuple[int, int]:
    """Begin and end of a line, of a word, of some lines, or of some characters."""
    begin = random.randint(0, len(text))
    match random.randrange(4):
        case 0:
            return begin, min(len(text), begin + random.randrange(1, 80))
        case 1:
            word = re.compile(r"\S+\s*").search(text, begin)
            return word.span() if word is not None else (begin, begin)
        case lines:
            begin, end = text.rfind("\n", 0, begin) + 1, begin
            for _ in range(1 if lines == 2 else random.randrange(2, 9)):
                end = text.find("\n", end) + 1 or len(text)
            return begin, end


def _with_another(pattern: str, text: str, random: Random, drawn: Callable[[], str]) -> str:
    places = [match.span() for match in re.finditer(pattern, text)]
    if not places:
        return text
    begin, end = random.choice(places)
    return text[:begin] + drawn() + text[end:]


def passing(each: int, seed: int) -> Iterator[tuple[str, str]]:
    """Yields the name of each recorded output, and the text, that passes after accidents; `each` output has so many tries."""
    for one in recorded():
        random = Random(f"{seed} {one.name}")
        for _ in range(each):
            text = garbled(one, random)
            if one.judged(text).exit_code == PASSED:
                yield one.name, text


def main(total: int, seed: int) -> int:
    outputs, began = len(list(recorded())), time.monotonic()
    each = -(-total // outputs)
    passed = list(passing(each, seed))
    for name, text in passed:
        print(f"--- {name}\n{text}")
    print(f"{each * outputs} tries over {outputs} outputs, seed {seed}: {len(passed)} passed, {time.monotonic() - began:.0f} s")
    return 1 if passed else 0


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]), int(sys.argv[2]) if sys.argv[2:] else 0))
