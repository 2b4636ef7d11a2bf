"""Defines the programs of the control plane, their versions, and the name of a build."""

from __future__ import annotations

import hashlib
import platform
import re
from pathlib import Path
from typing import NamedTuple

MODULES = Path(__file__).parent / "go"


class ControlPlaneProgram(NamedTuple):
    """Represents a program of the control plane: the folder of the Go module that pins it, and its package there."""

    name: str
    module: str
    package: str


PROGRAMS = (
    ControlPlaneProgram("kube-apiserver", "kubernetes", "k8s.io/kubernetes/cmd/kube-apiserver"),
    ControlPlaneProgram("etcd", "kubernetes", "go.etcd.io/etcd/server/v3"),
    ControlPlaneProgram("kubectl", "kubernetes", "k8s.io/kubernetes/cmd/kubectl"),
    ControlPlaneProgram("kube-controller-manager", "kubernetes", "k8s.io/kubernetes/cmd/kube-controller-manager"),
    ControlPlaneProgram("kube-scheduler", "kubernetes", "k8s.io/kubernetes/cmd/kube-scheduler"),
    ControlPlaneProgram("kwok", "kwok", "sigs.k8s.io/kwok/cmd/kwok"),
)

NEEDED = ("etcd", "kube-apiserver", "kubectl")
"""The required programs. They are also those of envtest's `KUBEBUILDER_ASSETS`."""

OPTIONAL = ("kube-controller-manager", "kube-scheduler", "kwok")

STAGES = "kwok-stages.yaml"
"""The folder, beside the programs, of the stages by which kwok changes nodes and pods."""

_REQUIRED = {
    "kubernetes": ("kubernetes", "k8s.io/kubernetes"),
    "etcd": ("kubernetes", "go.etcd.io/etcd/server/v3"),
    "kwok": ("kwok", "sigs.k8s.io/kwok"),
}
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def version(product: str) -> str:
    """Returns the version of `kubernetes`, `etcd` or `kwok` that go.mod pins, without the v."""
    module, path = _REQUIRED[product]
    required = re.search(rf"^\s*(?:require\s+)?{re.escape(path)} v(\S+)", (MODULES / module / "go.mod").read_text("utf-8"), re.MULTILINE)
    if required is None:
        raise ValueError(f"{module}/go.mod does not require {path}")
    return required[1]


def linker_flags(program: ControlPlaneProgram) -> str:
    """Returns linker flags that strip symbols and set Kubernetes' version, without which `kubectl version` fails."""
    if not program.package.startswith("k8s.io/kubernetes/"):
        return "-s -w"
    major, minor, _ = version("kubernetes").split(".", 2)
    variables = {"gitVersion": f"v{version('kubernetes')}", "gitMajor": major, "gitMinor": minor}
    return "-s -w " + " ".join(f"-X k8s.io/component-base/version.{name}={value}" for name, value in variables.items())


def key() -> str:
    """Returns the name of a build: versions, platform, and a digest of everything that is pinned."""
    digest = hashlib.sha256()
    for program in PROGRAMS:
        pinned = ", ".join(f"{name}={value!r}" for name, value in program._asdict().items())  # builds outlive the name of a class
        digest.update(f"Program({pinned}) {linker_flags(program)}".encode())
    for path in sorted(MODULES.glob("*/go.*")):
        digest.update(path.read_bytes())
    machine = platform.machine().lower()
    where = f"{platform.system().lower()}-{_ARCHITECTURES.get(machine, machine)}"
    return f"kubernetes-{version('kubernetes')}-kwok-{version('kwok')}-{where}-{digest.hexdigest()[:8]}"
