"""Explanations and compilations at the same time: each gives what it gives alone, and leaves the model as it was."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from grove_compiler.compile import VOCABULARY, Inputs
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.engine.codegen import generated_rules
from grove_compiler.engine.runtime.compiled import Compiled
from grove_compiler.engine.tracing.provenance import traced_rules
from grove_compiler.engine.tracing.tracking import plain
from grove_compiler.explain import Explainer
from grove_compiler.model.expanded.structure import Clique, ExpandedSet, Replica
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.lazy import lazy
from grove_compiler.model.spec.podcliqueset import PodCliqueSet
from grove_compiler.model.spec.templates import CliqueTemplate
from grove_compiler.source.reader import read_bytes

from .questions import PROGRAM, ROOT, SOURCES, asking, inputs_of, traced
from .sets import SET, SET_WITH_GROUP

MODEL = (Clique, CliqueTemplate, ExpandedSet, PodCliqueSet, Replica, Settings, lazy)
TEXTS = [SET, SET_WITH_GROUP, SET.replace("name: web", "name: other").replace("replicas: 3", "replicas: 5")]


def compiled(inputs: Inputs) -> list[Any]:
    """The objects of a compilation; a list of everything that could differ."""
    return [(node.id, node.object, node.rule) for node in compile_inputs(inputs, PROGRAM).graph.nodes]


def explained(inputs: Inputs, rules: Compiled | None = None) -> list[Any]:
    """Every field of every object, with its value, its place, and the inputs that it rests on."""
    explainer = Explainer(inputs, rules or traced())
    return [answer_of(explainer, node) for node in compile_inputs(inputs, PROGRAM).graph.nodes]


def answer_of(explainer: Explainer, node: Any) -> list[Any]:
    fields = explainer.object(node).trace.fields.items()
    return [(node.id, path, plain(field.value), field.origin, field.sources, field.passed) for path, field in fields]


def at_once(*tasks: Callable[[], Any]) -> list[Any]:
    """What tasks give that all begin at the same moment, each in a thread of its own."""
    start = threading.Barrier(len(tasks))

    def begin(task: Callable[[], Any]) -> Any:
        start.wait()
        return task()

    with ThreadPoolExecutor(len(tasks)) as threads:
        return list(threads.map(begin, tasks))


def test_compilations_and_explanations_in_threads_give_what_they_give_alone() -> None:
    alone = [(compiled(inputs_of(text, pods=True)), explained(inputs_of(text, pods=True))) for text in TEXTS]
    tasks = [lambda text=text: [compiled(inputs_of(text, pods=True)) for _ in range(20)] for text in TEXTS]
    tasks += [lambda text=text: [explained(inputs_of(text, pods=True))] for text in TEXTS]
    together = at_once(*tasks)
    assert [set(map(str, result)) for result in together] == [{str(one)} for one, _ in alone] + [{str(other)} for _, other in alone]


@pytest.fixture
def switches_often() -> Iterator[None]:
    """Threads take turns all the time, also in the middle of what Python itself does: the collector runs there, and waits a moment."""
    threshold, interval = gc.get_threshold(), sys.getswitchinterval()

    def wait(*_: object) -> None:
        time.sleep(0)

    gc.callbacks.append(wait)
    gc.set_threshold(200)
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*threshold)
    gc.callbacks.remove(wait)


def test_rules_that_are_compiled_in_threads_are_what_they_are_alone(switches_often: None, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = str(explained(inputs_of(SET, pods=True)))
    monkeypatch.setattr(generated_rules, "_compiled", {})
    together = at_once(*[lambda: traced_rules(SOURCES, VOCABULARY)] * 3)
    assert [str(explained(inputs_of(SET, pods=True), rules)) for rules in together] == [alone] * 3


def test_documents_that_are_shared_are_compiled_and_explained_at_once() -> None:
    inputs = inputs_of(SET_WITH_GROUP, pods=True)
    alone = compiled(inputs), explained(inputs)
    together = at_once(lambda: compiled(inputs), lambda: explained(inputs), lambda: compiled(inputs), lambda: explained(inputs))
    assert [str(one) for one in together] == [str(alone[0]), str(alone[1])] * 2


def test_questions_and_compilations_that_take_turns_do_not_see_each_other() -> None:
    first, second = inputs_of(SET, pods=True), inputs_of(SET_WITH_GROUP, pods=True)
    alone = [(compiled(inputs), explained(inputs)) for inputs in (first, second)]
    with asking(first) as one, asking(second) as other:
        turns = [(question, node) for question in (one, other) for node in question.result.graph.nodes]
        turns.sort(key=lambda turn: turn[1].id)
        answers: dict[int, dict[str, Any]] = {id(one): {}, id(other): {}}
        for question, node in turns:
            answers[id(question)][node.id] = answer_of(question.explainer, node)
            assert compiled(first) == alone[0][0]
        for question, (_, expected) in zip((one, other), alone, strict=True):
            assert [answers[id(question)][node.id] for node in question.result.graph.nodes] == expected


def test_the_classes_of_the_model_stay_what_they_are_meanwhile() -> None:
    before = [dict(vars(one)) for one in MODEL]
    with asking(inputs_of(SET_WITH_GROUP, pods=True)) as question:
        for node in question.result.graph.nodes:
            question.explainer.object(node)
            assert [dict(vars(one)) for one in MODEL] == before


def test_documents_are_not_changed_by_being_explained() -> None:
    inputs = inputs_of(SET_WITH_GROUP, pods=True)
    explained(inputs)
    assert inputs.documents[0].value == read_bytes(SET_WITH_GROUP.encode(), "set.yaml")[0][0].value


def test_the_answer_is_the_same_in_every_process() -> None:
    command = [sys.executable, "-m", "grove_cli", "explain", "-f", "examples/topology-three-levels.yaml"]
    command += ["--config", "examples/operator-configuration.yaml", "podgang/deepseek-three-levels-0", "-o", "json"]
    environments = [{**os.environ, "PYTHONHASHSEED": seed} for seed in "12"]
    answers = {subprocess.run(command, env=one, cwd=ROOT, capture_output=True, check=True).stdout for one in environments}
    assert len(answers) == 1
