"""Writes a recorded step as a bundle, with everything that a replay needs, and reads it back.

A bundle is one JSON object. It holds each object of the cluster once, and answers refer to them by position. `digest` covers everything
else: a bundle that is truncated or was changed is rejected.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import field
from hashlib import sha256
from typing import Any

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.timestamp import timestamp
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ChangedNames
from grove_compiler.record import record
from grove_compiler.replay.memory import Memory, read_memory
from grove_compiler.replay.plain import decision_value, exact_text, plain, redacted
from grove_compiler.replay.views import Question
from grove_compiler.step import Key, StepContext, StepGone, StepHold, StepResult
from grove_compiler.unknown import Unknown
from grove_compiler.version import __version__

FORMAT = "grove-replay/1"
UNREAD = ("tracing",)
"""Fields of the configuration that no step reads and that may hold a password, in a URL."""


class BadBundle(Exception):
    """Reports a bundle that cannot be replayed, with the reason."""


@record
class RecordedStep:
    """Holds a recorded step: its key and time, the answers that it read, its caches, and its decision.

    Nothing in it is copied, since objects never change. `writes` are the outcomes of carrying it out; `held` is why the key was held, empty
    if it was not.
    """

    key: Key
    now: float
    context: StepContext
    rules: str
    answers: dict[Question, Any]
    memory: Memory
    outcome: StepResult | StepGone | StepHold
    writes: Sequence[Manifest] = ()
    held: str = ""


@record
class Bundle:
    """Holds a bundle that was read. `rules` names the rules that it was made with, `version` the release. See `decision_value`."""

    key: Key
    now: float
    version: str
    rules: str
    settings: Settings
    config: Manifest | None
    answers: dict[Question, Any]
    memory: Memory
    decision: Manifest
    writes: list[Manifest] = field(default_factory=list)


def encode(step: RecordedStep) -> bytes:
    """Encodes a bundle as ASCII text, with one line for each object of the cluster."""
    table = _Table()
    config = step.context.document
    value = {
        "format": FORMAT,
        "key": step.key._asdict(),
        "now": step.now,
        "time": timestamp(step.now),
        "version": __version__,
        "rules": step.rules,
        "settings": plain(step.context.settings),
        "config": None if config is None else {key: value for key, value in config.value.items() if key not in UNREAD},
        "answers": [[*question, table.encode(answer)] for question, answer in step.answers.items()],
        "memory": {**step.memory.value(), "topologies": [table.position(topology) for topology in step.memory.topologies]},
        "objects": table.objects,
        "decision": decision_value(step.outcome),
        "writes": list(step.writes),
        "held": step.held,
    }
    lines = ",\n".join(f"{json.dumps(key)}:{_lines(part) if key == 'objects' else exact_text(part)}" for key, part in value.items())
    body = "{\n" + lines
    return f'{body},\n"digest":"{sha256(body.encode()).hexdigest()}"\n}}\n'.encode()


def decode(data: bytes) -> Bundle:
    """Decodes the bundle in a file. Raises `BadBundle`."""
    value = _checked(data)
    try:
        objects: list[Manifest] = value["objects"]
        memory = value["memory"]
        return Bundle(
            Key(**value["key"]),
            value["now"],
            value["version"],
            value["rules"],
            Settings(**value["settings"]),
            value["config"],
            {tuple(question): _answer(answer, objects) for *question, answer in value["answers"]},
            read_memory(memory, [objects[position] for position in memory["topologies"]]),
            value["decision"],
            value["writes"],
        )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise BadBundle(f"it is not a complete bundle ({type(error).__name__}: {error})") from None


def _checked(data: bytes) -> Manifest:
    body, separator, rest = data.rpartition(b',\n"digest":"')
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        what = "it is truncated" if data.startswith(b'{\n"format":') and not separator else f"it is not JSON ({error})"
        raise BadBundle(what) from None
    if not isinstance(value, dict) or not str(value.get("format")).startswith("grove-replay/"):
        raise BadBundle("it is not a bundle: expected a file that the operator wrote")
    if value["format"] != FORMAT:
        raise BadBundle(f"it has the form {value['format']}, and this release reads {FORMAT}")
    if not separator or rest[:64].decode("ascii", "replace") != sha256(body).hexdigest():
        raise BadBundle("it was changed after it was written: its digest does not match")
    return value


class _Table:
    """Collects the objects of a bundle, each once."""

    def __init__(self) -> None:
        self.objects: list[Manifest] = []
        self._positions: dict[int, int] = {}

    def position(self, manifest: Manifest) -> int:
        position = self._positions.setdefault(id(manifest), len(self.objects))
        if position == len(self.objects):
            self.objects.append(redacted(manifest))
        return position

    def encode(self, answer: Any) -> Any:
        """Encodes an answer: a position or null, a list of positions, names (of changed or deleted objects), or why it is unknown."""
        if isinstance(answer, Unknown):
            return {"unknown": str(answer)}
        if isinstance(answer, ChangedNames):
            return {"changed": None if answer.names is None else [*answer.names]}
        if isinstance(answer, list):
            names = [one for one in answer if isinstance(one, str)]
            return {"names": names} if names else [self.position(manifest) for manifest in answer]
        return None if answer is None else self.position(answer)


def _answer(answer: Any, objects: list[Manifest]) -> Any:
    if isinstance(answer, dict):
        if "names" in answer:
            return answer["names"]
        return Unknown(answer["unknown"]) if "unknown" in answer else ChangedNames(None, answer["changed"])
    if isinstance(answer, list):
        return [objects[position] for position in answer]
    return None if answer is None else objects[answer]


def _lines(objects: list[Manifest]) -> str:
    return "[\n" + ",\n".join(map(exact_text, objects)) + "\n]"
