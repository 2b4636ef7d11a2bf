"""Defines the values of an installation, those of `grove install` and of the Helm chart, with their defaults.

`values.yaml`, `values.schema.json` and the table in `docs/install.md` are generated from these types.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from grove_compiler.preflight import read_values

EXEMPT = [
    "system:serviceaccount:kube-system:generic-garbage-collector",
    "system:serviceaccount:kube-system:horizontal-pod-autoscaler",
    "system:kube-controller-manager",
    "system:serviceaccount:kai-scheduler:pod-grouper",
    "system:serviceaccount:kai-scheduler:binder",
]
"""Users that have to change objects which the operator manages: they fill in tokens, delete orphans, scale, and bind pods."""

OWN_LABELS = ("app.kubernetes.io/name", "app.kubernetes.io/version")
"""Labels of the pods that cannot be set: the selectors of the Deployments and Services have the first."""

CONFIG: dict[str, Any] = {
    "leaderElection": {"enabled": True, "resourceNamespace": ""},
    "admission": {"mnnvlWebhooks": False},
    "authorizer": {"enabled": False, "exemptServiceAccountUserNames": EXEMPT},
    "server": {
        "webhooks": {
            "port": 9443,
            "certProvisionMode": "auto",
            "secretName": "grove-webhook-server-cert",
            "serviceName": "grove-operator",
            "serverCertDir": "/etc/grove-operator/webhook-certs",
        },
        "healthProbes": {"port": 9444},
        "metrics": {"port": 9445},
    },
    "logLevel": "info",
    "logFormat": "json",
    "scheduler": {"profiles": [{"name": "default-scheduler"}, {"name": "kai-scheduler"}]},
}
"""The defaults of the upstream chart (shipped semantics §11); an absent field has the default of the OperatorConfiguration."""


class Part(BaseModel):
    """The base of all sections: their keys are in camelCase, and unknown keys are rejected."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", use_attribute_docstrings=True, validate_by_name=True)


class Image(Part):
    """The image of the operator, and of the start-up init container."""

    repository: str = "ghcr.io/ai-dynamo/grove-operator"
    """The repository; `make push REGISTRY=registry.example.com/grove` in a clone fills `registry.example.com/grove/grove-operator`."""
    tag: str = ""
    """The tag; the chart's version when empty."""
    digest: str = ""
    """The digest (`sha256:…`), which takes precedence over the tag."""
    pull_policy: Literal["Always", "IfNotPresent", "Never"] = "IfNotPresent"
    """The pull policy."""


class ServiceAccount(Part):
    """The service account of the operator."""

    annotations: dict[str, str] = {}
    """Annotations of the service account."""


class UserRoles(Part):
    """Roles for people who have sets in their namespaces."""

    create: bool = True
    """Whether to create roles by which `view`, `edit` and `admin` of Kubernetes include sets and what they become."""
    cluster_viewers: list[dict[str, str]] = []
    """Subjects that may read topologies, PriorityClasses and the operator's configuration, such as the group `system:authenticated`."""


class Webhooks(Part):
    """The admission webhooks, which the operator serves."""

    enabled: bool = True
    """Whether to install the webhooks."""
    only: bool = False
    """Whether to install only the webhooks of `config.admission.mnnvlWebhooks`, for a cluster with another Grove operator."""
    failure_policy: Literal["Fail", "Ignore"] = "Fail"
    """What an API server does with a request when no webhook responds."""
    annotations: dict[str, str] = {}
    """Annotations of the webhook configurations, such as cert-manager's."""


class Rules(Part):
    """Rules of your own."""

    config_map: str = ""
    """A ConfigMap with rules and templates in the operator's namespace; `grove-operator-rules` when empty. It is optional."""
    image: str = ""
    """An image with a folder of rules and templates, mounted instead of the ConfigMap (needs the feature gate ImageVolume)."""


class PriorityClass(Part):
    """The priority of the operator's pods."""

    create: bool = False
    """Whether to create a PriorityClass."""
    name: str = ""
    """The name of a new or existing PriorityClass; when empty, `grove-operator-priority-critical` if one is created, else none."""
    value: int = 999999550
    """The value of a new PriorityClass."""


