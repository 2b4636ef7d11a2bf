"""Collects the structs of Kubernetes' types in a set by type, for the rules in `rules/validation/pod`."""

from __future__ import annotations

from functools import cache
from typing import Any

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.definitions import DEFINITIONS
from grove_compiler.model.spec.pod_spec import by_name
from grove_compiler.record import record

CONTAINERS = ("Container", "EphemeralContainer")
GATED = ("ClusterTrustBundleProjection", "PodCertificateProjection")
"""Types that Kubernetes 1.35 drops unless a feature gate is enabled; they are only validated by servers that do not drop them."""

UNREAD = ("MetricIdentifier", "selector")
"""A field that is not validated: an autoscaler passes a metric's selector on to the metrics server, and the API server accepts any."""


@record
class Struct:
    """A struct that a user wrote in a Kubernetes type: a pod spec, a container, a probe, a metric.

    `type` is its name in that API, `field` the field that holds it, `index` its position where that is a list. `holder` is the enclosing
    struct; outermost ones have none, and `field` is their whole path. `named` indexes lists of a pod spec once somebody has asked.
    """

    type: str
    manifest: Manifest
    holder: Struct | None
    field: str
    index: int | None
    named: dict[str, dict[str, Manifest]] | None = None

    @property
    def path(self) -> str:
        """Its field path in the set."""
        # Built only for findings: a template has a hundred structs, and a valid one needs no path.
        step = self.field if self.index is None else f"{self.field}[{self.index}]"
        return f"{self.holder.path}.{step}" if self.holder is not None else step

    @property
    def pod(self) -> Manifest:
        """The enclosing pod spec, itself for a pod spec; empty outside of any."""
        spec = self.enclosing("PodSpec")
        return spec.manifest if spec is not None else {}

    @property
    def volumes(self) -> dict[str, Manifest]:
        """The volumes of the enclosing pod spec, by name."""
        return self._named_in_pod("volumes")

    @property
    def containers(self) -> dict[str, Manifest]:
        """The containers of the enclosing pod spec, by name."""
        return self._named_in_pod("containers")

    @property
    def resource_claims(self) -> dict[str, Manifest]:
        """The resource claims of the enclosing pod spec, by name."""
        return self._named_in_pod("resourceClaims")

    @property
    def host_port(self) -> tuple[Any, ...] | None:
        """What a port of a container takes from its pod's node: pod, port, protocol and address. None for one that takes nothing."""
        port, holder = self.manifest, self.holder
        if holder is None or holder.field != "containers" or not port.get("hostPort"):
            return None
        return id(self.pod), port["hostPort"], port.get("protocol"), port.get("hostIP")

    @property
    def projected_path(self) -> tuple[Any, ...] | None:
        """Where a projected volume has a file of one of its sources, volume and path; none for a file of another volume."""
        source = self.holder.holder if self.holder is not None else None
        if source is None or source.type != "VolumeProjection" or not self.manifest.get("path"):
            return None
        return id(source.holder), self.manifest["path"]

    def enclosing(self, struct_type: str) -> Struct | None:
        """Returns the innermost struct of a type around it, itself if it is one; none outside of any."""
        struct: Struct | None = self
        while struct is not None and struct.type != struct_type:
            struct = struct.holder
        return struct

    def _named_in_pod(self, field: str) -> dict[str, Manifest]:
        """Returns the items of a list in the enclosing pod spec by name. Indexed once for all that ask."""
        spec = self.enclosing("PodSpec")
        if spec is None:
            return {}
        if spec.named is None:
            spec.named = {}
        if field not in spec.named:
            spec.named[field] = by_name(spec.manifest.get(field))
        return spec.named[field]

    @property
    def container(self) -> Struct | None:
        """The enclosing container, itself for a container; none outside of any."""
        return self if self.type in CONTAINERS else self.holder.container if self.holder is not None else None


def structs_in(manifest: Manifest, struct_type: str, path: str) -> list[Struct]:
    """Returns every struct in a value of `struct_type` (`core/v1.PodSpec`) at `path`, depth first: itself, then those inside.

    Unknown fields and values of the wrong type are left out: both have findings of their own.
    """
    structs: list[Struct] = []
    _collect(struct_type, Struct(struct_type.rpartition(".")[2], manifest, None, path, None), structs)
    return structs


def _collect(struct_type: str, struct: Struct, structs: list[Struct]) -> None:
    structs.append(struct)
    below = _structs_below(struct_type)
    for name, value in struct.manifest.items():
        if name not in below:
            continue
        kind, short, is_list = below[name]
        if not is_list:
            if isinstance(value, dict):
                _collect(kind, Struct(short, value, struct, name, None), structs)
            continue
        for index, item in enumerate(value or ()):
            if isinstance(item, dict):
                _collect(kind, Struct(short, item, struct, name, index), structs)


@cache
def _structs_below(struct_type: str) -> dict[str, tuple[str, str, bool]]:
    """Returns the fields of a type that hold structs, each with the struct's type, its short name, and whether the field is a list."""
    below = {}
    short = struct_type.rpartition(".")[2]
    for name, schema in DEFINITIONS[struct_type]["fields"].items():
        is_list = schema.get("kind") == "list"
        kind = (schema["items"] if is_list else schema).get("ref")
        if kind is not None and kind.rpartition(".")[2] not in GATED and (short, name) != UNREAD:
            below[name] = kind, kind.rpartition(".")[2], is_list
    return below
