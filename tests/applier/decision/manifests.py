"""Random manifests of many kinds, from few values, so that two of them agree in about half of their fields."""

from __future__ import annotations

from random import Random
from typing import Any

Manifest = dict[str, Any]

GADGET_GROUP = "decision.example"


class Some:
    """Draws parts of a manifest. Everything comes from one seed."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def of(self, *values: Any) -> Any:
        return self.random.choice(values)

    def maybe(self, **members: Any) -> dict[str, Any]:
        """Some of the members; those given as functions are only called when chosen."""
        chosen = {name: value for name, value in members.items() if self.random.random() < 0.5}
        return {name: value() if callable(value) else value for name, value in chosen.items()}

    def several(self, names: str, make: Any) -> list[Any]:
        """Some items by name, in any order, at least one."""
        chosen = self.random.sample(names.split(), self.random.randint(1, len(names.split())))
        return [make(name) for name in chosen]

    def words(self) -> dict[str, str]:
        return {name: self.of("x", "y") for name in ("a", "b", "c.d/e") if self.random.random() < 0.6} or {"a": "x"}

    def size(self) -> Any:
        return self.of("1", "1000m", 1, "0.5", "500m", "2", "1024Mi", "1Gi", "1.0")


def metadata(some: Some, name: str) -> Manifest:
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": some.of("11111111-1", "22222222-2")}
    optional = some.maybe(
        labels=some.words,
        annotations=lambda: {**some.words(), "note": some.of('<a> & "b"', "ü\n", "")},
        finalizers=lambda: some.several("example.com/one example.com/two", str) if some.random.random() < 0.3 else ["example.com/one"],
    )
    if some.random.random() < 0.2:
        optional["ownerReferences"] = [owner]
    if some.random.random() < 0.1:
        optional["creationTimestamp"] = None
    return {"name": name, **optional}


def config_map(some: Some, name: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata(some, name),
        **some.maybe(data=some.words, binaryData=lambda: {"bin": some.of("AAEC", "/+8=")}, immutable=False),
    }


def secret(some: Some, name: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "metadata": metadata(some, name),
        **some.maybe(data=lambda: {"user": some.of("YQ==", "Yg=="), "key": "a2V5"}, stringData=lambda: {"user": some.of("a", "b")}),
    }


def service(some: Some, name: str) -> Manifest:
    def port(name: str) -> Manifest:
        number = {"http": 80, "https": 443, "dns": 53}[name]
        optional = some.maybe(targetPort=lambda: some.of(number, name, 8080), appProtocol=lambda: some.of("http", "h2c"))
        protocol = {"protocol": "UDP"} if name == "dns" else some.maybe(protocol="TCP")
        return {"name": name, "port": number, **protocol, **optional}

    spec = {
        "ports": some.several("http https dns", port),
        **some.maybe(
            selector=some.words,
            sessionAffinity=lambda: some.of("None", "ClientIP"),
            publishNotReadyAddresses=lambda: some.of(True, False),
            internalTrafficPolicy="Cluster",
            externalIPs=lambda: some.of(["10.1.1.1"], ["10.1.1.1", "10.1.1.2"], []),
        ),
    }
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata(some, name), "spec": spec}


def container(some: Some, name: str) -> Manifest:
    def variable(key: str) -> Manifest:
        if key == "NODE":
            return {
                "name": key,
                "valueFrom": {"fieldRef": {"fieldPath": some.of("spec.nodeName", "metadata.name"), **some.maybe(apiVersion="v1")}},
            }
        if key == "CONF":
            chosen = {"name": "settings", "key": "a", **some.maybe(optional=lambda: some.of(True, False))}
            return {"name": key, "valueFrom": {"configMapKeyRef": chosen}}
        if key == "CPU":
            return {
                "name": key,
                "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", **some.maybe(divisor=lambda: some.of("0", "1m"))}},
            }
        return {"name": key, **some.maybe(value=lambda: some.of("1", "2", ""))}

    probe = {
        "httpGet": {"path": "/", "port": some.of(80, "http"), **some.maybe(scheme="HTTP")},
        **some.maybe(periodSeconds=lambda: some.of(5, 10)),
    }
    return {
        "name": name,
        "image": some.of("busybox:1", "busybox:2"),
        **some.maybe(
            args=lambda: some.of([], ["a"], ["a", "b"]),
            env=lambda: some.several("A B NODE CPU CONF", variable),
            ports=lambda: [
                {"containerPort": number, **some.maybe(protocol="TCP", name=f"p{number}")} for number in some.of([80], [80, 81], [81, 80])
            ],
            resources=lambda: some.of(
                {}, {"requests": {"cpu": some.size()}}, {"limits": {"cpu": some.size(), "memory": some.of("1Gi", "1024Mi")}}
            ),
            securityContext=lambda: some.of({}, {"privileged": False}, {"capabilities": {"drop": ["ALL"]}}),
            readinessProbe=probe,
            volumeMounts=lambda: some.several(
                "config scratch", lambda volume: {"name": volume, "mountPath": f"/{volume}", **some.maybe(readOnly=False)}
            ),
            stdin=lambda: some.of(False, True),
        ),
    }


def pod_spec(some: Some) -> Manifest:
    config = {"name": "config", "configMap": {"name": "settings", **some.maybe(items=[{"key": "a", "path": "b"}], defaultMode=420)}}
    scratch = {"name": "scratch", "emptyDir": some.of({}, {"sizeLimit": some.of("1Gi", "1024Mi")})}
    token = {"serviceAccountToken": {"path": "token", **some.maybe(expirationSeconds=lambda: some.of(3600, 7200))}}
    down = {"downwardAPI": {"items": [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}]}}
    projected = {"name": "all", "projected": {"sources": some.of([token], [token, down], [down])}}
    tolerations = [[], [{"key": "a", "operator": "Exists"}], [{"key": "a", "operator": "Exists", "effect": "NoSchedule"}]]
    return {
        "containers": some.several("main side", lambda name: container(some, name)),
        "volumes": [config, scratch, *([projected] if some.random.random() < 0.5 else [])],
        **some.maybe(
            tolerations=lambda: some.of(*tolerations),
            nodeSelector=lambda: some.of({}, {"disk": "ssd"}),
            hostNetwork=False,
            terminationGracePeriodSeconds=lambda: some.of(0, 30, 60),
            securityContext=lambda: some.of({}, {"runAsUser": 0}),
            imagePullSecrets=lambda: some.several("one two", lambda name: {"name": name}),
            enableServiceLinks=lambda: some.of(True, False),
            priority=None,
        ),
    }


def template(some: Some) -> Manifest:
    labels = {"app": "a", **some.words()}
    return {"metadata": {"labels": labels, **some.maybe(creationTimestamp=None, annotations=some.words)}, "spec": pod_spec(some)}


def deployment(some: Some, name: str) -> Manifest:
    rolling = {"type": "RollingUpdate", **some.maybe(rollingUpdate=lambda: {"maxSurge": some.of(1, "25%"), **some.maybe(maxUnavailable=0)})}
    spec = {
        "selector": {"matchLabels": {"app": "a"}},
        "template": template(some),
        **some.maybe(
            replicas=lambda: some.of(0, 1, 3), strategy=lambda: some.of({}, rolling), paused=False, minReadySeconds=lambda: some.of(0, 5)
        ),
    }
    extra = some.maybe(status=lambda: some.of({}, {"replicas": 7})) if some.random.random() < 0.2 else {}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata(some, name), "spec": spec, **extra}


def stateful_set(some: Some, name: str) -> Manifest:
    storage = some.random.choice(["1Gi"])
    claim = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}}}
    spec = {
        "serviceName": "a",
        "selector": {"matchLabels": {"app": "a"}},
        "template": template(some),
        "volumeClaimTemplates": [claim],
        **some.maybe(replicas=lambda: some.of(1, 2), minReadySeconds=0),
    }
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": metadata(some, name), "spec": spec}


def pod(some: Some, name: str) -> Manifest:
    fixed = Some(Random(name))
    spec = {**pod_spec(fixed), "containers": [container(fixed, "main")], "volumes": [], "terminationGracePeriodSeconds": 0}
    spec["containers"][0].pop("volumeMounts", None)
    spec["containers"][0].pop("env", None)
    spec["containers"][0]["image"] = some.of("busybox:1", "busybox:2")
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata(some, name), "spec": spec}


def autoscaler(some: Some, name: str) -> Manifest:
    metric = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": some.of(50, 80)}}}
    pods = {"type": "Pods", "pods": {"metric": {"name": "rate"}, "target": {"type": "AverageValue", "averageValue": some.of("1", "1000m")}}}
    policy = {"type": "Pods", "value": 1, "periodSeconds": 60}
    spec = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"},
        "maxReplicas": some.of(5, 6),
        **some.maybe(
            minReplicas=lambda: some.of(1, 2),
            metrics=lambda: some.of([metric], [metric, pods], [pods]),
            behavior=lambda: {"scaleDown": {**some.maybe(stabilizationWindowSeconds=0, policies=[policy], selectPolicy="Max")}},
        ),
    }
    return {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": metadata(some, name), "spec": spec}


def role(some: Some, name: str) -> Manifest:
    rule = {"apiGroups": [""], "resources": some.of(["pods"], ["pods", "services"]), "verbs": ["get"]}
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": metadata(some, name),
        "rules": some.of([], [rule], [rule, {**rule, "verbs": ["list"], "resourceNames": []}]),
    }


def ingress(some: Some, name: str) -> Manifest:
    backend = {"service": {"name": "a", "port": some.of({"number": 80}, {"name": "http"})}}
    rule = {
        "host": some.of("a.example", "b.example"),
        "http": {"paths": [{"path": "/", "pathType": some.of("Prefix", "Exact"), "backend": backend}]},
    }
    spec = {"rules": [rule], **some.maybe(tls=[{"hosts": ["a.example"], "secretName": "a"}], ingressClassName="nginx")}
    return {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": metadata(some, name), "spec": spec}


def network_policy(some: Some, name: str) -> Manifest:
    peer = {"from": [{"podSelector": {}}], "ports": [{"port": some.of(80, "http"), **some.maybe(protocol="TCP")}]}
    spec = {
        "podSelector": some.of({}, {"matchLabels": {"a": "x"}}),
        **some.maybe(ingress=lambda: some.of([peer], [{}], []), policyTypes=["Ingress"]),
    }
    return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": metadata(some, name), "spec": spec}


def gadget(some: Some, name: str) -> Manifest:
    """A custom object with every way to merge."""

    def keyed(key: str) -> Manifest:
        return {
            "id": key,
            **some.maybe(port=lambda: some.of(80, 81), value=lambda: some.of("x", "y"), inner=lambda: {"deep": some.of(1, 2)}),
        }

    free = {"any": some.of(1, 1.5, "x", True), "map": {"k": some.of("x", 2)}, "list": some.of([1], [1, "x"], [])}
    spec = some.maybe(
        words=some.words,
        whole=lambda: {"a": some.of("x", "y"), **some.maybe(b="z")},
        struct=lambda: {"first": some.of("x", "y"), **some.maybe(second=lambda: some.of(1, 0))},
        wholeStruct=lambda: {"first": some.of("x", "y"), **some.maybe(second=lambda: some.of(5, 6))},
        listed=lambda: some.of([], ["a"], ["a", "b"]),
        chosen=lambda: some.several("red green blue", str),
        keyed=lambda: some.several("one two three", keyed),
        wholeItems=lambda: [{"name": "a", **some.maybe(level=lambda: some.of(1, 2))}],
        free=lambda: {**some.maybe(**free)} or {"any": 1},
        untyped=lambda: some.of(1, "x", {"a": 1}, [1, 2]),
        amount=lambda: some.of(1, 1.0, 1.5),
        either=lambda: some.of(80, "80"),
        nothing=lambda: some.of(None, "x"),
        flag=lambda: some.of(True, False),
        level=lambda: some.of(3, 4),
        embedded=lambda: {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": some.words()},
    )
    extra = {"status": {"phase": some.of("A", "B")}} if some.random.random() < 0.2 else {}
    return {"apiVersion": f"{GADGET_GROUP}/v1", "kind": "Gadget", "metadata": metadata(some, name), "spec": spec, **extra}


KINDS = {
    make.__name__: make
    for make in (config_map, secret, service, deployment, stateful_set, pod, autoscaler, role, ingress, network_policy, gadget)
}

_TEXT, _WHOLE = {"type": "string"}, {"type": "integer"}
_STRUCT = {"type": "object", "properties": {"first": _TEXT, "second": {**_WHOLE, "default": 5}}}
_KEYED = {
    "type": "object",
    "required": ["id"],
    "properties": {
        "id": _TEXT,
        "port": {**_WHOLE, "default": 80},
        "value": _TEXT,
        "inner": {"type": "object", "properties": {"deep": _WHOLE}},
    },
}
_SPEC = {
    "words": {"type": "object", "additionalProperties": _TEXT},
    "whole": {"type": "object", "additionalProperties": _TEXT, "x-kubernetes-map-type": "atomic"},
    "struct": _STRUCT,
    "wholeStruct": {**_STRUCT, "x-kubernetes-map-type": "atomic"},
    "listed": {"type": "array", "items": _TEXT},
    "chosen": {"type": "array", "items": _TEXT, "x-kubernetes-list-type": "set"},
    "keyed": {"type": "array", "items": _KEYED, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["id", "port"]},
    "wholeItems": {
        "type": "array",
        "x-kubernetes-list-type": "atomic",
        "items": {"type": "object", "properties": {"name": _TEXT, "level": {**_WHOLE, "default": 1}}},
    },
    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    "untyped": {"x-kubernetes-preserve-unknown-fields": True},
    "amount": {"type": "number"},
    "either": {"x-kubernetes-int-or-string": True},
    "nothing": {"type": "string", "nullable": True},
    "flag": {"type": "boolean"},
    "level": {**_WHOLE, "default": 3},
    "embedded": {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True},
}
GADGET_DEFINITION: Manifest = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"gadgets.{GADGET_GROUP}"},
    "spec": {
        "group": GADGET_GROUP,
        "scope": "Namespaced",
        "names": {"kind": "Gadget", "plural": "gadgets", "singular": "gadget", "listKind": "GadgetList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {"type": "object", "properties": _SPEC},
                            "status": {"type": "object", "properties": {"phase": _TEXT}},
                        },
                    }
                },
            }
        ],
    },
}
