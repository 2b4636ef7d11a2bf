"""Decides on which nodes a pod may run by its own spec: node name, selector, required affinity, taints (kube-scheduler's filters)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from grove_compiler.fit.cluster import ClusterNode, Taint
from grove_compiler.graph.node import Manifest
from kube_objects.manifest import maps, section

REPELLING = ("NoSchedule", "NoExecute")
CORDON = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")


class Objection(NamedTuple):
    """Represents why a pod may not run on a node, in words that can be counted over nodes, and the field of its spec that decides it.

    `of` is the label key or the taint that it is about, empty for others.
    """

    text: str
    field: Literal["nodeName", "nodeSelector", "affinity", "tolerations"]
    of: str | Taint = ""

    def __str__(self) -> str:
        return self.text


class Requirements:
    """Holds what pods of one spec require of their node. Made once, evaluated for every node."""

    __slots__ = ("_name", "_selector", "_terms", "_tolerations")

    def __init__(self, pod_spec: Mapping[str, Any]) -> None:
        self._name = pod_spec.get("nodeName")
        self._selector = section(pod_spec, "nodeSelector")
        self._terms = _terms(pod_spec)
        self._tolerations = maps(pod_spec.get("tolerations"))

    @property
    def key(self) -> str:
        """Returns a key that is equal for pods with the same requirements, so that they may run on the same nodes."""
        return repr((self._name, self._selector, self._terms, self._tolerations))

    def objection(self, node: ClusterNode) -> Objection | None:
        """Returns the first reason why a pod may not run on this node, or None when it may."""
        if self._name and self._name != node.name:
            return Objection(f"other than the node {self._name}", "nodeName")
        if node.unschedulable and not self._tolerates(CORDON):
            return Objection("unschedulable", "tolerations", CORDON)
        for key, value in self._selector.items():
            if node.labels.get(key) != value:
                return Objection(f"without the label {key}={value}", "nodeSelector", key)
        if self._terms is not None and not any(_matches_term(term, node) for term in self._terms):
            return Objection("outside the required node affinity", "affinity")
        for taint in node.taints:
            if taint.effect in REPELLING and not self._tolerates(taint):
                return Objection(f"with the taint {taint}", "tolerations", taint)
        return None

    def _tolerates(self, taint: Taint) -> bool:
        return any(_tolerates(toleration, taint) for toleration in self._tolerations)


def lifted(pod_spec: Manifest, objection: Objection) -> Manifest:
    """Returns a copy of a pod's spec without what caused an objection, as if its author had allowed those nodes."""
    if isinstance(objection.of, Taint):
        toleration = {"key": objection.of.key, "operator": "Exists", "effect": objection.of.effect}
        return {**pod_spec, "tolerations": [*maps(pod_spec.get("tolerations")), toleration]}
    if objection.field == "nodeSelector":
        return {**pod_spec, "nodeSelector": {key: value for key, value in pod_spec["nodeSelector"].items() if key != objection.of}}
    return {key: value for key, value in pod_spec.items() if key != objection.field}


def _tolerates(toleration: Mapping[str, Any], taint: Taint) -> bool:
    if toleration.get("effect") not in (None, "", taint.effect):
        return False
    key, operator = toleration.get("key") or "", toleration.get("operator") or "Equal"
    if key and key != taint.key:
        return False
    if operator == "Exists":
        return True
    tolerated = toleration.get("value") or ""
    if operator == "Equal":
        return bool(key) and tolerated == taint.value
    return _compare(operator, taint.value, tolerated)


def _terms(pod_spec: Mapping[str, Any]) -> list[Manifest] | None:
    """Returns the node selector terms of the required node affinity, of which one must match; None without such an affinity."""
    required = section(pod_spec, "affinity", "nodeAffinity").get("requiredDuringSchedulingIgnoredDuringExecution")
    return None if required is None else maps(section(required).get("nodeSelectorTerms"))


def _matches_term(term: Mapping[str, Any], node: ClusterNode) -> bool:
    """Reports whether a node meets all expressions of a term; as in Kubernetes, an empty term matches no node."""
    pairs = [(expression, node.labels) for expression in maps(term.get("matchExpressions"))]
    pairs += [(expression, {"metadata.name": node.name}) for expression in maps(term.get("matchFields"))]
    return bool(pairs) and all(_matches(expression, values) for expression, values in pairs)


def _matches(expression: Mapping[str, Any], values: Mapping[str, str]) -> bool:
    value = values.get(expression.get("key", ""))
    operands = expression.get("values")
    operands = operands if isinstance(operands, list) else []
    match expression.get("operator"):
        case "In":
            return value is not None and value in operands
        case "NotIn":
            return value is None or value not in operands
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt" as operator:
            return value is not None and len(operands) == 1 and _compare(operator, value, operands[0])
    return False


def _compare(operator: str, value: str, limit: Any) -> bool:
    """Reports whether a label's integer is greater (`Gt`) or less (`Lt`) than a limit; false if either is no integer."""
    try:
        difference = int(value) - int(limit)
    except (TypeError, ValueError):
        return False
    return {"Gt": difference > 0, "Lt": difference < 0}.get(operator, False)
