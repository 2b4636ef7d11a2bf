"""Examples and small sets, compiled and ready to be asked about."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from grove_cli import rulebook
from grove_cli.compile.command import command as compile_command
from grove_cli.options import take_files
from grove_cli.reading.inputs import InputReader
from grove_compiler.compile import VOCABULARY, CompileResult, Inputs
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.engine.runtime.compiled import Compiled
from grove_compiler.engine.runtime.program import Program
from grove_compiler.explain import Explainer
from grove_compiler.graph.diagnostic import has_errors
from grove_compiler.graph.node import Node
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.source.reader import read_bytes

ROOT = Path(__file__).parents[2]
BOOK = rulebook.read()
SOURCES = BOOK.sources()
PROGRAM: Program = BOOK.program(VOCABULARY)
_COMMAND = re.compile(r"^#   grove compile (.+)$", re.MULTILINE)


class Question(NamedTuple):
    """What was put in, what came out, and who can say why."""

    inputs: Inputs
    result: CompileResult
    explainer: Explainer
    documents: Any = ()
    """The texts of the snapshot."""

    def node(self, id: str) -> Node:
        """An object of the result."""
        return next(node for node in self.result.graph.nodes if node.id == id)


def example_inputs(path: Path) -> tuple[Inputs, InputReader]:
    """What the first command in an example's head compiles, with its Pods."""
    words = shlex.split(_COMMAND.findall(path.read_text())[0])
    options: dict[str, Any] = compile_command.make_context("compile", words).params
    reader = InputReader()
    names = ("namespace", "kube_version", "mnnvl_shape")
    settings = Settings(pods=True, **{name: options[name] for name in names})
    files = [str(ROOT / file) for file in take_files(options)]
    more = {name: str(ROOT / options[name]) for name in ("config", "snapshot") if options[name]}
    return reader.read(files, settings, **more), reader


@cache
def traced() -> Compiled:
    """Our rules as explanations run them: compiled once for all processes."""
    return BOOK.traced(VOCABULARY)


@contextmanager
def asking(inputs: Inputs, snapshot_documents: Any = ()) -> Iterator[Question]:
    """The result of a compilation, and its explainer at work."""
    result = compile_inputs(inputs, PROGRAM)
    assert not has_errors(result.diagnostics), result.diagnostics
    yield Question(inputs, result, Explainer(inputs, traced(), snapshot_documents), snapshot_documents)


def inputs_of(text: str, *, config: str = "", snapshot: str = "", **settings: Any) -> Inputs:
    """The inputs that texts make: `set.yaml`, `operator.yaml` and `now.yaml`."""
    documents = read_bytes(text.encode(), "set.yaml")[0]
    configs = read_bytes(config.encode(), "operator.yaml")[0] if config else [None]
    live = [document.value for document in read_bytes(snapshot.encode(), "now.yaml")[0]] if snapshot else []
    return Inputs(documents, live, [], configs[0], Settings(**settings))
