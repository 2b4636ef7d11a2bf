"""Defines the settings of a compilation."""

from __future__ import annotations

from grove_compiler.record import record

OFFLINE_KUBE_VERSION = "1.32"


@record
class Settings:
    """The settings that the caller of a compilation chooses.

    `namespace` is that of manifests without one. With `pods`, Pods are generated too, which otherwise another controller makes.
    `kube_version` is the target's `major.minor`, from which the served API versions follow. A set of more than `max_objects` objects is an
    error. `mnnvl_shape` is the form of the designs' ComputeDomains and claims, `as-proposed` or `driver`; none derives it from the
    snapshot. `is_operator` is set by our operator, so that no other controller manages the objects.
    """

    namespace: str = "default"
    pods: bool = False
    kube_version: str = OFFLINE_KUBE_VERSION
    max_objects: int = 200_000
    mnnvl_shape: str | None = None
    is_operator: bool = False

    @property
    def kube_minor(self) -> int:
        """The minor version of the target: 32 for Kubernetes 1.32; 0 when unknown."""
        digits = self.kube_version.removeprefix("v").split(".")[1:2]
        number = "".join(digit for digit in "".join(digits) if digit.isdecimal())
        return int(number) if number else 0

    @property
    def resource_api(self) -> str:
        """The newest version of `resource.k8s.io` that the target serves: v1 from 1.34, v1beta2 from 1.33, else v1beta1."""
        return "v1" if self.kube_minor >= 34 else "v1beta2" if self.kube_minor == 33 else "v1beta1"
