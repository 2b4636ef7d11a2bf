"""What templates of the preflight injector are given: its values, the text of them, and the namespaces that it is asked about."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from grove_compiler.graph.node import Manifest

NAMESPACE = "kubernetes.io/metadata.name"
"""A label that Kubernetes gives each namespace: its name."""


def preflight_names(values: Manifest, namespace: str) -> dict[str, Any]:
    """Returns the names by which templates know them."""
    text = json.dumps(_plain(values), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return {
        "preflight": {"objectSelector": None, **values},
        "preflight_text": text,
        "preflight_checksum": hashlib.sha256(text.encode()).hexdigest(),
        "preflight_namespaces": chosen_namespaces(values, namespace),
    }


def chosen_namespaces(values: Manifest, namespace: str) -> Manifest:
    """Returns which namespaces an API server asks about, as the design has it (ADR-026).

    Never the injector's own: with the policy Fail its pods would wait for themselves.
    """
    excluded = {"key": NAMESPACE, "operator": "NotIn", "values": [*(values.get("excludeNamespaces") or []), namespace]}
    selector = values.get("namespaceSelector")
    if selector is not None:  # one that is empty chooses all
        return {**selector, "matchExpressions": [*(selector.get("matchExpressions") or []), excluded]}
    chosen = {"key": NAMESPACE, "operator": "In", "values": values.get("namespaces") or [""]}  # an empty list is refused, and "" is no name
    return {"matchExpressions": [chosen, excluded]}


def _plain(value: Any) -> Any:
    """Numbers as Helm writes them, which knows no difference between 10.0 and 10."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
