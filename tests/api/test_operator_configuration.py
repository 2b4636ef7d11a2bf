"""Defaults and structure of the configuration (shipped semantics §1.13, GREP-244); what must hold across fields, rules say."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.kube.defaults import apply_defaults
from grove_compiler.kube.definitions import DEFINITIONS, KINDS
from grove_compiler.kube.structure import check
from tests.suite.rows import rows

from .manifests import changed, faults

EMPTY = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration"}
SCHEMA = KINDS["operator.config.grove.io/v1alpha1", "OperatorConfiguration"]

DEFAULTS = {
    "runtimeClientConnection": {"qps": 100, "burst": 120, "contentType": "", "acceptContentTypes": ""},
    "leaderElection": {
        "enabled": False,
        "leaseDuration": "15s",
        "renewDeadline": "10s",
        "retryPeriod": "2s",
        "resourceLock": "leases",
        "resourceName": "grove-operator-leader-election",
        "resourceNamespace": "",
    },
    "server": {
        "webhooks": {
            "enabled": False,
            "bindAddress": "",
            "port": 2750,
            "serverCertDir": "/etc/grove-operator/webhook-certs",
            "secretName": "grove-webhook-server-cert",
            "serviceName": "grove-operator",
            "certProvisionMode": "auto",
        },
        "healthProbes": {"bindAddress": "", "port": 2751},
        "metrics": {"bindAddress": "", "port": 2752},
    },
    "tracing": {"endpoint": "", "samplingRatePerMillion": 1_000_000},
    "replay": {"folder": "", "bundles": 1000, "inMemory": 20},
    "controllers": {
        "podCliqueSet": {"concurrentSyncs": 10},
        "podClique": {"concurrentSyncs": 10},
        "podCliqueScalingGroup": {"concurrentSyncs": 5},
        "podGang": {"concurrentSyncs": 5},
    },
    "logLevel": "info",
    "logFormat": "json",
    "admission": {"podTemplates": "warn", "podTemplatesTimeout": "3s", "mnnvlWebhooks": False},
    "authorizer": {"enabled": False},
    "topologyAwareScheduling": {"enabled": False},
    "network": {"autoMNNVLEnabled": False},
    "initContainer": {"image": "grove-initc"},
}


def read(manifest: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = apply_defaults(manifest, SCHEMA, DEFINITIONS)
    return result


def test_an_empty_file_has_all_defaults() -> None:
    assert read(EMPTY) == {**EMPTY, **DEFAULTS, "scheduler": {"defaultProfileName": ""}}


def test_a_file_with_all_defaults_needs_nothing() -> None:
    whole = read(EMPTY)
    assert apply_defaults(whole, SCHEMA, DEFINITIONS) is whole


def test_a_section_that_says_one_thing_keeps_its_other_defaults() -> None:
    manifest = changed(EMPTY, "server.metrics", {"port": 9})
    assert read(manifest)["server"]["metrics"] == {"bindAddress": "", "port": 9}


def test_debugging_has_defaults_only_when_it_is_there() -> None:
    assert "debugging" not in read(EMPTY)
    assert read(changed(EMPTY, "debugging", {}))["debugging"] == {"pprofBindHost": "127.0.0.1", "pprofBindPort": 2753}


@pytest.mark.parametrize("path", ["colour", "authorizer.reconcilerServiceAccountUserName", "server.webhooks.colour"])
def test_an_unknown_key_is_a_warning(path: str) -> None:
    manifest = changed(EMPTY, path, "x")
    assert [(finding.path, finding.severity) for _, finding in check(manifest, SCHEMA, DEFINITIONS)] == [(path, "warning")]


BAD = {
    "a burst below zero": ("runtimeClientConnection.burst", -1),
    "no worker": ("controllers.podGang.concurrentSyncs", 0),
    "an unknown log level": ("logLevel", "warn"),
    "an unknown log format": ("logFormat", "xml"),
    "an unknown way to certificates": ("server.webhooks.certProvisionMode", "magic"),
    "a port that is none": ("server.metrics.port", 65536),
    "a duration without a unit": ("leaderElection.leaseDuration", "15"),
    "text for a switch": ("network.autoMNNVLEnabled", "yes"),
    "an unknown scheduler": ("scheduler.profiles", [{"name": "slurm"}]),
    "a profile without a name": ("scheduler.profiles", [{}]),
    "a level that the designs do not have": ("topologyAwareScheduling.levels", [{"domain": "cage", "key": "k"}]),
}


@rows(("path", "value"), BAD.values(), ids=BAD)
def test_refused(path: str, value: Any) -> None:
    (fault,) = faults(changed(EMPTY, path, value))
    assert fault.startswith(path)
