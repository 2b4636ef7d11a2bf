"""`grove install`: what it prints, and what it says of values that are wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from applier.loop.lease_thread import PATIENCE
from grove_cli import rulebook
from grove_cli.operator.operate import GRACE
from grove_compiler.compile import VOCABULARY
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.source.document import Document
from grove_compiler.step import StepContext
from grove_operator.telemetry.metrics import PREFIX
from tests.cli.running import run
from tests.suite.rows import rows

Manifest = dict[str, Any]


def installed(*arguments: str) -> dict[str, Manifest]:
    """The objects by kind and name."""
    ended = run("install", "--no-crds", "-o", "json", *arguments)
    assert ended.code == 0, ended.err
    return {f"{one['kind']}/{one['metadata']['name']}": one for one in json.loads(ended.out)["items"]}


@pytest.fixture(scope="module")
def objects() -> dict[str, Manifest]:
    return installed("-n", "grove")


def container(objects: dict[str, Manifest]) -> Manifest:
    made: Manifest = objects["Deployment/grove-operator"]["spec"]["template"]["spec"]["containers"][0]
    return made


def test_everything_is_in_one_namespace(objects: dict[str, Manifest]) -> None:
    wide = {"Namespace", "ClusterRole", "ClusterRoleBinding", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}
    assert {one["metadata"].get("namespace") for one in objects.values() if one["kind"] not in wide} == {"grove"}
    assert objects["Namespace/grove"]
    assert {one["subjects"][0]["namespace"] for name, one in objects.items() if "Binding/" in name} == {"grove"}


def test_definitions_come_before_all_that_may_need_them() -> None:
    kinds = [one["kind"] for one in yaml.load_all(run("install").out, yaml.CSafeLoader)]
    assert kinds[:2] == ["Namespace", "CustomResourceDefinition"]
    assert kinds[-1].endswith("WebhookConfiguration")


def test_the_configuration_is_one_that_the_operator_takes(objects: dict[str, Manifest]) -> None:
    config = yaml.load(objects["ConfigMap/grove-operator"]["data"]["config.yaml"], yaml.CSafeLoader)
    context = StepContext(rulebook.read().program(VOCABULARY), Settings(), Document(config))
    assert [one for one in context.findings if one.severity == "error"] == []
    assert context.config.init_image == container(objects)["image"], "one image for both"
    assert config["leaderElection"]["enabled"]


def test_probes_and_ports_are_those_of_the_configuration() -> None:
    made = installed("--set", "config.server.healthProbes.port=7", "--set", "config.server.metrics.port=8")
    ports = {one["name"]: one["containerPort"] for one in container(made)["ports"]}
    assert ports == {"webhooks": 9443, "health": 7, "metrics": 8}
    assert container(made)["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": "health", "scheme": "HTTP"}
    assert {one["name"]: one["port"] for one in made["Service/grove-operator"]["spec"]["ports"]} == {"webhooks": 443, "metrics": 8}


def test_the_service_has_the_name_that_webhooks_and_certificates_are_configured_for() -> None:
    made = installed("--set", "config.server.webhooks.serviceName=admission")
    called = {one["webhooks"][0]["clientConfig"]["service"]["name"] for one in made.values() if "webhooks" in one}
    assert ([name for name in made if name.startswith("Service/")], called) == (["Service/admission"], {"admission"})


@pytest.mark.parametrize(
    "taken", ["config.server.webhooks.serviceName", "config.leaderElection.resourceNamespace", "config.server.webhooks"]
)
def test_a_value_that_is_taken_away_has_the_default_of_the_operator(taken: str) -> None:
    assert "Service/grove-operator" in installed("--set", f"{taken}=null")


def test_null_takes_a_default_away_beside_other_settings_as_well(tmp_path: Path) -> None:
    """It was lost where an earlier setting, or a file, had chosen anything in the same map."""
    file = tmp_path / "values.yaml"
    file.write_text("config: {logLevel: debug}\nresources: {requests: {cpu: 1}}\n")
    made = installed("--values", str(file), "--set", "config.logFormat=null", "--set", "resources.limits=null")
    config = yaml.load(made["ConfigMap/grove-operator"]["data"]["config.yaml"], yaml.CSafeLoader)
    assert (config["logLevel"], "logFormat" in config) == ("debug", False)
    assert container(made)["resources"] == {"requests": {"cpu": 1, "memory": "256Mi"}}


def test_a_setting_after_null_counts() -> None:
    made = installed("--set", "resources.limits=null", "--set", "resources.limits.memory=3Gi")
    assert container(made)["resources"]["limits"] == {"memory": "3Gi"}


def test_a_key_may_have_dots_that_are_escaped_as_for_helm() -> None:
    made = installed("--set", r"podLabels.example\.com/team=infra")
    assert made["Deployment/grove-operator"]["spec"]["template"]["metadata"]["labels"]["example.com/team"] == "infra"


def test_labels_that_select_the_pods_are_refused() -> None:
    fine = r"podLabels.app\.kubernetes\.io/part-of=team"
    ended = run("install", "--set", r"podLabels.app\.kubernetes\.io/name=mine", "--set", fine)
    assert (ended.code, ended.out) == (2, "")
    assert "podLabels: app.kubernetes.io/name is reserved" in ended.err
    assert "part-of" not in ended.err


def test_the_right_to_a_lease_is_granted_where_the_lease_is() -> None:
    made = installed("-n", "grove", "--set", "config.leaderElection.resourceNamespace=leases")
    role, binding = made["Role/grove-operator-leader-election"], made["RoleBinding/grove-operator-leader-election"]
    assert [one["resources"] for one in role["rules"]] == [["leases"]]
    assert (role["metadata"]["namespace"], binding["metadata"]["namespace"]) == ("leases", "leases")
    assert binding["subjects"][0]["namespace"] == "grove", "the account stays with the operator"


def test_certificates_are_mounted_where_the_configuration_has_them() -> None:
    manual = ("--set", "config.server.webhooks.certProvisionMode=manual")
    for more, folder in (((), "/etc/grove-operator/webhook-certs"), (("--set", "config.server.webhooks.serverCertDir=/etc/c"), "/etc/c")):
        mounts = {one["name"]: one["mountPath"] for one in container(installed(*manual, *more))["volumeMounts"]}
        assert mounts["webhook-certs"] == folder


def test_rules_come_from_a_config_map_or_an_image(objects: dict[str, Manifest]) -> None:
    def rules(made: dict[str, Manifest]) -> Manifest:
        volumes = made["Deployment/grove-operator"]["spec"]["template"]["spec"]["volumes"]
        return next(dict(one) for one in volumes if one["name"] == "rules")

    assert rules(objects) == {"name": "rules", "configMap": {"name": "grove-operator-rules", "optional": True}}
    made = installed("--set", "rules.image=registry.example/rules@sha256:0")
    assert rules(made) == {"name": "rules", "image": {"reference": "registry.example/rules@sha256:0"}}


def test_a_priority_class_that_is_made_has_a_name_and_the_pods_have_it(objects: dict[str, Manifest]) -> None:
    made = installed("--set", "priorityClass.create=true")
    name = made["Deployment/grove-operator"]["spec"]["template"]["spec"]["priorityClassName"]
    assert f"PriorityClass/{name}" in made
    assert "priorityClassName" not in objects["Deployment/grove-operator"]["spec"]["template"]["spec"]


def test_the_operator_runs_with_as_little_as_it_needs(objects: dict[str, Manifest]) -> None:
    pod = objects["Deployment/grove-operator"]["spec"]["template"]["spec"]
    assert (pod["securityContext"]["runAsNonRoot"], pod["securityContext"]["seccompProfile"]["type"]) == (True, "RuntimeDefault")
    assert container(objects)["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    writable = [one["mountPath"] for one in container(objects)["volumeMounts"] if not one.get("readOnly")]
    assert writable == ["/tmp"]


def test_a_change_of_the_configuration_makes_new_pods() -> None:
    checksums = {
        made["Deployment/grove-operator"]["spec"]["template"]["metadata"]["annotations"]["checksum/config"]
        for made in (installed(), installed("--set", "config.logLevel=debug"), installed())
    }
    assert len(checksums) == 2


def test_every_webhook_leads_to_the_service(objects: dict[str, Manifest]) -> None:
    hooks = [hook for name, one in objects.items() if "WebhookConfiguration/" in name for hook in one["webhooks"]]
    assert len(hooks) >= 3
    for hook in hooks:
        service = hook["clientConfig"]["service"]
        assert (service["namespace"], service["name"], service["port"]) == ("grove", "grove-operator", 443)
        assert "caBundle" not in hook["clientConfig"]
        assert "system:serviceaccount:grove:grove-operator" in str(hook["matchConditions"])


@rows("values", [(), ("--set", "webhooks.only=true", "--set", "config.admission.mnnvlWebhooks=true")])
def test_who_is_asked_by_api_servers_answers_until_they_know_that_it_ends(values: tuple[str, ...]) -> None:
    """They learn by the Service's endpoints, at the same time as the pod is told to end; what they ask meanwhile would be rejected."""
    made = installed(*values, "--set", "preflight-injector.enabled=true")
    for name in ("grove-operator", "preflight-injector"):
        pod = made[f"Deployment/{name}"]["spec"]["template"]["spec"]
        pause: int = pod["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"]
        assert 2 <= pause <= pod["terminationGracePeriodSeconds"] - GRACE - PATIENCE, "and the lease is released before it is killed"


