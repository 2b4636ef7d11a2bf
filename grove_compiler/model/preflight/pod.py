"""Decides which preflight checks a pod gets at its creation, and what its containers pass on to them (`pod` in rules)."""

from __future__ import annotations

from typing import Protocol

from grove_compiler.graph.node import Manifest
from grove_compiler.model.declared import declared
from grove_compiler.model.lazy import lazy
from grove_compiler.model.preflight.containers import TOPOLOGY_VARIABLE, Container, copied_mount
from grove_compiler.model.preflight.gang import GangReference, find_gang
from grove_compiler.model.preflight.placement import instance_type
from grove_compiler.model.preflight.pod_devices import PodWithDevices
from grove_compiler.model.preflight.values import Preflight, PreflightCheck, matches_any
from grove_compiler.record import record
from kube_objects.label_selector import selects

SELECTION = "nvsentinel.nvidia.com/preflight-checks"
"""The annotation with which a pod selects its checks."""


@record(slots=False)
class CheckedPod(PodWithDevices):
    """A pod at its creation, with the facts of the cluster and the values about it. `namespace` is the request's if the pod names none."""

    volumes = declared(list[Manifest], "spec.volumes")

    @property
    def name(self) -> str:
        """`metadata.name`, else `generateName`: pods of most controllers have no name yet."""
        metadata = self.manifest.get("metadata") or {}
        return str(metadata.get("name") or metadata.get("generateName") or "pod")

    @lazy
    def init_container_names(self) -> list[str]:
        """The names of its init containers."""
        return [str(container.get("name")) for container in self.spec.get("initContainers") or []]

    # -- checks ------------------------------------------------------------------------------------------------------------

    @lazy
    def selection(self) -> list[str] | None:
        """The checks that its annotation names, in that order; none without the annotation, or if the values do not allow it.

        It may name a check by its container as well, `preflight-dcgm-diag`, which is what NVSentinel's checks are called.
        """
        text = self.annotations.get(SELECTION)
        if text is None or not self.preflight.pods_may_select:
            return None
        containers = {check.container_name: check.name for check in self.preflight.checks}
        own = {check.name: check.name for check in self.preflight.checks}
        names = (name.strip() for name in text.split(","))
        return [{**containers, **own}.get(name, name) for name in names if name]

    @lazy
    def chosen(self) -> list[PreflightCheck]:
        """The checks that it selects, else the default ones; a rule may skip some of them."""
        checks = {check.name: check for check in self.preflight.checks}
        if self.selection is not None:
            return [checks[name] for name in self.selection if name in checks]
        return [check for check in checks.values() if check.is_default]

    @lazy
    def checks(self) -> list[PreflightCheck]:
        """The checks to inject: the chosen ones that are neither skipped nor injected already."""
        return [check for check in self.chosen if check.container_name not in self.init_container_names and not self.why_skipped(check)]

    @lazy
    def has_gang_check(self) -> bool:
        """Whether any of its checks runs across its gang."""
        return any(self.decisions.of(CheckDecisions).runs_in_gang(check) for check in self.checks)

    @lazy
    def suits_gang_check(self) -> bool:
        """Whether it would get a check that runs across its gang, whatever the gang's size; true while its claims are unknown."""
        runs, unmet = self.decisions.of(CheckDecisions).runs_in_gang, self.decisions.of(CheckDecisions).unmet_need
        suits = any(runs(check) and not unmet(check, self) for check in self.chosen)
        return bool(self.unknown_claims) or (suits and self.decisions.of(CheckDecisions).is_checked(self))

    @lazy
    def has_network_check(self) -> bool:
        """Whether any of its checks needs the devices and settings of the network."""
        return any(self.decisions.of(CheckDecisions).uses_network(check) for check in self.checks)

    def why_skipped(self, check: PreflightCheck) -> str:
        """Returns why a check is not injected, by the rule `skip_reason`; empty if it is."""
        return self.decisions.of(CheckDecisions).skip_reason(check, self)

    @lazy
    def gang(self) -> GangReference | None:
        """Its gang; none if it belongs to none."""
        return find_gang(self, self._template_has_gang_check)

    def _template_has_gang_check(self, template: Manifest) -> bool:
        """Reports whether pods of a template in its namespace get a gang check; true for an unknown template."""
        if not template.get("spec"):
            return True
        return CheckedPod(template, self.namespace, self.preflight, self.snapshot, self.decisions).suits_gang_check

    # -- what its containers pass on to checks -------------------------------------------------------------------------------

    @lazy
    def nccl_environment(self) -> list[Manifest]:
        """The variables of its containers that match the configured patterns, each name once.

        The variable of the topology file is only passed on together with a mount of that file.
        """
        variables: dict[str, Manifest] = {}
        for container in self.containers:
            for name, variable in container.variables.items():
                lacks_mount = name == TOPOLOGY_VARIABLE and self.topology_mount is None
                if not lacks_mount and matches_any(name, self.preflight.env_patterns):
                    variables.setdefault(name, variable)
        if self._topology_container is not None:
            variables[TOPOLOGY_VARIABLE] = self._topology_container.variables[TOPOLOGY_VARIABLE]
        return list(variables.values())

    @lazy
    def topology_mount(self) -> Manifest | None:
        """The mount of the user's own topology file; none without one."""
        return self._topology_container.topology_mount if self._topology_container is not None else None

    @lazy
    def _topology_container(self) -> Container | None:
        return next((container for container in self.containers if container.topology_mount is not None), None)

    @lazy
    def instance_type(self) -> str:
        """The instance type of the nodes on which it may run; empty if they differ or are unknown."""
        return instance_type(self.spec, self.preflight.instance_type_label, self.snapshot)

    @lazy
    def topology_file(self) -> str:
        """The name of the built-in topology file for its instance type; empty if there is none, or if the user provides one."""
        return "" if self.topology_mount is not None else self.preflight.topology_files.get(self.instance_type, "")

    @property
    def detects_topology(self) -> bool:
        """Whether its checks have to find out the type of their machine: nothing tells it yet, and there are files to choose from."""
        return self.topology_mount is None and not self.instance_type and bool(self.preflight.topology_files)

    @lazy
    def copied_mounts(self) -> list[Manifest]:
        """The mounts that network checks copy from its containers, by the rule `is_copied_mount`, each path once.

        The topology file's mount comes first.
        """
        is_copied = self.decisions.of(CheckDecisions).is_copied_mount
        copies = [copied_mount(self.topology_mount)] if self.topology_mount is not None else []
        given = (copied_mount(mount) for container in self.containers for mount in container.mounts)
        copies += (mount for mount in given if is_copied(mount, self.preflight))
        return list({mount["mountPath"]: mount for mount in reversed(copies)}.values())[::-1]

    @lazy
    def volume_names(self) -> list[str]:
        """The names of its volumes."""
        return [str(volume.get("name") or "") for volume in self.volumes]

    def volume(self, name: str) -> Manifest:
        """Returns its volume of that name; empty without one."""
        return next((volume for volume in self.volumes if volume.get("name") == name), {})

    # -- its namespace -----------------------------------------------------------------------------------------------------

    @lazy
    def security_profile(self) -> str:
        """The Pod Security Standard that its namespace enforces; empty if it enforces none or is unknown."""
        return (self.namespace_labels or {}).get("pod-security.kubernetes.io/enforce") or ""

    @lazy
    def namespace_labels(self) -> dict[str, str] | None:
        """The labels of its namespace; none if the namespace is unknown."""
        namespace = self.snapshot.find("v1", "Namespace", "", self.namespace)
        return (namespace.get("metadata") or {}).get("labels") or {} if namespace is not None else None

    @property
    def is_in_chosen_namespace(self) -> bool:
        """Whether the values select its namespace, by name or by labels.

        An unknown namespace counts as selected by labels: the webhook has the same selector, so no others reach it.
        """
        selector = self.preflight.namespace_selector
        if selector is None:
            return self.namespace in self.preflight.namespaces
        return self.namespace_labels is None or selects(selector, self.namespace_labels)


class CheckDecisions(Protocol):
    @staticmethod
    def is_copied_mount(mount: dict[str, object], preflight: Preflight) -> bool:
        """Decides whether network checks copy a mount of the pod's containers, besides that of the topology file."""

    @staticmethod
    def runs_in_gang(check: PreflightCheck) -> bool:
        """Decides whether a check runs across the gang of a pod."""

    @staticmethod
    def gets_network_devices(check: PreflightCheck) -> bool:
        """Decides whether a check is given the network devices of its pod, if there are any: extended resources and claims."""

    @staticmethod
    def uses_network(check: PreflightCheck) -> bool:
        """Decides whether a check needs the network: only pods with network devices get it, with NCCL's settings and topology."""

    @staticmethod
    def unmet_need(check: PreflightCheck, pod: CheckedPod) -> str:
        """Decides which requirement of a check a pod does not meet, in words; empty if it meets all."""

    @staticmethod
    def skip_reason(check: PreflightCheck, pod: CheckedPod) -> str:
        """Decides why a chosen check is not injected into a pod; empty if it is."""

    @staticmethod
    def is_checked(pod: CheckedPod) -> bool:
        """Decides whether a pod gets checks at all."""
