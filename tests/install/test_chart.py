"""The Helm chart: it is up to date, and gives what `grove install` prints, whatever is chosen."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from grove_operator.install.manifests import manifests, templates
from grove_operator.install.user_values import load_values
from grove_operator.install.values import defaults
from tests.suite.rows import rows
from tools.generate_chart import CHART, PAGE, chart, values_table
from tools.go_templates import expression

from .conftest import Helm

Manifest = dict[str, Any]
AWKWARD = 'a "quoted" {{ value }} with: colons, <angles> & a\nnewline'
CHOICES: dict[str, Manifest] = {
    "nothing": {},
    "everything": {
        "replicas": 3,
        "image": {"repository": "registry.example/grove", "digest": "sha256:" + "0" * 64, "pullPolicy": "Always"},
        "imagePullSecrets": [{"name": "pull"}],
        "resources": {"limits": {"cpu": 2, "memory": "4Gi"}},
        "podLabels": {"team": "infra"},
        "podAnnotations": {"example.com/a": "b"},
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": [{"key": "a", "operator": "Exists"}],
        "affinity": {"podAntiAffinity": None},
        "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}],
        "serviceAccount": {"annotations": {"eks.amazonaws.com/role-arn": "arn"}},
        "userRoles": {"clusterViewers": [{"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "system:authenticated"}]},
        "webhooks": {"failurePolicy": "Ignore", "annotations": {"cert-manager.io/inject-ca-from": "grove-system/grove"}},
        "rules": {"configMap": "my-rules"},
        "priorityClass": {"create": True, "name": "grove-critical", "value": 1000},
        "networkPolicy": {"egress": [{"ports": [{"port": 443, "protocol": "TCP"}]}]},
        "serviceMonitor": {"enabled": True, "interval": "10s", "labels": {"release": "prometheus"}},
        "dashboard": {"enabled": True},
        "config": {
            "logLevel": "debug",
            "leaderElection": {"resourceNamespace": "leases"},
            "authorizer": {"enabled": True},
            "server": {
                "webhooks": {"certProvisionMode": "manual", "port": 1234, "serverCertDir": "/etc/certificates", "serviceName": "admission"}
            },
        },
    },
    "no roles of users": {"userRoles": {"create": False}},
    "an authorizer that exempts nobody": {"config": {"authorizer": {"enabled": True, "exemptServiceAccountUserNames": []}}},
    "an authorizer that exempts somebody": {"config": {"authorizer": {"enabled": True, "exemptServiceAccountUserNames": [AWKWARD]}}},
    "preflight checks": {
        "preflight-injector": {"enabled": True, "nccl": {"loopbackThresholdGBps": 12.5}, "objectSelector": {"matchLabels": {"a": "b"}}},
        "serviceMonitor": {"enabled": True},
        "priorityClass": {"create": True},
        "networkPolicy": {"egress": [{"ports": [{"port": 443, "protocol": "TCP"}]}]},
        "webhooks": {"annotations": {"a": AWKWARD}},
    },
    "preflight checks by labels, with certificates of somebody else's": {
        "preflight-injector": {"enabled": True, "namespaceSelector": {"matchLabels": {"nvsentinel.nvidia.com/preflight": "enabled"}}},
        "config": {"server": {"webhooks": {"certProvisionMode": "manual"}}},
        "rules": {"image": "registry.example/rules:1"},
        "podDisruptionBudget": {"enabled": False},
        "networkPolicy": {"enabled": False},
    },
    "preflight checks of all namespaces": {"preflight-injector": {"enabled": True, "namespaceSelector": {}}},
    "preflight checks of no namespace": {"preflight-injector": {"enabled": True, "namespaces": [], "excludeNamespaces": []}},
    "as little as possible": {
        "crds": {"enabled": False},
        "webhooks": {"enabled": False},
        "podDisruptionBudget": {"enabled": False},
        "networkPolicy": {"enabled": False},
    },
    "webhooks beside another operator": {"webhooks": {"only": True}, "config": {"admission": {"mnnvlWebhooks": True}}},
    "webhooks beside another operator, with certificates of somebody else's": {
        "webhooks": {"only": True},
        "serviceMonitor": {"enabled": True},
        "config": {
            "admission": {"mnnvlWebhooks": True},
            "server": {"webhooks": {"certProvisionMode": "manual"}, "healthProbes": {"port": 0}},
        },
    },
    "no port": {"webhooks": {"enabled": False}, "config": {"server": {"healthProbes": {"port": 0}, "metrics": {"port": 0}}}},
    "texts that are awkward": {
        "podAnnotations": {"example.com/a": AWKWARD, "yes": "no", "1": "2"},
        "webhooks": {"annotations": {"a": AWKWARD}},
        "config": {"initContainer": {"image": AWKWARD}, "server": {"metrics": {"bindAddress": "::1"}}},
    },
}


DEFINITIONS = ("nothing", "as little as possible", "webhooks beside another operator")
"""Choices that decide about definitions. Those are alike whatever else is chosen, and more than half of the work."""


def values_of(name: str) -> Manifest:
    return CHOICES[name] if name in DEFINITIONS else {"crds": {"enabled": False}, **CHOICES[name]}


def by_name(objects: list[Manifest]) -> dict[str, Manifest]:
    return {f"{one['kind']}/{one['metadata']['name']}": one for one in objects}


made = cache(chart)


@rows("name", made)
def test_the_chart_is_up_to_date(name: str) -> None:
    assert (CHART / name).read_text("utf-8") == made()[name], "python -m tools.generate_chart"


def test_the_chart_has_no_other_file() -> None:
    assert {path.relative_to(CHART).as_posix() for path in CHART.rglob("*") if path.is_file()} == set(made())


@rows("name", CHOICES)
def test_helm_makes_the_objects_that_grove_install_prints(name: str, helm: Helm, tmp_path: Path) -> None:
    file = tmp_path / "values.yaml"
    file.write_text(yaml.safe_dump(values_of(name)))
    made = [one for one in yaml.load_all(helm.template("--values", str(file)), yaml.CSafeLoader) if one]
    ours = [one for one in manifests(load_values([("values.yaml", file.read_bytes())], []), "grove-system") if one["kind"] != "Namespace"]
    assert by_name(made) == by_name(ours)
    assert len(made) == len(ours)


def test_helm_lint_is_content(helm: Helm) -> None:
    assert "0 chart(s) failed" in helm("lint", "--strict", str(CHART))


WRONG = (
    "replica=2",
    "replicas=many",
    "config.logLevel=warn",
    "webhooks.failurePolicy=Maybe",
    "config.server.metrics.port=70000",
    "preflight-injector.dcgm.diagLevel=9",
    "preflight-injector.chekcs=1",
    "preflight-injector.checkTimeout=0s",
    "preflight-injector.gangTimeout=-5s",
    "preflight-injector.sharedMemory=0Gi",
    "webhooks.only=true",
    "config.leaderElection.enabled=false",
    "config.server.webhooks.enabled=false",
    "webhooks.enabled=false,config.authorizer.enabled=true",
    r"podLabels.app\.kubernetes\.io/name=mine",
)


@pytest.mark.parametrize("wrong", WRONG)
def test_helm_refuses_values_that_are_wrong(wrong: str, helm: Helm) -> None:
    ended = helm.try_it("template", "grove", str(CHART), "--set", wrong)
    assert ended.returncode != 0
    assert "values don't meet the specifications of the schema" in ended.stderr


def test_the_schema_takes_all_choices_and_the_defaults() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())
    for values in (defaults(), {**CHOICES["everything"], "affinity": {}}):
        jsonschema.validate(values, schema)


def test_the_page_has_all_values() -> None:
    assert values_table() in PAGE.read_text("utf-8")


def test_definitions_are_templates_and_stay_when_a_release_goes_or_git_has_them_no_longer(helm: Helm) -> None:
    crds = [one for one in yaml.load_all(helm.template(), yaml.CSafeLoader) if one["kind"] == "CustomResourceDefinition"]
    assert len(crds) == len(templates()["crds"]) == 6
    kept = {"helm.sh/resource-policy": "keep", "kustomize.toolkit.fluxcd.io/prune": "disabled"}
    assert [one["metadata"]["annotations"] for one in crds] == [kept] * 6
    assert not (CHART / "crds").exists()


def test_no_secret_is_part_of_a_release_so_that_no_upgrade_empties_one(helm: Helm) -> None:
    assert not [one for one in yaml.load_all(helm.template(), yaml.CSafeLoader) if one["kind"] == "Secret"]


@pytest.mark.parametrize(
    ("ours", "go"),
    [
        ("values.a.b", ".Values.a.b"),
        ("values.a and values.b == 'x'", '(and .Values.a (eq .Values.b "x"))'),
        ("values.a and not values.b", "(and .Values.a (not .Values.b))"),
        ("values.a or 'x'", '(or .Values.a "x")'),
        ("namespace", ".Release.Namespace"),
    ],
)
def test_expressions_are_written_in_gos_notation(ours: str, go: str) -> None:
    assert expression(ours) == go


@pytest.mark.parametrize("unknown", ["surprise", "values.a + 1", "values.a | upper"])
def test_what_has_no_notation_in_go_is_refused(unknown: str) -> None:
    with pytest.raises(ValueError, match="no Go template"):
        expression(unknown)
