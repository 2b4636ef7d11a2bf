"""A pod that is created, with everything that decides which checks it gets and what those are given: rules call it `pod`."""

from __future__ import annotations

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.label_selector import selects
from grove_compiler.model.decisions import DecisionRules
from grove_compiler.model.inputs.snapshot import Snapshot, Unknown
from grove_compiler.model.lazy import lazy
from grove_compiler.model.preflight.containers import TOPOLOGY_VARIABLE, Container, containers_of
from grove_compiler.model.preflight.devices import IMPLICIT_PREFIX, Claim, DeviceRequest, claims_of, classes_behind, extended_resources
from grove_compiler.model.preflight.gang import GangReference, find_gang
from grove_compiler.model.preflight.globs import matches_any
from grove_compiler.model.preflight.placement import instance_type
from grove_compiler.model.preflight.values import Check, Preflight
from grove_compiler.model.spec.declared import declared
from grove_compiler.record import record

SELECTION = "nvsentinel.nvidia.com/preflight-checks"
"""The annotation by which a pod chooses its checks."""


@record(slots=False)
class CheckedPod:
    """A pod, and what the cluster and the values say about it. `namespace` is the request's where the pod names none."""

    manifest: Manifest
    namespace: str
    preflight: Preflight
    snapshot: Snapshot
    decisions: DecisionRules

    spec = declared(dict, "spec")
    annotations = declared(dict[str, str], "metadata.annotations")
    volumes = declared(list[Manifest], "spec.volumes")

    @property
    def name(self) -> str:
        """The name, or what a name is made of; pods of most controllers have none yet."""
        metadata = self.manifest.get("metadata") or {}
        return str(metadata.get("name") or metadata.get("generateName") or "pod")

    # -- devices -----------------------------------------------------------------------------------------------------------

    @lazy
    def containers(self) -> list[Container]:
        """Its containers, init containers and sidecars, without checks that were injected before."""
        ours = {check.container_name for check in self.preflight.checks}
        return [one for one in containers_of(self.spec) if one.name not in ours or not one.path.startswith("spec.initContainers")]

    @lazy
    def gpu_classes(self) -> list[str]:
        """The classes of GPUs: those that are configured, and those that stand behind a configured resource."""
        configured = self.preflight.gpu_classes
        return list(dict.fromkeys([*configured, *self._behind(self.preflight.gpu_resources)]))

    @lazy
    def network_classes(self) -> list[str]:
        """The classes of network devices, found in the same way."""
        return list(dict.fromkeys([*self.preflight.network_classes, *self._behind(self.preflight.network_resources)]))

    @lazy
    def gpus(self) -> dict[str, int]:
        """The most that any container asks for, by the extended resource; resources that none asks for are left out."""
        return self._most([*self.preflight.gpu_resources, *self._resources_of(self.gpu_classes)])

    @lazy
    def network_devices(self) -> dict[str, int]:
        """The same of network devices."""
        return self._most([*self.preflight.network_resources, *self._resources_of(self.network_classes)])

    @lazy
    def claims(self) -> list[Claim]:
        """Its claims, with what they ask for."""
        return claims_of(self.spec, self.namespace, self.snapshot)

    @lazy
    def unknown_claims(self) -> list[Claim]:
        """The claims of which nobody knows what they ask for, where that is of interest: some class counts as a device."""
        if not self.claims or not (self.gpu_classes or self.network_classes):
            return []
        return [claim for claim in self.claims if claim.problem]

    @lazy
    def gpu_claims(self) -> list[Claim]:
        """The claims that ask for GPUs."""
        is_gpu = self.decisions.of(is_gpu_request)
        return [claim for claim in self.claims if any(is_gpu(request, self.gpu_classes) for request in claim.requests)]

    @lazy
    def network_claims(self) -> list[Claim]:
        """The claims that ask for network devices."""
        is_network = self.decisions.of(is_network_request)
        return [claim for claim in self.claims if any(is_network(request, self.network_classes) for request in claim.requests)]

    @lazy
    def mnnvl_claims(self) -> list[Claim]:
        """The claims through which it joins a ComputeDomain."""
        return [claim for claim in self.claims if self.decisions.of(is_mnnvl_claim)(claim)]

    @lazy
    def has_gpus(self) -> bool:
        """Whether it asks for GPUs, in whichever way."""
        return bool(self.gpus or self.gpu_claims)

    @lazy
    def has_network(self) -> bool:
        """Whether it asks for network devices, in whichever way."""
        return bool(self.network_devices or self.network_claims)

    @lazy
    def is_guaranteed(self) -> bool:
        """Whether what its containers ask for makes it Guaranteed; not where it asks for something as a whole, which counts instead."""
        return not self.spec.get("resources") and bool(self.containers) and all(one.is_guaranteed for one in self.containers)

    @lazy
    def gpu_containers(self) -> list[Container]:
        """The containers that ask for GPUs, each for its own: those of a claim that several use are the same ones."""
        names = {claim.name for claim in self.gpu_claims}
        users: dict[str, Container] = {}
        for one in self.containers:
            for use in one.claims:
                if use.get("name") in names:
                    users.setdefault(str(use["name"]), one)
        holders = [one for one in self.containers if any(one.asks_for(resource) for resource in self.gpus)]
        return list({one.path: one for one in (*holders, *users.values())}.values())

    def references(self, claims: list[Claim]) -> list[Manifest]:
        """Returns how containers refer to these claims, each reference once: a whole claim makes references to its requests needless."""
        return [reference for claim in claims for reference in self._references(claim.name)]

    def _references(self, name: str) -> list[Manifest]:
        requests = dict.fromkeys(use.get("request") or "" for one in self.containers for use in one.claims if use.get("name") == name)
        if not requests or "" in requests:
            return [{"name": name}]
        return [{"name": name, "request": request} for request in requests]

    def _most(self, resources: list[str]) -> dict[str, int]:
        most = {resource: max((one.asks_for(resource) for one in self.containers), default=0) for resource in resources}
        return {resource: number for resource, number in most.items() if number}

    def _behind(self, resources: list[str]) -> list[str]:
        return classes_behind(self.snapshot, resources) if self.snapshot and self._names_classes else []

    @lazy
    def _names_classes(self) -> bool:
        """Whether it asks for devices by their class: through claims, or as for an extended resource (KEP-5004)."""
        by_name = (name for one in self.containers for name in one.resource_names)
        return bool(self.spec.get("resourceClaims")) or any(name.startswith(IMPLICIT_PREFIX) for name in by_name)

    def _resources_of(self, classes: list[str]) -> list[str]:
        return extended_resources(self.snapshot, classes) if classes else []

    @lazy
    def init_container_names(self) -> list[str]:
        """The names of its init containers."""
        return [str(one.get("name")) for one in self.spec.get("initContainers") or []]

    # -- checks ------------------------------------------------------------------------------------------------------------

    @lazy
    def selection(self) -> list[str] | None:
        """The checks that its annotation names, in that order; none without the annotation, or where values do not allow it."""
        text = self.annotations.get(SELECTION)
        if text is None or not self.preflight.pods_may_select:
            return None
        return [name.strip() for name in text.split(",") if name.strip()]

    @lazy
    def chosen(self) -> list[Check]:
        """The checks that it should have: those that it names, else the default ones."""
        checks = {check.name: check for check in self.preflight.checks}
        if self.selection is not None:
            return [checks[name] for name in self.selection if name in checks]
        return [check for check in checks.values() if check.is_default]

    @lazy
    def checks(self) -> list[Check]:
        """The checks that it gets: chosen, not skipped, not there already."""
        return [check for check in self.chosen if check.container_name not in self.init_container_names and not self.why_skipped(check)]

    @lazy
    def has_gang_check(self) -> bool:
        """Whether any of its checks runs across its gang."""
        return any(self.decisions.of(runs_in_gang)(check) for check in self.checks)

    @lazy
    def suits_gang_check(self) -> bool:
        """Whether it would have a check that runs across its gang, however large that is; also where nobody knows yet what it asks for."""
        runs, unmet = self.decisions.of(runs_in_gang), self.decisions.of(unmet_need)
        suits = any(runs(check) and not unmet(check, self) for check in self.chosen)
        return bool(self.unknown_claims) or (suits and self.decisions.of(is_checked)(self))

    @lazy
    def has_network_check(self) -> bool:
        """Whether any of its checks needs the network's devices and settings."""
        return any(self.decisions.of(uses_network)(check) for check in self.checks)

    def why_skipped(self, check: Check) -> str:
        """Returns why the pod does not get a check, by the rule `skip_reason`; empty when it does."""
        return self.decisions.of(skip_reason)(check, self)

    @lazy
    def gang(self) -> GangReference | None:
        """The gang that it is in."""
        return find_gang(self.manifest, self.namespace, self.preflight, self.snapshot, self.decisions, self._has_gang_check)

    def _has_gang_check(self, template: Manifest) -> bool:
        """Whether pods of a template in its namespace would have a gang's check; those of a template that nobody knows count as such."""
        return (
            not template.get("spec") or CheckedPod(template, self.namespace, self.preflight, self.snapshot, self.decisions).suits_gang_check
        )

    # -- what checks are given ---------------------------------------------------------------------------------------------

    @lazy
    def nccl_environment(self) -> list[Manifest]:
        """The variables of its containers that the patterns name, each once.

        That of a topology file is among them only where the file is mounted, too.
        """
        found: dict[str, Manifest] = {}
        for one in self.containers:
            for name, variable in one.variables.items():
                is_useless = name == TOPOLOGY_VARIABLE and self.topology_mount is None
                if not is_useless and matches_any(name, self.preflight.env_patterns):
                    found.setdefault(name, variable)
        if self._topology_container is not None:
            found[TOPOLOGY_VARIABLE] = self._topology_container.variables[TOPOLOGY_VARIABLE]
        return list(found.values())

    @lazy
    def topology_mount(self) -> Manifest | None:
        """The mount of the topology file that the user gives."""
        return self._topology_container.topology_mount if self._topology_container is not None else None

    @lazy
    def _topology_container(self) -> Container | None:
        return next((one for one in self.containers if one.topology_mount is not None), None)

    @lazy
    def instance_type(self) -> str:
        """The kind of machine that it will run on, as far as it says so itself; empty where several are possible."""
        return instance_type(self.spec, self.preflight.instance_type_label, self.snapshot)

    @lazy
    def topology_file(self) -> str:
        """The name of the built-in topology file for that machine; empty where there is none, or the user gives one."""
        return "" if self.topology_mount is not None else self.preflight.topology_files.get(self.instance_type, "")

    @lazy
    def copied_mounts(self) -> list[Manifest]:
        """The mounts of its containers that checks of the network take over, each path once; the topology file's first."""
        takes = self.decisions.of(is_copied_mount)
        found = {str(self.topology_mount["mountPath"]): self.topology_mount} if self.topology_mount is not None else {}
        for one in self.containers:
            for mount in one.mounts:
                if takes(mount, self.preflight):
                    found.setdefault(str(mount.get("mountPath")), mount)
        return list(found.values())

    @lazy
    def volume_names(self) -> list[str]:
        """The names of its volumes."""
        return [str(volume.get("name") or "") for volume in self.volumes]

    def volume(self, name: str) -> Manifest:
        """Returns its volume of a name; empty without one."""
        return next((volume for volume in self.volumes if volume.get("name") == name), {})

    @lazy
    def security_profile(self) -> str:
        """The Pod Security Standard that its namespace enforces; empty where it enforces none or is not known."""
        return (self.namespace_labels or {}).get("pod-security.kubernetes.io/enforce") or ""

    @lazy
    def namespace_labels(self) -> dict[str, str] | None:
        """The labels of its namespace; none where nobody knows that."""
        try:
            found = self.snapshot.get("v1", "Namespace", "", self.namespace)
        except Unknown:
            return None
        return (found.get("metadata") or {}).get("labels") or {} if found is not None else None

    @property
    def is_in_chosen_namespace(self) -> bool:
        """Whether the values choose its namespace, by name or by labels.

        One that nobody knows counts as chosen by labels: an API server asks about no others.
        """
        selector = self.preflight.namespace_selector
        if selector is None:
            return self.namespace in self.preflight.namespaces
        return self.namespace_labels is None or selects(selector, self.namespace_labels)


