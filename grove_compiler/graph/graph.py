"""Defines the result as a graph: the dependencies of each object, and the wave in which it may be written."""

from __future__ import annotations

from collections.abc import Iterator

from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.node import Node
from grove_compiler.graph.order import After, Order
from grove_compiler.record import record
from kube_objects.manifest import group_of

__all__ = ["After", "CompiledGraph"]


@record
class CompiledGraph:
    """Holds objects in apply order.

    Edges are not stored: they follow from the owner of each node and from the rules' `after`. An object of a rule waits for the
    objects of an earlier rule that have the same position in the loops that both rules share.
    """

    nodes: list[Node]
    after: After

    def dependencies(self, node: Node) -> Iterator[Node]:
        """Yields the objects that must exist before this one, each once: its owner if it is in the graph, then those by `after`."""
        return (self.nodes[position] for position in Order(self.nodes, self.after).before(node))

    def with_groups(self) -> Iterator[tuple[Node, Node | None, list[list[int]]]]:
        """Yields each object with its owner, if that is in the graph, and the positions of its other dependencies in groups.

        Objects that wait for the same group share its list: dependencies one by one are as many as the pairs of objects in two rules.
        """
        order = Order(self.nodes, self.after)
        for node in self.nodes:
            owner = order.owner(node)
            yield node, None if owner is None else self.nodes[owner], order.groups(node)

    def levels(self) -> list[list[Node]]:
        """Returns the waves in which objects may be written: each after all that it waits for. Linear in objects. Raises `GraphCycle`."""
        levels = Order(self.nodes, self.after).levels()
        waves: list[list[Node]] = [[] for _ in range(1 + max(levels, default=-1))]
        for node, level in zip(self.nodes, levels, strict=True):
            waves[level].append(node)
        return waves

    def collisions(self) -> list[tuple[Node, Node, Diagnostic]]:
        """Returns pairs of objects with the same group, kind, namespace and name, each pair with its diagnostic."""
        if len({node.id for node in self.nodes}) == len(self.nodes):
            return []
        first: dict[tuple[str, str], Node] = {}
        findings = []
        for node in self.nodes:
            other = first.setdefault((group_of(str(node.object.get("apiVersion", ""))), node.id), node)
            if other is node:
                continue
            message = f"two objects would have the name {node.id}: one from the rule {other.rule}, one from {node.rule}"
            hint = "rename a clique, a scaling group or a set"
            findings.append((other, node, Diagnostic("graph/collision", "error", message, hint=hint)))
        return findings
