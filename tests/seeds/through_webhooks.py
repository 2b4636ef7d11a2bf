"""What the webhooks of the annotation design make of PodCliques and PodGangs that another controller writes."""

from __future__ import annotations

import copy
from typing import Any

import jsonpatch

from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.mnnvl_admission import CliqueAdmission, GangAdmission, admit_podclique, admit_podgang
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.step import StepContext
from tests.features.compiling import shipped_program

from .pages import Manifest

PROPOSED = Settings(mnnvl_shape="as-proposed")
DRIVER = Settings(mnnvl_shape="driver", kube_version="1.34")


def podclique(
    name: str = "demo-0-worker", annotations: dict[str, str] | None = None, labels: dict[str, str] | None = None, gpus: int = 4
) -> Manifest:
    """A PodClique of the set `demo`, as another controller asks for it."""
    told = {"grove.io/pcs-name": "demo", "grove.io/pcs-replica-index": "0"} if labels is None else labels
    container = {"name": "main", "image": "i", **({"resources": {"limits": {"nvidia.com/gpu": gpus}}} if gpus else {})}
    metadata = {"name": name, "namespace": "default", "labels": told, **({"annotations": annotations} if annotations else {})}
    spec = {"roleName": "w", "replicas": 1, "podSpec": {"containers": [container]}}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "metadata": metadata, "spec": spec}


def podgang(name: str, uid: str = "", **labels: str) -> Manifest:
    """A PodGang of the set `demo`; without a UID it is only asked for."""
    told = {"grove.io/pcs-name": "demo", "grove.io/pcs-replica-index": "0", **{f"grove.io/{key}": value for key, value in labels.items()}}
    metadata = {"name": name, "namespace": "default", "labels": told, **({"uid": uid} if uid else {})}
    return {"apiVersion": "scheduler.grove.io/v1alpha1", "kind": "PodGang", "metadata": metadata}


def owner(**annotations: Any) -> Manifest:
    """The set `demo`, which says nothing about MNNVL itself."""
    metadata = {"name": "demo", "namespace": "default", "uid": "of-the-set"}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": metadata, "spec": {"template": {"cliques": []}}}


def admitted(manifest: Manifest, *existing: Manifest, old: Manifest | None = None, settings: Settings = PROPOSED) -> CliqueAdmission:
    """What comes of a PodClique beside what exists."""
    view = ObjectList(existing or [owner()])
    return admit_podclique(manifest, old or {}, view, StepContext(shipped_program(), settings), settings)


def patched(manifest: Manifest, admission: CliqueAdmission | GangAdmission) -> Manifest:
    """The object as an API server stores it."""
    made: Manifest = jsonpatch.apply_patch(copy.deepcopy(manifest), admission.patch)
    return made


def joined(manifest: Manifest, *existing: Manifest, settings: Settings = PROPOSED) -> tuple[str, str, str]:
    """The domain that pods join, what their claim refers to, and which gang it is to go with. There must be nothing to find."""
    admission = admitted(manifest, *existing, settings=settings)
    assert words(admission.findings) == []
    if not admission.objects:
        return "", "", ""
    [claim] = patched(manifest, admission)["spec"]["podSpec"]["resourceClaims"]
    domain = admission.objects[0]["metadata"]
    return domain["name"], claim.get("resourceClaimName") or claim["resourceClaimTemplateName"], domain["labels"]["grove.io/podgang"]


def gang_admitted(gang: Manifest, *existing: Manifest, settings: Settings = PROPOSED) -> GangAdmission:
    """What comes of a PodGang beside what exists."""
    admission = admit_podgang(gang, ObjectList(existing), StepContext(shipped_program(), settings), settings)
    assert admission.problem is None
    return admission


def stored(made: Manifest, version: str = "7") -> Manifest:
    """An object as an API server has it."""
    return {**made, "metadata": {**made["metadata"], "resourceVersion": version}}


def words(findings: list[Diagnostic]) -> list[tuple[str, str]]:
    return [(finding.code, finding.path) for finding in findings]
