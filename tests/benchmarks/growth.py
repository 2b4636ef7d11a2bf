"""How the cost of rules grows with a set: `python -m tests.benchmarks.growth [BYTES] [DIMENSION…]`. Ends with 1 where a goal is missed.

A set that the API server stores may have 1.5 MB: thousands of volumes, mounts, ports, claims, cliques, groups. In each dimension a legal
set of a quarter of the size is reviewed, as new and as an update, its first steps and later ones are taken, and its pod templates compared
with the same in another order; then one of the whole size. Goals: the cost is linear (`LINEAR`), and no rule takes more than a second.
CPU time, without the garbage collector, whose runs hit any rule. What is computed once for all rules is in the time of the one that asks
first.

Small reviews are asked while the large set is reviewed, and while its first steps are taken. Goal: each is answered within 50 ms.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from grove_cli import garbage, rulebook
from grove_compiler.compile import VOCABULARY, Inputs, lint_manifests
from grove_compiler.engine.runtime.cost_budget import CostBudget
from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.node import Node
from grove_compiler.kube.semantic_difference import pod_template_differences
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.source.document import Document
from grove_compiler.step import Key, StepContext, StepResult, step
from grove_operator.controller.evaluator import Evaluator
from grove_operator.controller.waiting import RecordedCache
from grove_operator.webhooks.answers import Answers
from grove_operator.webhooks.review import Reviewer
from grove_operator.worker_thread import WorkerThread
from tests.benchmarks.admission import workload
from tests.benchmarks.growth_sets import DIMENSIONS, Manifest, inputs_of
from tests.benchmarks.measure import machine, table
from tests.benchmarks.step import NOW, as_stored
from tests.kube.reversed_lists import reversed_lists
from tests.webhooks.conftest import asked

BYTES = 1_500_000
LINEAR = 8.0
"""Times as much for four times the size: 4, and what caches that are too small for all add. Quadratic is 16."""
MAX_SECONDS = 1.0
MAX_BESIDE = 50.0
"""Milliseconds of a small review beside a large one."""
MAX_ITEMS = 10_000
"""That a list of ours may have; where items are small a set stays below the size."""
SET = Key("PodCliqueSet", "team", "big")
FAINT = 0.3
"""Seconds below which nothing can be said of growth."""


class Cost(NamedTuple):
    """CPU seconds of a whole run and of each of its rules, and what was found wrong."""

    seconds: float
    rules: dict[str, float]
    errors: list[Diagnostic]


class Timed:
    """A program that notes how long each rule takes."""

    def __init__(self, program: Program) -> None:
        self.program, self.seconds = program, dict[str, float]()
        self._rules_of = program._rules_of
        program._rules_of = self._timed  # type: ignore[method-assign]

    def _timed(self, *arguments: Any, **named: Any) -> Any:
        return [(rule, partial(self._run, rule.id, function), sliced) for rule, function, sliced in self._rules_of(*arguments, **named)]

    def _run(self, rule: str, function: Callable[..., Any], *arguments: Any) -> Any:
        began = time.process_time()
        try:
            return function(*arguments)
        finally:
            self.seconds[rule] = self.seconds.get(rule, 0.0) + time.process_time() - began


def measured(timed: Timed, work: Callable[[], list[Diagnostic]]) -> Cost:
    """What a run costs."""
    gc.collect()
    gc.disable()
    timed.seconds.clear()
    began = time.process_time()
    found = work()
    seconds = time.process_time() - began
    gc.enable()
    return Cost(seconds, dict(timed.seconds), [finding for finding in found if finding.severity == "error"])


def runs_of(timed: Timed, pcs: Manifest, old: Manifest, config: Manifest | None, more: list[Manifest]) -> dict[str, Cost]:
    """What reviews and steps of a set cost, by their kind."""
    configuration, documents = Document(config) if config else None, [Document(pcs), *map(Document, more)]
    inputs = Inputs(documents, config=configuration, settings=Settings(is_operator=True))
    costs = {
        "review": measured(timed, lambda: lint_manifests(inputs, timed.program)),
        "update": measured(timed, lambda: lint_manifests(replace(inputs, old=[Document(old)]), timed.program)),
    }
    shared = StepContext(timed.program, Settings(pods=True, is_operator=True), configuration)
    pcs["metadata"] |= {"uid": "uid", "generation": 1}
    objects, nodes = [pcs, *more], list[Node]()

    def steps() -> list[Diagnostic]:
        taken = [step(ObjectList(objects), SET._replace(replica=replica), NOW, shared) for replica in (None, 0)]
        for one in taken:
            assert isinstance(one, StepResult), one
            nodes.extend(one.graph.nodes)
        return []

    costs["first steps"] = measured(timed, steps)
    objects += as_stored(nodes, {"PodCliqueSet/team/big": "uid"})
    costs["later steps"] = measured(timed, steps)
    costs["another order"] = measured(timed, lambda: compare_templates(pcs))
    return costs


def compare_templates(pcs: Manifest) -> list[Diagnostic]:
    """Compares each pod template with one whose lists have the opposite order, as an operator does after such an edit."""
    for clique in pcs["spec"]["template"]["cliques"]:
        template = {"metadata": {}, "spec": clique["spec"]["podSpec"]}
        pod_template_differences(template, reversed_lists(template))
    return []


def items_for(make: Callable[[int], Manifest], size: int) -> int:
    """How many items make a set of about so many bytes."""
    few, many = (len(json.dumps(make(count))) for count in (100, 400))
    return min(MAX_ITEMS, max(4, (size - few) * 300 // (many - few) + 100))


def compared(timed: Timed, name: str, size: int) -> tuple[list[list[str]], list[str]]:
    """The rows of a dimension, and the goals that it misses."""
    make, (config, more) = DIMENSIONS[name], inputs_of(name)
    most = items_for(make, size)
    rows, missed = [], []
    runs = [runs_of(timed, make(count), make(count - 1), config, more) for count in (most // 4, most)]
    for kind in runs[0]:
        few, many = (run[kind] for run in runs)
        if many.errors and kind != "update":  # most lists cannot change, but that is about rules that compare
            missed.append(f"{name}: not legal: {many.errors[0].code} {many.errors[0].message}")
        worst, cost = max(many.rules.items(), key=lambda entry: entry[1], default=("", 0.0))
        missed += [f"{name}, {kind}: {worst} takes {cost:.2f} s"] if cost > MAX_SECONDS else []
        growth = many.seconds / few.seconds
        is_linear = growth <= LINEAR or many.seconds < FAINT
        missed += [] if is_linear else [f"{name}, {kind}: {many.seconds:.2f} s, {growth:.1f} times a quarter's"]
        rows.append([f"{name}, {kind}", f"{most:,}", f"{few.seconds:.2f}", f"{many.seconds:.2f}", f"{growth:.1f}", f"{worst} {cost:.2f}"])
    return rows, missed


async def beside(program: Program, name: str, size: int) -> tuple[list[str], list[str]]:
    """The longest small reviews while that of a large set is computed, and while its steps are, as a row; and the goals that are missed."""
    make, (config, more) = DIMENSIONS[name], inputs_of(name)
    document, pcs = Document(config) if config else None, make(items_for(make, size))
    judge = Reviewer(StepContext(program, Settings()))
    answers, thread = Answers(lambda: judge), WorkerThread("large steps", CostBudget())
    pcs["metadata"] |= {"uid": "uid", "generation": 1}
    view = RecordedCache([pcs, *more], ()).view()
    evaluate = Evaluator(StepContext(program, Settings(pods=True, is_operator=True), document), lambda: NOW)
    large = {
        "nothing": asyncio.sleep(1),
        "review": answers.validate(asked("CREATE", pcs), size),
        "step of the set": evaluate(view, SET, thread),
        "step of its replica": evaluate(view, SET._replace(replica=0), thread),
    }
    worst = {what: await longest_wait(answers, work) for what, work in large.items()}
    missed = [f"{name}: a small review takes {wait:.0f} ms beside the {what}" for what, wait in worst.items() if wait > MAX_BESIDE]
    return [name, *(f"{wait:.1f}" for wait in worst.values())], missed


async def longest_wait(answers: Answers, work: Awaitable[Any]) -> float:
    """The longest of the small reviews that are asked while something is computed, with the wait for the loop, in milliseconds."""
    computing, longest = asyncio.ensure_future(work), 0.0
    while not computing.done():
        asking = time.perf_counter()
        await asyncio.sleep(0)
        await answers.validate(asked("CREATE", workload()))
        longest = max(longest, time.perf_counter() - asking)
        asking = time.perf_counter()
        await asyncio.sleep(0.005)
        longest = max(longest, time.perf_counter() - asking - 0.005)
    del computing, work
    return longest * 1000


def main() -> int:
    """Prints the table, and each goal that is missed."""
    arguments = sys.argv[1:]
    size = int(arguments.pop(0)) if arguments and arguments[0].isdecimal() else BYTES
    timed = Timed(rulebook.read().program(VOCABULARY))
    rows, missed = [], []
    for name in arguments or DIMENSIONS:
        more, wrong = compared(timed, name, size)
        rows += more
        missed += wrong
        print(f"{name} ✓" if not wrong else "\n".join(wrong), file=sys.stderr, flush=True)
    print(machine())
    print(f"Sets of {size:,} bytes; CPU seconds of a quarter, of all; the slowest rule.\n")
    print(table(["dimension", "items", "a quarter", "all", "times", "slowest rule"], rows))
    garbage.collect_in_small_portions()  # as a server does when it starts
    garbage.freeze_existing()
    program = rulebook.read().program(VOCABULARY)
    waits = []
    for name in arguments or DIMENSIONS:
        row, wrong = asyncio.run(beside(program, name, size))
        waits.append(row)
        missed += wrong
    print("\nThe longest small review, in milliseconds, beside what is computed of a large set; beside nothing: what the machine adds.\n")
    print(table(["dimension", "nothing", "review", "step of the set", "step of its replica"], waits))
    print("".join(f"\nMissed: {goal}" for goal in missed))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
