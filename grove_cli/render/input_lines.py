"""Finds the lines of the input that each field of an object comes from, as `grove explain` does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from grove_compiler.graph.field_path import FieldPath
from grove_compiler.graph.node import Node
from kube_objects.words import listed

if TYPE_CHECKING:
    from grove_compiler.engine.tracing.tracking import Input
    from grove_compiler.explain import Explainer


Lines = dict[FieldPath, str]


def find_lines(nodes: Iterable[Node], explainer: Explainer) -> Iterator[tuple[str, Lines]]:
    """Yields the id of each object with the input positions of its fields, such as `set.yaml:31, :40`. One object takes 10 to 20 ms.

    They are those of the inputs that a field's value is computed from. The inputs that decide whether it exists are left to
    `grove explain`: beside every line they would be half of the file.
    """
    for node in nodes:
        fields = explainer.object(node).trace.fields
        yield node.id, {path: text for path, field in fields.items() if (text := _places(explainer, field.sources[0]))}


def _places(explainer: Explainer, inputs: Iterable[Input]) -> str:
    """Returns the positions of inputs in order; the name of a file is omitted if the position before has the same."""
    sources = (source for read in inputs for source in explainer.source_of(read).all())
    named = sorted({(source.file, source.line) for source in sources if source.file and source.line})
    before = ["", *(file for file, _ in named)]
    texts = [f":{line}" if file == last else f"{file}:{line}" for (file, line), last in zip(named, before, strict=False)]
    return listed(texts)
