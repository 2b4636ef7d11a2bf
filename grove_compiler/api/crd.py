"""Makes CustomResourceDefinitions of the kinds that an API server stores."""

from __future__ import annotations

from typing import Any

from grove_compiler.api.openapi import openapi
from grove_compiler.api.tables import api_types
from grove_compiler.graph.node import Manifest
from grove_compiler.kube.definitions import Definitions

AGE = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}


def crds() -> list[Manifest]:
    """Returns the manifests (apiextensions.k8s.io/v1), one a kind, ready to be applied. Each call makes new ones."""
    return [_crd(name, served) for name, served in api_types().served.items()]


def _crd(name: str, served: dict[str, Any]) -> Manifest:
    api_version, _, kind = name.rpartition(".")
    group, _, version = api_version.rpartition("/")
    names = {"kind": kind, "listKind": f"{kind}List", "plural": served["plural"], "singular": kind.lower()}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{served['plural']}.{group}"},
        "spec": {
            "group": group,
            "names": {**names, "shortNames": list(served["shortNames"])} if "shortNames" in served else names,
            "scope": served.get("scope", "Namespaced"),
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": _schema(name)},
                    **_subresources(name, served),
                    "additionalPrinterColumns": [dict(column) for column in (*served["columns"], AGE)],
                }
            ],
        },
    }


def _schema(name: str) -> Manifest:
    """Returns the kind's schema; the API server knows apiVersion, kind and metadata by itself and lets a CRD say nothing about them."""
    definitions = api_types().definitions
    root = openapi(definitions[name], Definitions(definitions))
    for field, type_ in (("apiVersion", "string"), ("kind", "string"), ("metadata", "object")):
        root["properties"][field] = {"type": type_}
        root["required"].remove(field)
    return root


def _subresources(name: str, served: dict[str, Any]) -> Manifest:
    """Returns the subresources: the status of a kind that has one, and the scale of one with a selector of its pods."""
    subresources: Manifest = {"status": {}} if "status" in api_types().definitions[name]["fields"] else {}
    if "selector" in served:
        subresources["scale"] = {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": served["selector"],
        }
    return {"subresources": subresources} if subresources else {}
