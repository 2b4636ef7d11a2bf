"""The webhook configurations of an installation: which requests an API server asks us about, and what it does when we are away.

None has a `caBundle`: the operator writes that one field itself (`webhooks/trust.py`), or cert-manager does, and no upgrade takes it away.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Literal

from grove_compiler.graph.node import Manifest
from grove_compiler.record import record

FailurePolicy = Literal["Fail", "Ignore"]
CREATE, UPDATE, DELETE = "CREATE", "UPDATE", "DELETE"


@record
class Rule:
    """Resources of one API group, and what somebody wants to do with them."""

    group: str
    resources: Sequence[str]
    operations: Sequence[str] = (CREATE, UPDATE)
    versions: Sequence[str] = ("v1alpha1",)

    @property
    def manifest(self) -> Manifest:
        """The rule as a webhook configuration has it."""
        return {
            "apiGroups": [self.group],
            "apiVersions": list(self.versions),
            "operations": list(self.operations),
            "resources": list(self.resources),
            "scope": "*",
        }


@record
class Hook:
    """One webhook: names and path are the shipped operator's where it has one (shipped semantics §6).

    Without a `failure_policy` it has that of the installation; `labels` are those of the objects that it is about. One that `writes`
    makes objects, but not for a trial (`dryRun`).
    """

    configuration: str
    name: str
    path: str
    rules: Sequence[Rule]
    is_mutating: bool = False
    failure_policy: FailurePolicy | None = None
    labels: dict[str, str] = field(default_factory=dict)
    writes: bool = False


SETS = Rule("grove.io", ["podcliquesets"])
TOPOLOGIES = Rule("grove.io", ["clustertopologies", "clustertopologybindings"])
DEFAULT_SETS = Hook(
    "podcliqueset-defaulting-webhook", "pcs.defaulting.webhooks.grove.io", "/webhooks/default-podcliqueset", [SETS], is_mutating=True
)
VALIDATE_SETS = Hook("podcliqueset-validating-webhook", "pcs.validating.webhooks.grove.io", "/webhooks/validate-podcliqueset", [SETS])
VALIDATE_TOPOLOGIES = Hook(
    "clustertopology-validating-webhook", "clustertopology.validating.webhooks.grove.io", "/webhooks/validate-clustertopology", [TOPOLOGIES]
)
VALIDATE_SCALES = Hook(
    "scale-validating-webhook",
    "scale.validating.webhooks.grove.io",
    "/webhooks/validate-scale",
    [Rule("grove.io", [f"{kind}/scale" for kind in ("podcliquesets", "podcliquescalinggroups", "podcliques")], [UPDATE])],
    failure_policy="Ignore",  # autoscalers go on while we are away; what got past us in a training set is put back
)
CHANGES, ALL = (UPDATE, DELETE), (CREATE, UPDATE, DELETE)
AUTHORIZE = Hook(
    "authorizer-webhook",
    "authorizer.webhooks.grove.io",
    "/webhooks/authorizer-webhook",
    [
        Rule("", ["secrets", "serviceaccounts", "services"], CHANGES, ["v1"]),
        Rule("", ["pods"], [UPDATE], ["v1"]),
        Rule("rbac.authorization.k8s.io", ["roles", "rolebindings"], CHANGES, ["v1"]),
        Rule("autoscaling", ["horizontalpodautoscalers"], CHANGES, ["v1", "v2"]),
        Rule("grove.io", ["podcliques", "podcliquescalinggroups"], ALL),
        Rule("scheduler.grove.io", ["podgangs"], ALL),
    ],
    failure_policy="Fail",
    labels={"app.kubernetes.io/managed-by": "grove-operator"},
)
POD_CLIQUES = Rule("grove.io", ["podcliques"])
MNNVL_POD_CLIQUES = Hook(
    "mnnvl-podclique-webhook",
    "podclique.mnnvl.webhooks.grove.io",
    "/webhooks/mnnvl-podclique",
    [POD_CLIQUES],
    is_mutating=True,
    writes=True,
)
VALIDATE_MNNVL_POD_CLIQUES = Hook(
    "mnnvl-podclique-validating-webhook",
    "podclique.validating.mnnvl.webhooks.grove.io",
    "/webhooks/validate-mnnvl-podclique",
    [Rule("grove.io", ["podcliques"], [UPDATE])],
)
MNNVL_POD_GANGS = Hook(
    "mnnvl-podgang-webhook",
    "podgang.mnnvl.webhooks.grove.io",
    "/webhooks/mnnvl-podgang",
    [Rule("scheduler.grove.io", ["podgangs"], [CREATE])],
    is_mutating=True,
    failure_policy="Ignore",  # it only tells what becomes of domains anyway
)
MNNVL = (MNNVL_POD_CLIQUES, VALIDATE_MNNVL_POD_CLIQUES, MNNVL_POD_GANGS)
"""Where `admission.mnnvlWebhooks` is set: of the annotation design, for PodCliques and PodGangs that another controller writes."""
ALWAYS = (DEFAULT_SETS, VALIDATE_SETS, VALIDATE_TOPOLOGIES, VALIDATE_SCALES)
ALL_HOOKS = (*ALWAYS, AUTHORIZE, *MNNVL)
"""With that of `authorizer.enabled`."""


@record
class Installation:
    """Where the operator runs: its `namespace`, the Service that leads to its webhooks and the ServiceAccount of its pods.

    `failure_policy` is what an API server does with a request when no webhook answers. `annotations` come to each configuration,
    such as cert-manager's `cert-manager.io/inject-ca-from`.
    """

    namespace: str
    service: str = "grove-operator"
    port: int = 443
    service_account: str = "grove-operator"
    failure_policy: FailurePolicy = "Fail"
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)

    @property
    def user(self) -> str:
        """The name under which the operator writes."""
        return f"system:serviceaccount:{self.namespace}:{self.service_account}"


def webhook_configurations(installation: Installation, hooks: Iterable[Hook] = ALWAYS) -> list[Manifest]:
    """Returns one configuration for each webhook, so that each can be left out by itself."""
    return [_configuration(hook, installation) for hook in hooks]


def _configuration(hook: Hook, installation: Installation) -> Manifest:
    metadata: Manifest = {"name": hook.configuration}
    metadata |= {key: value for key in ("labels", "annotations") if (value := getattr(installation, key))}
    kind = "MutatingWebhookConfiguration" if hook.is_mutating else "ValidatingWebhookConfiguration"
    return {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": metadata, "webhooks": [_webhook(hook, installation)]}


def _webhook(hook: Hook, installation: Installation) -> Manifest:
    service = {"namespace": installation.namespace, "name": installation.service, "port": installation.port, "path": hook.path}
    selector = {"objectSelector": {"matchLabels": hook.labels}} if hook.labels else {}
    return {
        "name": hook.name,
        "clientConfig": {"service": service},
        "rules": [rule.manifest for rule in hook.rules],
        # What the operator writes itself is never asked about: its work must not wait for its own webhook, which may be what is down.
        "matchConditions": [{"name": "not-the-operator", "expression": f"request.userInfo.username != '{installation.user}'"}],
        "admissionReviewVersions": ["v1"],
        "matchPolicy": "Exact",
        "sideEffects": "NoneOnDryRun" if hook.writes else "None",
        "timeoutSeconds": 10,
        "failurePolicy": hook.failure_policy or installation.failure_policy,
        **selector,
    }
