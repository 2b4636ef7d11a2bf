"""Writes objects of resource.k8s.io/v1 in the newest version that the control plane serves: tests run against older ones as well."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from applier.ref import Manifest
from applier.testing import assets, versions
from applier.testing.errors import NotBuilt
from grove_compiler.model.inputs.settings import Settings

GROUP = "resource.k8s.io"


def kube_version() -> str:
    """The version of the programs that tests start, as settings have it; where there are none, of those that we build."""
    with suppress(NotBuilt):
        return f"1.{assets.find().kube_minor}"
    return versions.version("kubernetes").rpartition(".")[0]


def served_version() -> str:
    """The newest version of resource.k8s.io that they serve."""
    return Settings(kube_version=kube_version()).resource_api


def as_served(manifest: Manifest) -> Manifest:
    """The manifest in that version, if it is one of resource.k8s.io/v1."""
    if manifest["apiVersion"] != f"{GROUP}/v1":
        return manifest
    version = served_version()
    return {**(_flat(manifest) if version == "v1beta1" else manifest), "apiVersion": f"{GROUP}/{version}"}


def _flat(value: Any) -> Any:
    """What v1beta1 has one level higher than later versions (what a request asks for exactly) or lower (what a device has)."""
    if isinstance(value, list):
        return [_flat(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "exactly" in value:
        value = {**{key: item for key, item in value.items() if key != "exactly"}, **value["exactly"]}
    if "attributes" in value:
        value = {"name": value["name"], "basic": {key: item for key, item in value.items() if key != "name"}}
    return {key: _flat(item) if key != "basic" else item for key, item in value.items()}
