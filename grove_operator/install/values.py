"""What can be chosen about an installation: the values of `grove install` and of the Helm chart, with their defaults.

`values.yaml`, `values.schema.json` and the table in `docs/install.md` are made of these types.
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
"""Who has to change what the operator keeps: who fills in tokens, deletes what nobody owns any more, scales, and binds pods."""

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
"""Those of the shipped chart (shipped semantics §11); what is left out has the default of the OperatorConfiguration."""


class Part(BaseModel):
    """Base of all: camelCase where people write, no unknown names."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", use_attribute_docstrings=True, validate_by_name=True)


class Image(Part):
    """The image, which is that of the operator and of the init container that pods wait in."""

    repository: str = "ghcr.io/ai-dynamo/grove-operator"
    """Where it is."""
    tag: str = ""
    """Its tag; the chart's version when empty."""
    digest: str = ""
    """Its digest (`sha256:…`), which counts before a tag."""
    pull_policy: Literal["Always", "IfNotPresent", "Never"] = "IfNotPresent"
    """When it is pulled."""


class ServiceAccount(Part):
    """The account that the operator logs in with."""

    annotations: dict[str, str] = {}
    """Its annotations."""


class Webhooks(Part):
    """Admission, in the operator's process."""

    enabled: bool = True
    """Whether it is installed."""
    only: bool = False
    """Whether nothing but those of `config.admission.mnnvlWebhooks` is installed, for a cluster where another operator keeps sets."""
    failure_policy: Literal["Fail", "Ignore"] = "Fail"
    """What an API server does with a set when no replica answers."""
    annotations: dict[str, str] = {}
    """Annotations of the webhook configurations, such as cert-manager's."""


class Rules(Part):
    """Rules of your own."""

    config_map: str = ""
    """A ConfigMap of the operator's namespace with rules and templates; `grove-operator-rules` when empty. It need not exist."""
    image: str = ""
    """An image with a folder of rules and templates, which is mounted in place of the ConfigMap (Kubernetes' feature ImageVolume)."""


class PriorityClass(Part):
    """The priority of the operator's pods."""

    create: bool = False
    """Whether a PriorityClass is made."""
    name: str = ""
    """Its name, whoever makes it; when empty `grove-operator-priority-critical` where one is made, else pods have none."""
    value: int = 999999550
    """Its value."""


class Switch(Part):
    """Something that is installed or not."""

    enabled: bool = True
    """Whether it is installed."""


class NetworkPolicy(Switch):
    """Who may connect."""

    egress: list[dict[str, Any]] = []
    """Where the operator may connect to, as a NetworkPolicy says it; anywhere when empty. The API server and DNS have to be among them."""


class ServiceMonitor(Part):
    """For the Prometheus operator, whose definitions have to be there."""

    enabled: bool = False
    """Whether it is installed."""
    interval: str = "30s"
    """How often metrics are scraped."""
    labels: dict[str, str] = {}
    """Its labels, by which a Prometheus selects it."""


class Dashboard(Part):
    """A dashboard for Grafana's sidecar."""

    enabled: bool = False
    """Whether it is installed."""
    labels: dict[str, str] = {"grafana_dashboard": "1"}
    """Its labels, by which the sidecar finds it."""


class Crds(Switch):
    """Our definitions; they stay when the operator goes, for sets would go with them."""


def _preflight() -> dict[str, Any]:
    return read_values(None)[0].manifest


class Values(Part):
    """All that can be chosen."""

    replicas: int = Field(default=2, ge=0)
    """Pods of the operator; one leads, the others stand by."""
    image: Image = Image()
    """The image."""
    image_pull_secrets: list[dict[str, str]] = []
    """Secrets to pull it with."""
    resources: dict[str, Any] = {"requests": {"cpu": "50m", "memory": "256Mi"}, "limits": {"memory": "2Gi"}}
    """Resources of the container."""
    pod_labels: dict[str, str] = {}
    """More labels of the pods."""
    pod_annotations: dict[str, str] = {}
    """More annotations of the pods."""
    node_selector: dict[str, str] = {}
    """Nodes that pods may run on."""
    tolerations: list[dict[str, Any]] = []
    """Taints that pods tolerate."""
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
    """Where pods go; beside one another only if it has to be."""
    topology_spread_constraints: list[dict[str, Any]] = []
    """How pods are spread."""
    service_account: ServiceAccount = ServiceAccount()
    """The service account."""
    crds: Crds = Crds()
    """Our definitions."""
    webhooks: Webhooks = Webhooks()
    """Admission."""
    rules: Rules = Rules()
    """Rules of your own."""
    priority_class: PriorityClass = PriorityClass()
    """The priority of the operator's pods."""
    pod_disruption_budget: Switch = Switch()
    """A PodDisruptionBudget, by which drains take one pod at a time."""
    network_policy: NetworkPolicy = NetworkPolicy()
    """A NetworkPolicy."""
    service_monitor: ServiceMonitor = ServiceMonitor()
    """A ServiceMonitor."""
    dashboard: Dashboard = Dashboard()
    """A dashboard."""
    preflight_injector: dict[str, Any] = Field(default_factory=_preflight, alias="preflight-injector")
    """Preflight checks of GPU pods (docs/preflight.md)."""
    config: dict[str, Any] = CONFIG
    """Fields of the OperatorConfiguration (docs/configuration.md); the init container's image is ours unless it is told."""


def defaults() -> dict[str, Any]:
    """Returns all values with their defaults."""
    return Values().model_dump(by_alias=True, mode="json")
