"""Lists what each object of a graph waits for, one by one."""

from __future__ import annotations

from collections.abc import Iterator

from grove_compiler.graph.graph import CompiledGraph
from grove_compiler.graph.node import Node
from grove_compiler.graph.order import Order


def with_dependencies(graph: CompiledGraph) -> Iterator[tuple[Node, list[Node]]]:
    """Yields each object with its `dependencies`, whose order is computed once for all."""
    order = Order(graph.nodes, graph.after)
    for node in graph.nodes:
        yield node, [graph.nodes[position] for position in order.before(node)]
