"""Computes the readiness of any object: first by what applies to all kinds, then by the rule of its kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from applier.readiness.rules import ReadinessRule
from applier.readiness.state import ObservedCondition, Readiness, State, conditions, failed, in_progress, number, part, ready
from applier.readiness.workloads import daemon_set, deployment, job, pod, replica_set, stateful_set
from applier.ref import GroupKind, Manifest, Ref, being_deleted

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


UNREPORTED = in_progress("it has no status yet")
"""The readiness of an object whose controller has not written a status yet, or that has no controller; only time can tell which."""


def readiness(manifest: Manifest, rules: Iterable[ReadinessRule] = (), *, has_status: bool = False) -> Readiness:
    """Returns the readiness of a live object.

    The rules are those of kstatus (github.com/kubernetes-sigs/cli-utils, pkg/kstatus), where it knows a kind. A rule in `rules` takes
    precedence over the built-in one. `has_status` tells that the kind has a status subresource: a custom resource without a status is then
    `UNREPORTED`, in progress, while kstatus counts it as ready.
    """
    ref = Ref.of(manifest)
    if common := _common(manifest):
        return common
    for rule in rules:
        if (rule.group, rule.kind) == ref[:2]:
            return rule.judge(manifest)
    if built_in := BUILT_IN.get(ref[:2]):
        return built_in(manifest)
    return _by_conditions(manifest, has_status=has_status and ref.group not in BUILT_IN_GROUPS)


def _common(manifest: Manifest) -> Readiness | None:
    """Returns what applies to all kinds: deletion, a spec that was not observed yet, and the two standard conditions of kstatus."""
    metadata = part(manifest, "metadata")
    if metadata.get("deletionTimestamp"):
        return Readiness(State.TERMINATING, being_deleted(manifest))
    status = part(manifest, "status")
    generation, observed = number(metadata, "generation"), status.get("observedGeneration")
    if isinstance(observed, int) and observed < generation:
        return in_progress(f"generation {generation} is not observed by its controller yet, which is at {observed}")
    by_type = conditions(manifest)
    if (stalled := by_type.get("Stalled")) and stalled.status == "True":
        return failed(stalled.text())
    if (reconciling := by_type.get("Reconciling")) and reconciling.status == "True":
        return in_progress(reconciling.text())
    return None


def _by_conditions(manifest: Manifest, *, has_status: bool) -> Readiness:
    """Returns the readiness of a kind without a rule: by the condition Ready if there is one, else ready."""
    own = conditions(manifest).get("Ready")
    if own is None:
        return UNREPORTED if has_status and not part(manifest, "status") else ready()
    if _is_stale(own, manifest):
        return in_progress(f"condition Ready is for generation {own.observed}")
    if own.status == "True":
        return ready()
    return in_progress(own.text() if own.reason or own.message else f"condition Ready is {own.status or 'empty'}")


def _is_stale(condition: ObservedCondition, manifest: Manifest) -> bool:
    return 0 < condition.observed < number(part(manifest, "metadata"), "generation")
