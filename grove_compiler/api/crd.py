"""CustomResourceDefinitions of the kinds that an API server stores, made from the models."""

from __future__ import annotations

import copy
from functools import cache

from grove_compiler.api.kube import Column, Crd
from grove_compiler.api.metadata import KubernetesObject
from grove_compiler.api.openapi import openapi
from grove_compiler.api.tables import STORED, key, tables
from grove_compiler.kube.definitions import Definitions
from kube_objects.manifest import Manifest


def crds() -> list[Manifest]:
    """Returns the manifests (apiextensions.k8s.io/v1), one a kind, ready to be applied. Each call makes new ones."""
    return [crd(model) for model in STORED]


def crd(model: type[KubernetesObject]) -> Manifest:
    """Returns the CustomResourceDefinition of one kind. Each call makes a new one."""
    return copy.deepcopy(_crd(model))


@cache  # a schema takes pydantic a tenth of a second
def _crd(model: type[KubernetesObject]) -> Manifest:
    api_version, kind = key(model)
    group, _, version = api_version.rpartition("/")
    names: Manifest = {"kind": kind, "listKind": f"{kind}List", "plural": model.crd.plural, "singular": kind.lower()}
    if model.crd.short_names:
        names["shortNames"] = list(model.crd.short_names)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{model.crd.plural}.{group}"},
        "spec": {
            "group": group,
            "names": names,
            "scope": model.crd.scope,
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": _schema(model)},
                    **_subresources(model.crd),
                    "additionalPrinterColumns": [_column(column) for column in model.crd.columns],
                }
            ],
        },
    }


def _schema(model: type[KubernetesObject]) -> Manifest:
    """Returns the kind's schema; the API server knows apiVersion, kind and metadata by itself and lets a CRD say nothing about them."""
    schema, definitions = tables(model)
    root = openapi(schema, Definitions(definitions))
    for name, type_ in (("apiVersion", "string"), ("kind", "string"), ("metadata", "object")):
        root["properties"][name] = {"type": type_}
        root["required"].remove(name)
    return root


def _subresources(crd: Crd) -> Manifest:
    subresources: Manifest = {}
    if crd.status:
        subresources["status"] = {}
    if crd.selector:
        subresources["scale"] = {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": crd.selector,
        }
    return {"subresources": subresources} if subresources else {}


def _column(column: Column) -> Manifest:
    shown: Manifest = {"name": column.name, "type": column.type, "jsonPath": column.path}
    return {**shown, "priority": column.priority} if column.priority else shown