class PodDisruptionBudget(Part):
    """The disruption budget of the operator's pods."""

    enabled: bool = True
    """Whether to install a PodDisruptionBudget."""


class NetworkPolicy(Part):
    """The network policy of the operator's pods."""

    enabled: bool = True
    """Whether to install a NetworkPolicy."""
    egress: list[dict[str, Any]] = []
    """Egress rules of the NetworkPolicy; empty allows everything. They must allow the API server and DNS."""


class ServiceMonitor(Part):
    """A ServiceMonitor; it needs the CustomResourceDefinitions of the Prometheus operator."""

    enabled: bool = False
    """Whether to install a ServiceMonitor."""
    interval: str = "30s"
    """The scrape interval."""
    labels: dict[str, str] = {}
    """Labels by which a Prometheus selects it."""


class Dashboard(Part):
    """A dashboard for Grafana's sidecar."""

    enabled: bool = False
    """Whether to install the dashboard."""
    labels: dict[str, str] = {"grafana_dashboard": "1"}
    """Labels by which Grafana's sidecar selects it."""


class Crds(Part):
    """The CustomResourceDefinitions; they stay on uninstall, since deleting them would delete all sets."""

    enabled: bool = True
    """Whether to install the CustomResourceDefinitions."""


def _preflight() -> dict[str, Any]:
    return read_values(None)[0].manifest


class Values(Part):
    """All values of an installation."""

    replicas: int = Field(default=2, ge=0)
    """Replicas of the operator; one leads, the others stand by."""
    image: Image = Image()
    """The image."""
    image_pull_secrets: list[dict[str, str]] = []
    """Image pull secrets."""
    resources: dict[str, Any] = {"requests": {"cpu": "50m", "memory": "256Mi"}, "limits": {"memory": "2Gi"}}
    """Resources of the container."""
    pod_labels: dict[str, str] = Field(default={}, json_schema_extra={"propertyNames": {"not": {"enum": list(OWN_LABELS)}}})
    """Additional labels of the pods."""
    pod_annotations: dict[str, str] = {}
    """Additional annotations of the pods."""
    node_selector: dict[str, str] = {}
    """Node selector of the pods."""
    tolerations: list[dict[str, Any]] = []
    """Tolerations of the pods."""
    affinity: dict[str, Any] = {
        "podAntiAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {
                    "weight": 100,
                    "podAffinityTerm": {
                        "topologyKey": "kubernetes.io/hostname",
                        "labelSelector": {"matchLabels": {"app.kubernetes.io/name": "grove-operator"}},
                    },
                }
            ]
        }
    }
    """Affinity of the pods; by default they prefer different nodes."""
    topology_spread_constraints: list[dict[str, Any]] = []
    """Topology spread constraints of the pods."""
    service_account: ServiceAccount = ServiceAccount()
    """The service account."""
    user_roles: UserRoles = UserRoles()
    """Roles of users."""
    crds: Crds = Crds()
    """CustomResourceDefinitions."""
    webhooks: Webhooks = Webhooks()
    """Admission."""
    rules: Rules = Rules()
    """Rules of your own."""
    priority_class: PriorityClass = PriorityClass()
    """The priority of the operator's pods."""
    pod_disruption_budget: PodDisruptionBudget = PodDisruptionBudget()
    """A PodDisruptionBudget, so that drains evict one pod at a time."""
    network_policy: NetworkPolicy = NetworkPolicy()
    """A NetworkPolicy."""
    service_monitor: ServiceMonitor = ServiceMonitor()
    """A ServiceMonitor."""
    dashboard: Dashboard = Dashboard()
    """A dashboard."""
    preflight_injector: dict[str, Any] = Field(default_factory=_preflight, alias="preflight-injector")
    """Preflight checks of GPU pods (docs/preflight.md)."""
    config: dict[str, Any] = CONFIG
    """Fields of the OperatorConfiguration (docs/configuration.md); the init container's image defaults to the operator's."""


def defaults() -> dict[str, Any]:
    """Returns all values with their defaults."""
    return Values().model_dump(by_alias=True, mode="json")
