"""In which wave each object is written: what the graph says, and what Kubernetes implies.

Implied: a namespace before what is in it, a definition (CRD) before objects of its kind, and before a workload what the API server
refuses it without (service account, priority class) or its pods cannot start without (config maps, secrets, claims). An implied edge
that would close a cycle is left out; a cycle of the graph's own is an error. What intercepts requests comes last, so that nobody's
webhook is asked before what answers for it is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from applier.desired import Cycle, Desired, Graph
from applier.ref import GroupKind, Manifest, Ref

NAMESPACE = ("", "Namespace")
DEFINITION = ("apiextensions.k8s.io", "CustomResourceDefinition")
RBAC = "rbac.authorization.k8s.io"
LAST = {
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"),
}
"""Kinds that intercept the requests of others."""

NEEDED_BY_PODS = {
    ("", "ConfigMap"),
    ("", "Secret"),
    ("", "ServiceAccount"),
    ("", "PersistentVolumeClaim"),
    ("scheduling.k8s.io", "PriorityClass"),
    ("node.k8s.io", "RuntimeClass"),
}


class Order(NamedTuple):
    """Waves, and for each object what it waits for: as the graph says (`needs`), and as Kubernetes implies (`follows`)."""

    waves: list[list[Ref]]
    needs: dict[Ref, list[Ref]]
    follows: dict[Ref, list[Ref]]


class _Ordered(Graph):
    """A graph with implied edges added. What comes before each object is worked out once."""

    def __init__(self, graph: Graph, needs: dict[Ref, list[Ref]], follows: dict[Ref, list[Ref]]) -> None:
        self.objects, self.needs, self.follows = graph.objects, needs, follows

    def before(self, desired: Desired) -> list[Ref]:
        return [*self.needs.get(desired.ref, ()), *self.follows.get(desired.ref, ())]


def order(graph: Graph) -> Order:
    """Waves with implied edges. Raises `Cycle` when the graph's own edges close one."""
    needs = {ref: before for ref, desired in graph.objects.items() if (before := graph.before(desired))}
    follows = _implied(graph)
    ordered = _Ordered(graph, needs, follows)
    while True:
        try:
            return Order(_intercepting_last(ordered.waves(), needs, follows), needs, follows)
        except Cycle as cycle:
            if not _cut(cycle, follows):
                raise


def _cut(cycle: Cycle, follows: dict[Ref, list[Ref]]) -> bool:
    """Leaves out the implied edges of a cycle; says whether there were any."""
    implied = [(ref, before) for ref, before in pairwise(cycle.path) if before in follows.get(ref, ())]
    for ref, before in implied:
        follows[ref].remove(before)
    return bool(implied)


def _intercepting_last(waves: list[list[Ref]], needs: dict[Ref, list[Ref]], follows: dict[Ref, list[Ref]]) -> list[list[Ref]]:
    """Moves what intercepts requests, and is waited for by nobody, behind all others."""
    late = [ref for wave in waves for ref in wave if ref[:2] in LAST]
    if late:
        awaited = {before for edges in (needs, follows) for all_before in edges.values() for before in all_before}
        late = [ref for ref in late if ref not in awaited]
    if not late:
        return waves
    moved = set(late)
    return [kept for wave in waves if (kept := [ref for ref in wave if ref not in moved])] + [late]


def _implied(graph: Graph) -> dict[Ref, list[Ref]]:
    """For each object, what Kubernetes wants to be there first; each once, and only what is in the graph."""
    objects = graph.objects
    present = {ref[:2] for ref in objects}
    definitions = dict(_defined_kinds(graph)) if DEFINITION in present else {}
    namespaces, pods_need = NAMESPACE in present, bool(present & NEEDED_BY_PODS)
    edges: dict[Ref, list[Ref]] = {}
    for ref, desired in objects.items():
        wanted: list[Ref] = []
        if namespaces and ref.namespace:
            wanted.append(Ref("", "Namespace", "", ref.namespace))
        if ref[:2] in definitions:
            wanted.append(definitions[ref[:2]])
        if ref.group == RBAC and ref.kind.endswith("Binding"):
            wanted.append(_role(ref, desired.manifest))
        if pods_need:
            wanted.extend(_needed_by_pods(ref, desired.manifest))
        if found := [before for before in dict.fromkeys(wanted) if before in objects and before != ref]:
            edges[ref] = found
    return edges


def _defined_kinds(graph: Graph) -> Iterator[tuple[GroupKind, Ref]]:
    """Group and kind of what the definitions (CRDs) of a graph define, with the definition."""
    for ref, desired in graph.objects.items():
        if ref[:2] == DEFINITION:
            spec = desired.manifest.get("spec") or {}
            yield (str(spec.get("group", "")), str((spec.get("names") or {}).get("kind", ""))), ref


def defined_kinds(graph: Graph) -> dict[GroupKind, Ref]:
    """Group and kind of what the graph itself defines, with the definition."""
    return dict(_defined_kinds(graph))


def _role(ref: Ref, manifest: Manifest) -> Ref:
    role = manifest.get("roleRef") or {}
    kind = str(role.get("kind", ""))
    return Ref(RBAC, kind, ref.namespace if kind == "Role" else "", str(role.get("name", "")))


def _needed_by_pods(ref: Ref, manifest: Manifest) -> Iterator[Ref]:
    """What the pods of an object name: objects of its namespace, and classes."""
    spec = _pod_spec(manifest)
    if not spec:
        return
    if account := spec.get("serviceAccountName"):
        yield Ref("", "ServiceAccount", ref.namespace, account)
    if name := spec.get("priorityClassName"):
        yield Ref("scheduling.k8s.io", "PriorityClass", "", name)
    if name := spec.get("runtimeClassName"):
        yield Ref("node.k8s.io", "RuntimeClass", "", name)
    for kind, name in (*_from_volumes(spec), *_from_containers(spec)):
        if name:
            yield Ref("", kind, ref.namespace, name)


def _pod_spec(manifest: Manifest) -> dict[str, Any]:
    """The pod spec inside a pod, a workload with a `template`, or a cron job; empty where there is none."""
    spec = manifest.get("spec")
    if not isinstance(spec, dict):
        return {}
    if manifest.get("kind") == "CronJob":
        spec = (spec.get("jobTemplate") or {}).get("spec") or {}
    if isinstance(template := spec.get("template"), dict):
        spec = template.get("spec") or {}
    return spec if isinstance(spec.get("containers"), list) else {}


def _from_volumes(spec: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for secret in spec.get("imagePullSecrets") or ():
        yield "Secret", secret.get("name")
    for volume in spec.get("volumes") or ():
        yield "PersistentVolumeClaim", (volume.get("persistentVolumeClaim") or {}).get("claimName")
        yield "ConfigMap", (volume.get("configMap") or {}).get("name")
        yield "Secret", (volume.get("secret") or {}).get("secretName")
        for source in (volume.get("projected") or {}).get("sources") or ():
            yield "ConfigMap", (source.get("configMap") or {}).get("name")
            yield "Secret", (source.get("secret") or {}).get("name")


def _from_containers(spec: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    containers: Iterable[dict[str, Any]] = (*(spec.get("initContainers") or ()), *spec["containers"])
    for container in containers:
        for source in container.get("envFrom") or ():
            yield "ConfigMap", (source.get("configMapRef") or {}).get("name")
            yield "Secret", (source.get("secretRef") or {}).get("name")
        for variable in container.get("env") or ():
            if source := variable.get("valueFrom"):
                yield "ConfigMap", (source.get("configMapKeyRef") or {}).get("name")
                yield "Secret", (source.get("secretKeyRef") or {}).get("name")
