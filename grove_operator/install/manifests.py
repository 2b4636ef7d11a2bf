"""Generates the manifests of an installation, those of preflight included, in the order in which they are applied.

The expressions of their templates are Jinja2's, evaluated to native values. A text that is a single `{{ … }}` becomes the value of the
expression, with text around it a string; a key with the value `omit` is left out. A map with `$if` is left out unless the condition holds,
a map with `$merge` gets the entries of another one, a list item with `$value` becomes that value. It is the subset of the rules' template
language that `tools/go_templates.py` can translate to Go templates.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import yaml
from jinja2 import Environment, StrictUndefined

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.defaults import apply_defaults
from grove_compiler.kube.definitions import DEFINITIONS, KINDS
from grove_compiler.preflight import VALUES_SCHEMA
from grove_compiler.version import __version__
from grove_operator.install.user_values import merge
from grove_operator.install.values import Values
from grove_operator.install.webhook_configurations import (
    ALL_HOOKS,
    AUTHORIZE,
    MNNVL,
    Hook,
    Installation,
    not_exempt,
    webhook_configuration,
)

WHOLE = re.compile(r"^\{\{ (.*) \}\}$", re.DOTALL)
"""A text that is a single expression."""
PART = re.compile(r"\{\{ (.*?) \}\}")
"""An expression within a text."""
OMIT = object()
_ENVIRONMENT = Environment(undefined=StrictUndefined, autoescape=False)


def render(node: Any, variables: Mapping[str, Any]) -> Any:
    """Returns a template with its expressions evaluated; `OMIT` if it is to be left out."""
    match node:
        case dict():
            return _map(node, variables)
        case list():
            # A list whose items are all left out is null, as in a Go template, which has written the key by then.
            return [value for item in node if (value := render(item, variables)) is not OMIT] or (None if node else [])
        case str():
            return _text(node, variables)
        case _:
            return node


def _map(node: dict[str, Any], variables: Mapping[str, Any]) -> Any:
    if "$if" in node and not _compiled(node["$if"])(**variables):
        return OMIT
    if "$value" in node:
        return render(node["$value"], variables)
    rendered: dict[str, Any] = {}
    for key, template in node.items():
        if key == "$merge":
            rendered |= _compiled(template)(**variables)
        elif key != "$if" and (value := render(template, variables)) is not OMIT:
            rendered[key] = value
    return rendered


def _text(text: str, variables: Mapping[str, Any]) -> Any:
    if (whole := WHOLE.match(text)) and "}}" not in whole[1]:
        return _compiled(whole[1])(**variables)
    return PART.sub(lambda part: str(_compiled(part[1])(**variables)), text)


@cache
def _compiled(expression: str) -> Callable[..., Any]:
    compiled = _ENVIRONMENT.compile_expression(expression, undefined_to_none=False)
    return lambda **variables: compiled(**variables, omit=OMIT)


Templates = dict[str, list[Any]]
"""Templates by the name of their file, in this package and in the chart."""

NAME = "grove-operator"
ORDER = (
    "namespace",
    "crds",
    "priorityclass",
    "serviceaccount",
    "rbac",
    "userroles",
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
CONFIGURATION = ("operator.config.grove.io/v1alpha1", "OperatorConfiguration")
SCHEMA = KINDS[CONFIGURATION]
KEEP = {"helm.sh/resource-policy": "keep", "kustomize.toolkit.fluxcd.io/prune": "disabled"}
"""Prevents Helm and Flux from deleting the CRDs with a release, or once git has them no longer, which would delete all sets. Argo CD never
deletes CRDs."""
NAMESPACE = "kubernetes.io/metadata.name"
"""The label with its name that Kubernetes adds to each namespace."""


def templates() -> Templates:
    """Returns all templates: those of files, and those generated from the API's types and the list of webhooks."""
    generated: Templates = {"crds": _crds(), "webhooks": _webhooks()}
    return {name: generated[name] if name in generated else _file(name) for name in ORDER}


def manifests(values: Values, namespace: str) -> list[Manifest]:
    """Returns the objects of an installation in a namespace."""
    variables = _variables(values, namespace)
    rendered = (render(template, variables) for file in templates().values() for template in file)
    return [manifest for manifest in rendered if manifest is not OMIT]


def configuration(values: Values) -> Manifest:
    """Returns the OperatorConfiguration of an installation."""
    own = {"server": {"webhooks": {"enabled": values.webhooks.enabled}}, "initContainer": {"image": image(values)}}
    head = {"apiVersion": CONFIGURATION[0], "kind": CONFIGURATION[1]}
    return merge(merge(head, own), values.config)


def image(values: Values) -> str:
    """Returns the reference of the operator's image, by digest if there is one."""
    image = values.image
    return f"{image.repository}@{image.digest}" if image.digest else f"{image.repository}:{image.tag or 'v' + __version__}"


def dashboard() -> str:
    """Returns Grafana's dashboard as JSON text."""
    return files("grove_operator.install").joinpath("dashboard.json").read_text("utf-8")


def _variables(values: Values, namespace: str) -> dict[str, Any]:
    text = json.dumps(configuration(values), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    exempt = (values.config.get("authorizer") or {}).get("exemptServiceAccountUserNames") or []
    return {
        # With the operator's own defaults, which it uses for a value that was removed with null.
        "values": {**values.model_dump(by_alias=True, mode="json"), "config": apply_defaults(configuration(values), SCHEMA, DEFINITIONS)},
        "namespace": namespace,
        "version": __version__,
        "image": image(values),
        "not_exempt": not_exempt(exempt),
        "config_text": text,
        "config_checksum": hashlib.sha256(text.encode()).hexdigest(),
        "dashboard": dashboard(),
        **preflight_variables(values.preflight_injector, namespace),
        "labels": {key: value.replace("{{ version }}", __version__) for key, value in LABELS.items()},
    }


def _crds() -> list[Any]:
    from grove_compiler.api.crd import crds

    return [{"$if": "values.crds.enabled and not values.webhooks.only", **_retained(crd)} for crd in crds()]


def _retained(crd: Manifest) -> Manifest:
    """Returns a CRD that stays in the cluster when its release is uninstalled."""
    metadata = crd["metadata"]
    return {**crd, "metadata": {**metadata, "annotations": {**(metadata.get("annotations") or {}), **KEEP}}}


def _webhooks() -> list[Any]:
    """Returns the webhook configurations, with expressions for all that depends on values."""
    installation = Installation(
        namespace="{{ namespace }}",
        service="{{ values.config.server.webhooks.serviceName }}",
        failure_policy="{{ values.webhooks.failurePolicy }}",  # type: ignore[arg-type]
        not_exempt="{{ not_exempt }}",
    )
    configurations = []
    for hook in ALL_HOOKS:
        configuration = webhook_configuration(hook, installation)
        configuration["metadata"] |= {"labels": "{{ labels }}", "annotations": "{{ values.webhooks.annotations or omit }}"}
        configurations.append({"$if": f"values.webhooks.enabled{_condition(hook)}", **configuration})
    return configurations


def _condition(hook: Hook) -> str:
    """Returns the rest of the condition under which a webhook is installed."""
    if hook in MNNVL:
        return " and values.config.admission.mnnvlWebhooks"
    return " and not values.webhooks.only" + (" and values.config.authorizer.enabled" if hook is AUTHORIZE else "")


@cache
def _file(name: str) -> list[Any]:
    text = files("grove_operator.install").joinpath("templates", f"{name}.yaml").read_text("utf-8")
    return [document for document in yaml.safe_load_all(text) if document is not None]


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