def is_gpu_request(request: DeviceRequest, classes: list[str]) -> bool:
    """Decides whether a request of a claim is for GPUs that checks may test; `classes` are those of GPUs."""
    raise NotImplementedError


def is_network_request(request: DeviceRequest, classes: list[str]) -> bool:
    """Decides whether a request of a claim is for network devices; `classes` are those of such devices."""
    raise NotImplementedError


def is_mnnvl_claim(claim: Claim) -> bool:
    """Decides whether a pod joins a ComputeDomain through a claim."""
    raise NotImplementedError


def is_copied_mount(mount: dict[str, object], preflight: Preflight) -> bool:
    """Decides whether checks of the network get a mount of the pod's containers, besides that of the topology file."""
    raise NotImplementedError


def runs_in_gang(check: Check) -> bool:
    """Decides whether a check runs across the gang of a pod."""
    raise NotImplementedError


def uses_network(check: Check) -> bool:
    """Decides whether a check needs network devices, NCCL's settings and a topology file."""
    raise NotImplementedError


def unmet_need(check: Check, pod: CheckedPod) -> str:
    """Decides what a check needs that a pod has not, in words; empty when it has all."""
    raise NotImplementedError


def skip_reason(check: Check, pod: CheckedPod) -> str:
    """Decides why a pod that should have a check does not get it; empty when it does."""
    raise NotImplementedError


def is_checked(pod: CheckedPod) -> bool:
    """Decides whether a pod gets checks at all."""
    raise NotImplementedError
