"""Computes the readiness of the other built-in kinds, and lists the groups whose kinds are ready as soon as they exist."""

from __future__ import annotations

from collections.abc import Callable

from applier.readiness.state import Readiness, State, conditions, failed, in_progress, part, ready
from applier.readiness.workloads import daemon_set, deployment, job, pod, replica_set, stateful_set
from applier.ref import GroupKind, Manifest

BUILT_IN_GROUPS = frozenset({"", "apps", "autoscaling", "batch", "policy", "extensions"}) | frozenset(
    f"{group}.k8s.io"
    for group in (
        *("admissionregistration", "apiextensions", "apiregistration", "certificates", "coordination", "discovery", "events"),
        *("flowcontrol.apiserver", "internal.apiserver", "networking", "node", "rbac.authorization", "resource", "scheduling"),
        *("storage", "storagemigration"),
    )
)
"""The groups of Kubernetes itself, whose kinds without a rule here are ready as soon as they exist."""


def claim(manifest: Manifest) -> Readiness:
    """Checks a PersistentVolumeClaim: it is ready when bound. One whose volume is lost has failed for good."""
    phase = part(manifest, "status").get("phase") or "Pending"
    if phase == "Lost":
        return failed("its volume is lost")
    return ready("bound") if phase == "Bound" else in_progress(f"not bound: phase {phase}")


def volume(manifest: Manifest) -> Readiness:
    """Checks a PersistentVolume: it is ready when available or in use."""
    status = part(manifest, "status")
    phase = status.get("phase") or "Pending"
    if phase == "Failed":
        return failed(f"phase Failed: {status.get('message') or status.get('reason') or ''}".rstrip(": "), final=False)
    return in_progress("phase Pending") if phase == "Pending" else ready(f"phase {phase}")


def service(manifest: Manifest) -> Readiness:
    """Checks a Service: a load balancer is ready when it has an address. kstatus ignores that, and dependants would fail."""
    if part(manifest, "spec").get("type") != "LoadBalancer":
        return ready()
    ingress = (part(manifest, "status").get("loadBalancer") or {}).get("ingress")
    return ready() if ingress else in_progress("the load balancer has no address yet: does a controller serve load balancers here?")


def disruption_budget(manifest: Manifest) -> Readiness:
    """Checks a PodDisruptionBudget: it is ready once its controller has observed it."""
    if "observedGeneration" not in part(manifest, "status"):
        return in_progress("not observed by its controller yet")
    allowed = conditions(manifest).get("DisruptionAllowed")
    return in_progress(allowed.text()) if allowed and allowed.reason == "SyncFailed" else ready()


def autoscaler(manifest: Manifest) -> Readiness:
    """Checks a HorizontalPodAutoscaler: it is ready once it can scale its target. Missing metrics are reported, not waited for."""
    by_type = conditions(manifest)
    able, active = by_type.get("AbleToScale"), by_type.get("ScalingActive")
    if able is None:
        return in_progress("not observed by its controller yet")
    if able.status != "True":
        return in_progress(able.text())
    return ready(active.text() if active and active.status == "False" and active.reason != "ScalingDisabled" else "")


def definition(manifest: Manifest) -> Readiness:
    """Checks a CustomResourceDefinition: it is ready when established, not only accepted."""
    by_type = conditions(manifest)
    names, established = by_type.get("NamesAccepted"), by_type.get("Established")
    if names and names.status == "False":
        return failed(names.text())
    if established and established.status == "True":
        return ready("established")
    return in_progress(established.text() if established else "not established yet")


def namespace(manifest: Manifest) -> Readiness:
    """Checks a Namespace: it is ready unless terminating, since it then accepts no new objects."""
    phase = part(manifest, "status").get("phase")
    return Readiness(State.TERMINATING, "phase Terminating") if phase == "Terminating" else ready()


def api_service(manifest: Manifest) -> Readiness:
    """Checks an APIService: it is ready when its server answers."""
    available = conditions(manifest).get("Available")
    if available is None:
        return in_progress("condition Available is missing")
    return ready("available") if available.status == "True" else in_progress(available.text())


def ingress(manifest: Manifest) -> Readiness:
    """Checks an Ingress as kstatus does: it is always ready, since many controllers never report an address."""
    addresses = (part(manifest, "status").get("loadBalancer") or {}).get("ingress")
    return ready("" if addresses else "has no address")


BUILT_IN: dict[GroupKind, Callable[[Manifest], Readiness]] = {
    ("", "Pod"): pod,
    ("", "ReplicationController"): replica_set,
    ("", "PersistentVolumeClaim"): claim,
    ("", "PersistentVolume"): volume,
    ("", "Service"): service,
    ("", "Namespace"): namespace,
    ("apps", "Deployment"): deployment,
    ("apps", "ReplicaSet"): replica_set,
    ("apps", "StatefulSet"): stateful_set,
    ("apps", "DaemonSet"): daemon_set,
    ("batch", "Job"): job,
    ("policy", "PodDisruptionBudget"): disruption_budget,
    ("autoscaling", "HorizontalPodAutoscaler"): autoscaler,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): definition,
    ("apiregistration.k8s.io", "APIService"): api_service,
    ("networking.k8s.io", "Ingress"): ingress,
}
"""Rules by group and kind."""
