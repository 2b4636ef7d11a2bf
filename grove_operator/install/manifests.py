"""What an installation consists of, in the order in which it is applied."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from grove_compiler.graph.node import Manifest
from grove_compiler.version import __version__
from grove_operator.install.choices import merged
from grove_operator.install.expressions import OMIT, render
from grove_operator.install.preflight import preflight_names
from grove_operator.install.values import Values
from grove_operator.install.webhook_configurations import ALL_HOOKS, AUTHORIZE, MNNVL, Hook, Installation, webhook_configurations

Templates = dict[str, list[Any]]
"""Templates by the file that they stand in, of the package or of the chart."""

NAME = "grove-operator"
ORDER = (
    "namespace",
    "crds",
    "priorityclass",
    "serviceaccount",
    "rbac",
    "configmap",
    "service",
    "deployment",
    "poddisruptionbudget",
    "networkpolicy",
    "servicemonitor",
    "dashboard",
    "webhooks",
    "preflight",
)
LABELS = {"app.kubernetes.io/name": NAME, "app.kubernetes.io/version": "{{ version }}"}
KEEP = {"helm.sh/resource-policy": "keep"}
"""Tells Helm that sets must not go with a release, as they would with their definition."""


def templates() -> Templates:
    """Returns all templates; some are files, the others are made of what says the same elsewhere."""
    made: Templates = {"crds": _crds(), "webhooks": _webhooks()}
    return {name: made[name] if name in made else _file(name) for name in ORDER}


def manifests(values: Values, namespace: str) -> list[Manifest]:
    """Returns the objects of an installation in a namespace."""
    names = _names(values, namespace)
    rendered = (render(one, names) for some in templates().values() for one in some)
    return [one for one in rendered if one is not OMIT]


def configuration(values: Values) -> Manifest:
    """Returns the OperatorConfiguration that values say."""
    own = {"server": {"webhooks": {"enabled": values.webhooks.enabled}}, "initContainer": {"image": image(values)}}
    head = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration"}
    return merged(merged(head, own), values.config)


def image(values: Values) -> str:
    """Returns the whole reference of the image."""
    told = values.image
    return f"{told.repository}@{told.digest}" if told.digest else f"{told.repository}:{told.tag or 'v' + __version__}"


def dashboard() -> str:
    """Returns the text of the dashboard."""
    return files("grove_operator.install").joinpath("dashboard.json").read_text("utf-8")


def _names(values: Values, namespace: str) -> dict[str, Any]:
    text = json.dumps(configuration(values), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return {
        "values": values.model_dump(by_alias=True, mode="json"),
        "namespace": namespace,
        "version": __version__,
        "image": image(values),
        "config_text": text,
        "config_checksum": hashlib.sha256(text.encode()).hexdigest(),
        "dashboard": dashboard(),
        **preflight_names(values.preflight_injector, namespace),
        "labels": {key: value.replace("{{ version }}", __version__) for key, value in LABELS.items()},
    }


def _crds() -> list[Any]:
    from grove_compiler.api.crd import crds

    return [{"$if": "values.crds.enabled and not values.webhooks.only", **_kept(one)} for one in crds()]


def _kept(crd: Manifest) -> Manifest:
    metadata = crd["metadata"]
    return {**crd, "metadata": {**metadata, "annotations": {**(metadata.get("annotations") or {}), **KEEP}}}


def _webhooks() -> list[Any]:
    """The webhook configurations, of which every part that is chosen is an expression."""
    holes = Installation(
        namespace="{{ namespace }}",
        service="{{ values.config.server.webhooks.serviceName }}",
        failure_policy="{{ values.webhooks.failurePolicy }}",  # type: ignore[arg-type]
    )
    made = []
    for hook in ALL_HOOKS:
        (one,) = webhook_configurations(holes, [hook])
        one["metadata"] |= {"labels": "{{ labels }}", "annotations": "{{ values.webhooks.annotations or omit }}"}
        made.append({"$if": f"values.webhooks.enabled{_condition(hook)}", **one})
    return made


def _condition(hook: Hook) -> str:
    if hook in MNNVL:
        return " and values.config.admission.mnnvlWebhooks"
    return " and not values.webhooks.only" + (" and values.config.authorizer.enabled" if hook is AUTHORIZE else "")


@cache
def _file(name: str) -> list[Any]:
    text = files("grove_operator.install").joinpath("templates", f"{name}.yaml").read_text("utf-8")
    return [one for one in yaml.safe_load_all(text) if one is not None]
