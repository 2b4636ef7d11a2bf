"""Generates the webhook configurations of an installation: which requests are reviewed, and what happens if no webhook responds.

None has a `caBundle`, so that no upgrade removes it: the operator writes it (`webhooks/shared_certificate.py`), or cert-manager does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Literal

from grove_compiler.graph.node import Manifest
from grove_compiler.labels import MANAGED_BY, OPERATOR
from grove_compiler.record import record

FailurePolicy = Literal["Fail", "Ignore"]
CREATE, UPDATE, DELETE = "CREATE", "UPDATE", "DELETE"


@record
class RuleWithOperations:
    """Resources of one API group, and the operations on them that are reviewed."""

    group: str
    resources: Sequence[str]
    operations: Sequence[str] = (CREATE, UPDATE)
    versions: Sequence[str] = ("v1alpha1",)

    @property
    def manifest(self) -> Manifest:
        """The rule as `webhooks[].rules[]` of a webhook configuration."""
        return {
            "apiGroups": [self.group],
            "apiVersions": list(self.versions),
            "operations": list(self.operations),
            "resources": list(self.resources),
            "scope": "*",
        }


@record
class Hook:
    """A webhook. Names and path are the upstream operator's if it has the same one (shipped semantics §6).

    Without a `failure_policy` it has that of the installation. `labels` select the objects that are reviewed. A webhook with
    `side_effects` creates objects, except for dry runs.
    """

    configuration: str
    name: str
    path: str
    rules: Sequence[RuleWithOperations]
    is_mutating: bool = False
    failure_policy: FailurePolicy | None = None
    labels: dict[str, str] = field(default_factory=dict)
    side_effects: bool = False


SETS = RuleWithOperations("grove.io", ["podcliquesets"])
TOPOLOGIES = RuleWithOperations("grove.io", ["clustertopologies", "clustertopologybindings"])
DEFAULT_SETS = Hook(
    "podcliqueset-defaulting-webhook", "pcs.defaulting.webhooks.grove.io", "/webhooks/default-podcliqueset", [SETS], is_mutating=True
)
VALIDATE_SETS = Hook("podcliqueset-validating-webhook", "pcs.validating.webhooks.grove.io", "/webhooks/validate-podcliqueset", [SETS])
VALIDATE_TOPOLOGIES = Hook(
    "clustertopology-validating-webhook", "clustertopology.validating.webhooks.grove.io", "/webhooks/validate-clustertopology", [TOPOLOGIES]
)
CHILDREN = ("podcliquescalinggroups", "podcliques")
VALIDATE_SCALES = Hook(
    "scale-validating-webhook",
    "scale.validating.webhooks.grove.io",
    "/webhooks/validate-scale",
    # The replicas of a set are also changed by an edit of it, which `VALIDATE_SETS` reviews.
    [RuleWithOperations("grove.io", ["podcliquesets/scale", *(f"{kind}/scale" for kind in CHILDREN), *CHILDREN], [UPDATE])],
    failure_policy="Ignore",  # autoscalers continue without us, and the operator reverts what a training set must not change
)
CHANGES, ALL = (UPDATE, DELETE), (CREATE, UPDATE, DELETE)
AUTHORIZE = Hook(
    "authorizer-webhook",
    "authorizer.webhooks.grove.io",
    "/webhooks/authorizer-webhook",
    [
        RuleWithOperations("", ["secrets", "serviceaccounts", "services"], CHANGES, ["v1"]),
        RuleWithOperations("", ["pods"], [UPDATE], ["v1"]),
        RuleWithOperations("rbac.authorization.k8s.io", ["roles", "rolebindings"], CHANGES, ["v1"]),
        RuleWithOperations("autoscaling", ["horizontalpodautoscalers"], CHANGES, ["v1", "v2"]),
        RuleWithOperations("grove.io", ["podcliques", "podcliquescalinggroups"], ALL),
        RuleWithOperations("scheduler.grove.io", ["podgangs"], ALL),
    ],
    failure_policy="Fail",
    labels={MANAGED_BY: OPERATOR},
)
MNNVL_POD_CLIQUES = Hook(
    "mnnvl-podclique-webhook",
    "podclique.mnnvl.webhooks.grove.io",
    "/webhooks/mnnvl-podclique",
    [RuleWithOperations("grove.io", ["podcliques"])],
    is_mutating=True,
    side_effects=True,
)
VALIDATE_MNNVL_POD_CLIQUES = Hook(
    "mnnvl-podclique-validating-webhook",
    "podclique.validating.mnnvl.webhooks.grove.io",
    "/webhooks/validate-mnnvl-podclique",
    [RuleWithOperations("grove.io", ["podcliques"], [UPDATE])],
)
MNNVL_POD_GANGS = Hook(
    "mnnvl-podgang-webhook",
    "podgang.mnnvl.webhooks.grove.io",
    "/webhooks/mnnvl-podgang",
    [RuleWithOperations("scheduler.grove.io", ["podgangs"], [CREATE])],
    is_mutating=True,
    failure_policy="Ignore",  # it only reports the owner of domains; nothing depends on it
)
MNNVL = (MNNVL_POD_CLIQUES, VALIDATE_MNNVL_POD_CLIQUES, MNNVL_POD_GANGS)
"""Installed with `admission.mnnvlWebhooks`: the annotation design for PodCliques and PodGangs of other controllers."""
ALWAYS = (DEFAULT_SETS, VALIDATE_SETS, VALIDATE_TOPOLOGIES, VALIDATE_SCALES)
ALL_HOOKS = (*ALWAYS, AUTHORIZE, *MNNVL)
"""`AUTHORIZE` is only installed with `authorizer.enabled`, and `MNNVL` with `admission.mnnvlWebhooks`."""


@record
class Installation:
    """The operator's `namespace`, the Service of its webhooks and the ServiceAccount of its pods.

    `failure_policy` decides about requests to which no webhook responds. `not_exempt` is the expression in CEL that holds for the requests
    which the authorizer reviews; empty for those of all users.
    """

    namespace: str
    service: str = "grove-operator"
    port: int = 443
    service_account: str = "grove-operator"
    failure_policy: FailurePolicy = "Fail"
    not_exempt: str = ""

    @property
    def user(self) -> str:
        """The user name of the operator."""
        return f"system:serviceaccount:{self.namespace}:{self.service_account}"


def not_exempt(users: Sequence[str]) -> str:
    """Returns the expression in CEL that holds for the requests of all other users."""
    return f"!(request.userInfo.username in {json.dumps(users, separators=(',', ':'), ensure_ascii=False)})"


def webhook_configuration(hook: Hook, installation: Installation) -> Manifest:
    """Returns the configuration of one webhook: each has its own, so that it can be omitted."""
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration" if hook.is_mutating else "ValidatingWebhookConfiguration",
        "metadata": {"name": hook.configuration},
        "webhooks": [_webhook(hook, installation)],
    }


def _webhook(hook: Hook, installation: Installation) -> Manifest:
    service = {"namespace": installation.namespace, "name": installation.service, "port": installation.port, "path": hook.path}
    selector = {"objectSelector": {"matchLabels": hook.labels}} if hook.labels else {}
    return {
        "name": hook.name,
        "clientConfig": {"service": service},
        "rules": [rule.manifest for rule in hook.rules],
        "matchConditions": list(_conditions(hook, installation)),
        "admissionReviewVersions": ["v1"],
        "matchPolicy": "Exact",
        "sideEffects": "NoneOnDryRun" if hook.side_effects else "None",
        "timeoutSeconds": 10,
        "failurePolicy": hook.failure_policy or installation.failure_policy,
        **selector,
    }


def _conditions(hook: Hook, installation: Installation) -> Iterator[Manifest]:
    """Yields which requests are reviewed: none that must not depend on a webhook that may be down.

    These are the operator's own, those of users whom the authorizer exempts, such as the garbage collector, and those to objects that are
    being deleted, which no other webhook rejects: while none responds, nobody could remove a finalizer.
    """
    yield {"name": "not-the-operator", "expression": f"request.userInfo.username != '{installation.user}'"}
    if hook is AUTHORIZE and installation.not_exempt:
        yield {"name": "not-exempt", "expression": installation.not_exempt}
    if hook is not AUTHORIZE:
        # Of the stored object: whoever creates or edits one may write anything into the new one.
        yield {"name": "not-being-deleted", "expression": "oldObject == null || !has(oldObject.metadata.deletionTimestamp)"}