def test_who_serves_no_webhooks_ends_at_once() -> None:
    assert "lifecycle" not in container(installed("--set", "webhooks.enabled=false"))


def test_the_service_selects_the_pods(objects: dict[str, Manifest]) -> None:
    labels = objects["Deployment/grove-operator"]["spec"]["template"]["metadata"]["labels"]
    for name in ("Service/grove-operator", "PodDisruptionBudget/grove-operator", "NetworkPolicy/grove-operator"):
        spec = objects[name]["spec"]
        selector = spec.get("podSelector") or spec["selector"]
        assert (selector.get("matchLabels") or selector).items() <= labels.items()


WRONG = {
    "a value that does not exist": ("replica=2", 'values: replica: unknown value; did you mean "replicas"?'),
    "a value deep inside": ("image.tags=1", 'values: image.tags: unknown value; did you mean "tag"?'),
    "a value of another type": ("replicas=many", "values: replicas:"),
    "a word that is none of them": ("webhooks.failurePolicy=No", "'Fail' or 'Ignore'"),
    "no value": ("replicas", "expected PATH=VALUE"),
    "a value that does not end": ("tolerations=[{", "grove: --set tolerations=[{: "),
    "a configuration that is wrong": ("config.logLevel=warn", "must be one of debug, info, error"),
    "webhooks that nobody answers": ("config.server.webhooks.enabled=false", "config.server.webhooks.enabled: no server would answer"),
    "several operators that all lead": ("config.leaderElection.enabled=false", "values: replicas: 2 operators would run at the same time"),
    "a timeout of checks that none would pass": ("preflight-injector.checkTimeout=0s", "must be at least 1s, not"),
    "a timeout that nobody can mean": ("preflight-injector.gangTimeout=-5s", "must be at least 1s, not"),
    "a folder of two things": (
        "preflight-injector.platformConnector.spool=/var/run",
        "is already the directory of platformConnector.socket",
    ),
    "a profile that does not exist": ("config.scheduler.defaultProfileName=volcano", "must be one of the profiles"),
}


