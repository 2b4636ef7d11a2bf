"""Finds the GPUs, network devices and claims that a pod requests. Rules decide which requests count as devices."""

from __future__ import annotations

from typing import Protocol

from grove_compiler.graph.node import Manifest
from grove_compiler.model.decisions import DecisionRules
from grove_compiler.model.declared import declared
from grove_compiler.model.inputs.snapshot import Snapshot
from grove_compiler.model.lazy import lazy
from grove_compiler.model.preflight.containers import Container, containers_of
from grove_compiler.model.preflight.devices import (
    IMPLICIT_PREFIX,
    DeviceRequest,
    PodResourceClaim,
    claims_of,
    classes_behind,
    extended_resources,
)
from grove_compiler.model.preflight.values import Preflight
from grove_compiler.record import record


@record(slots=False)
class PodWithDevices:
    """A pod at its creation. `namespace` is that of the request if the pod names none."""

    manifest: Manifest
    namespace: str
    preflight: Preflight
    snapshot: Snapshot
    decisions: DecisionRules

    spec = declared(Manifest, "spec")
    labels = declared(dict[str, str], "metadata.labels")
    annotations = declared(dict[str, str], "metadata.annotations")

    @lazy
    def containers(self) -> list[Container]:
        """Its containers, init containers and sidecars, without checks that were injected before."""
        checks = {check.container_name for check in self.preflight.checks}
        containers = containers_of(self.spec)
        return [
            container for container in containers if container.name not in checks or not container.path.startswith("spec.initContainers")
        ]

    @lazy
    def gpu_classes(self) -> list[str]:
        """The device classes of GPUs: the configured ones, and those that serve a configured extended resource."""
        configured = self.preflight.gpu_classes
        return list(dict.fromkeys([*configured, *self._classes_behind(self.preflight.gpu_resources)]))

    @lazy
    def network_classes(self) -> list[str]:
        """The device classes of network devices: the configured ones, and those that serve a configured extended resource."""
        return list(dict.fromkeys([*self.preflight.network_classes, *self._classes_behind(self.preflight.network_resources)]))

    @lazy
    def gpus(self) -> dict[str, int]:
        """The largest GPU request of any container, by extended resource, without resources that no container requests."""
        return self._largest_requests([*self.preflight.gpu_resources, *self._extended_resources(self.gpu_classes)])

    @lazy
    def network_devices(self) -> dict[str, int]:
        """The largest request of network devices, in the form of `gpus`."""
        return self._largest_requests([*self.preflight.network_resources, *self._extended_resources(self.network_classes)])

    @lazy
    def claims(self) -> list[PodResourceClaim]:
        """Its claims (`spec.resourceClaims`)."""
        return claims_of(self.spec, self.namespace, self.snapshot)

    @lazy
    def unknown_claims(self) -> list[PodResourceClaim]:
        """The claims whose spec could not be read; empty if no device class counts as a GPU or network device."""
        if not self.claims or not (self.gpu_classes or self.network_classes):
            return []
        return [claim for claim in self.claims if claim.problem]

    @lazy
    def gpu_claims(self) -> list[PodResourceClaim]:
        """The claims that request GPUs, by the rule `is_gpu_request`."""
        is_gpu = self.decisions.of(DeviceDecisions).is_gpu_request
        return [claim for claim in self.claims if any(is_gpu(request, self.gpu_classes) for request in claim.requests)]

    @lazy
    def network_claims(self) -> list[PodResourceClaim]:
        """The claims that request network devices, by the rule `is_network_request`."""
        is_network = self.decisions.of(DeviceDecisions).is_network_request
        return [claim for claim in self.claims if any(is_network(request, self.network_classes) for request in claim.requests)]

    @lazy
    def mnnvl_claims(self) -> list[PodResourceClaim]:
        """The claims through which it joins a ComputeDomain, by the rule `is_mnnvl_claim`."""
        return [claim for claim in self.claims if self.decisions.of(DeviceDecisions).is_mnnvl_claim(claim)]

    @lazy
    def has_gpus(self) -> bool:
        """Whether it requests GPUs, as extended resources or through claims."""
        return bool(self.gpus or self.gpu_claims)

    @lazy
    def is_guaranteed(self) -> bool:
        """Whether its containers give it the QoS class Guaranteed; false with pod-level resources, which decide instead of them."""
        return not self.spec.get("resources") and bool(self.containers) and all(container.is_guaranteed for container in self.containers)

    @lazy
    def gpu_containers(self) -> list[Container]:
        """The containers that request GPUs of their own: of the containers that share a claim only the first counts."""
        names = {claim.name for claim in self.gpu_claims}
        users: dict[str, Container] = {}
        for container in self.containers:
            for use in container.claims:
                if use.get("name") in names:
                    users.setdefault(str(use["name"]), container)
        requesting = [container for container in self.containers if any(map(container.requested, self.gpus))]
        return list({container.path: container for container in (*requesting, *users.values())}.values())

    def references(self, claims: list[PodResourceClaim]) -> list[Manifest]:
        """Returns the entries of `resources.claims` by which containers use these claims, each entry once.

        A claim may be given several times: it may hold GPUs and network devices, and an API server rejects a repeated reference. A
        reference to a whole claim stands for those to its single requests.
        """
        names = dict.fromkeys(claim.name for claim in claims)
        return [reference for name in names for reference in self._references(name)]

    def _references(self, name: str) -> list[Manifest]:
        uses = (use for container in self.containers for use in container.claims if use.get("name") == name)
        requests = dict.fromkeys(use.get("request") or "" for use in uses)
        if not requests or "" in requests:
            return [{"name": name}]
        return [{"name": name, "request": request} for request in requests]

    def _largest_requests(self, resources: list[str]) -> dict[str, int]:
        amounts = {resource: max((container.requested(resource) for container in self.containers), default=0) for resource in resources}
        return {resource: amount for resource, amount in amounts.items() if amount}

    def _classes_behind(self, resources: list[str]) -> list[str]:
        return classes_behind(self.snapshot, resources) if self.snapshot and self._names_classes else []

    @lazy
    def _names_classes(self) -> bool:
        """Whether it may request devices by device class: through claims, or through a class's implicit extended resource (KEP-5004)."""
        resources = (name for container in self.containers for name in container.resource_names)
        return bool(self.spec.get("resourceClaims")) or any(name.startswith(IMPLICIT_PREFIX) for name in resources)

    def _extended_resources(self, classes: list[str]) -> list[str]:
        return extended_resources(self.snapshot, classes) if classes else []


class DeviceDecisions(Protocol):
    @staticmethod
    def is_gpu_request(request: DeviceRequest, classes: list[str]) -> bool:
        """Decides whether a device request is for GPUs that checks may test; `classes` are the device classes of GPUs."""

    @staticmethod
    def is_network_request(request: DeviceRequest, classes: list[str]) -> bool:
        """Decides whether a device request is for network devices; `classes` are their device classes."""

    @staticmethod
    def is_mnnvl_claim(claim: PodResourceClaim) -> bool:
        """Decides whether a pod joins a ComputeDomain through a claim."""
