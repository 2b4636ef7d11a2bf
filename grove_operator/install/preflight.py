"""Computes the template variables of the preflight injector: its values, their text, and the namespace selector of its webhook."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.defaults import apply_defaults
from grove_compiler.kube.definitions import DEFINITIONS
from grove_compiler.preflight import VALUES_SCHEMA

NAMESPACE = "kubernetes.io/metadata.name"
"""The label with its name that Kubernetes adds to each namespace."""


def preflight_variables(values: Manifest, namespace: str) -> dict[str, Any]:
    """Returns the template variables for an injector in a namespace."""
    text = json.dumps(_with_whole_numbers(values), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    # As the injector does where somebody took a value away with null.
    values = apply_defaults(values, VALUES_SCHEMA, DEFINITIONS)
    return {
        "preflight": {"objectSelector": None, **values},
        "preflight_text": text,
        "preflight_checksum": hashlib.sha256(text.encode()).hexdigest(),
        "preflight_namespaces": namespace_selector(values, namespace),
    }


def namespace_selector(values: Manifest, namespace: str) -> Manifest:
    """Returns the selector of the namespaces whose pods the injector reviews (ADR-026).

    It excludes the injector's own namespace: with the policy Fail, its pods could not be created while it is down.
    """
    excluded = {"key": NAMESPACE, "operator": "NotIn", "values": [*(values.get("excludeNamespaces") or []), namespace]}
    selector = values.get("namespaceSelector")
    if selector is not None:  # an empty one selects all
        return {**selector, "matchExpressions": [*(selector.get("matchExpressions") or []), excluded]}
    # No namespace is called "", and an API server rejects an empty list.
    included = {"key": NAMESPACE, "operator": "In", "values": values.get("namespaces") or [""]}
    return {"matchExpressions": [included, excluded]}


def _with_whole_numbers(value: Any) -> Any:
    """Returns a value with 10 for 10.0, as Helm writes it."""
    if isinstance(value, dict):
        return {key: _with_whole_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_whole_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