@rows(("setting", "told"), WRONG.values(), ids=WRONG)
def test_values_that_are_wrong_are_told_with_their_place(setting: str, told: str) -> None:
    ended = run("install", "--set", setting)
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.err


@rows(
    ("setting", "told"),
    [("config.logLevl=debug", 'did you mean "logLevel"?'), ("preflight-injector.gangs=true", 'unknown field "gangs"')],
)
def test_a_value_that_does_not_exist_is_an_error(setting: str, told: str) -> None:
    ended = run("install", "--no-crds", "--set", setting)
    assert (ended.code, ended.out, told in ended.err) == (2, "", True), ended.err


def test_nothing_is_said_of_the_defaults() -> None:
    assert run("install").err == ""


def test_protection_that_no_webhook_would_give_is_refused() -> None:
    ended = run("install", "--set", "webhooks.enabled=false", "--set", "config.authorizer.enabled=true")
    assert (ended.code, "config.authorizer.enabled: the authorizer is a webhook" in ended.err) == (2, True)


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    file = tmp_path / "values.yaml"
    file.write_text("replicas: many\nimages: {}\nwebhooks: {enabled: 3}\n")
    assert len(run("install", "--values", str(file)).err.splitlines()) == 3


UNREADABLE = {
    "a list that does not end": ("replicas: [1\n", "is not closed"),
    "a key twice": ("replicas: 1\nreplicas: 2\n", "2:1: the key 'replicas' is given twice"),
    "a number of too many digits": (f"replicas: {'9' * 5000}", "1:11: 9999999999999999999999999999999999999999… has 5000 digits"),
    "depth without end": (f"affinity: {'[' * 3000}{']' * 3000}", "nested more than 100 levels deep"),
}


@pytest.mark.parametrize(("text", "told"), UNREADABLE.values(), ids=UNREADABLE)
def test_a_file_of_values_that_cannot_be_read_is_told_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "values.yaml"
    file.write_text(text)
    ended = run("install", "--values", str(file))
    assert (ended.code, ended.err.startswith(f"grove: {file}:"), told in ended.err) == (2, True, True), ended.err


def test_a_later_file_and_a_setting_win(tmp_path: Path) -> None:
    for name, text in (("a.yaml", "replicas: 3\npodLabels: {a: b}\n"), ("b.yaml", "replicas: 4\n")):
        (tmp_path / name).write_text(text)
    files = [part for name in ("a.yaml", "b.yaml") for part in ("--values", str(tmp_path / name))]
    made = installed(*files, "--set", "podLabels.c=d")
    assert made["Deployment/grove-operator"]["spec"]["replicas"] == 4
    assert {"a": "b", "c": "d"}.items() <= made["Deployment/grove-operator"]["spec"]["template"]["metadata"]["labels"].items()


def test_the_dashboard_is_that_of_our_metrics() -> None:
    made = installed("--set", "dashboard.enabled=true")
    assert PREFIX in made["ConfigMap/grove-operator-dashboard"]["data"]["grove-operator.json"]
