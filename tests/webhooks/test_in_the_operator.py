"""The webhooks in the operator's own process, before a real API server: every replica answers, and the operator never waits for them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import pytest

from applier.testing.control_plane import ControlPlane
from grove_compiler.labels import MANAGED_BY, OPERATOR
from grove_operator.install.values import EXEMPT
from grove_operator.install.webhook_configurations import (
    ALWAYS,
    AUTHORIZE,
    VALIDATE_TOPOLOGIES,
    Hook,
    Installation,
    not_exempt,
    webhook_configuration,
)
from tests.applier.transport.certificates import authority, needs_openssl, signed
from tests.cli.conftest import cache_of_the_session
from tests.cli.running import ROOT
from tests.controller.live.test_skewed_clock import SHIFTED
from tests.webhooks.conftest import Manifest

pytestmark = pytest.mark.cluster

__all__ = ["cache_of_the_session"]

PATIENCE = 90.0
CONFIGURATION = """
apiVersion: operator.config.grove.io/v1alpha1
kind: OperatorConfiguration
logFormat: text
leaderElection: {enabled: true}
server:
  webhooks: {enabled: true, bindAddress: 127.0.0.1, port: 0, secretName: certificates, serviceName: admission}
  healthProbes: {port: 0}
  metrics: {port: 0}
"""


NAMESPACED = tuple(hook for hook in ALWAYS if hook is not VALIDATE_TOPOLOGIES)
"""Webhooks that can be limited to one namespace: others would answer, or fail to, for all tests of this server."""


class Place:
    """A namespace with a Service that leads to this machine, and the webhook configurations for it alone.

    `ports` are those of the webhooks that answer there.
    """

    def __init__(self, plane: ControlPlane, namespace: str) -> None:
        self.plane, self.namespace = plane, namespace
        self.ports = dict[str, int]()
        self.installed: list[Manifest] = []
        service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "admission", "namespace": namespace}}
        self.apply({**service, "spec": {"type": "ExternalName", "externalName": "localhost"}})

    def announce(self, name: str, hooks: Sequence[Hook] = NAMESPACED) -> None:
        """Installs the configurations of a process that will start, and will fill in their bundles; so far nobody asks it."""
        self._apply_configurations(name, 1, hooks, f"nothing-{self.namespace}")

    def install(self, name: str, port: int, hooks: Sequence[Hook] = NAMESPACED, **labels: str) -> None:
        """Has the configurations of a process ask it, where it listens, about objects with labels; bundles stay, as with an upgrade."""
        self._apply_configurations(name, port, hooks, self.namespace, labels)

    def _apply_configurations(self, name: str, port: int, hooks: Sequence[Hook], asked_in: str, labels: Mapping[str, str] = {}) -> None:
        mine: Manifest = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": asked_in}}}
        if labels:
            mine["objectSelector"] = {"matchLabels": dict(labels)}
        for manifest in (webhook_configuration(hook, self.installation(port)) for hook in hooks):
            manifest["metadata"]["name"] += f"-{self.namespace}-{name}"
            manifest["webhooks"] = [{**webhook, **mine} for webhook in manifest["webhooks"]]
            self.installed.append(manifest)
            self.apply(manifest)

    def installation(self, port: int) -> Installation:
        return Installation(self.namespace, "admission", port, not_exempt=not_exempt(EXEMPT))

    def uninstall(self) -> None:
        names = {f"{manifest['kind']}/{manifest['metadata']['name']}" for manifest in self.installed}
        if names:
            self.plane.kubectl("delete", *sorted(names), "--ignore-not-found")

    def apply(self, *manifests: Manifest) -> None:
        self.plane.kubectl("apply", "-f", "-", input="\n".join(map(json.dumps, manifests)))

    def tried(self, manifest: Manifest, *options: str) -> str:
        """What kubectl tells of an apply that went wrong; empty when it went well."""
        ended = self.plane.kubectl("apply", "-f", "-", *options, input=json.dumps(manifest), check=False)
        return ended.stderr if ended.returncode else ""

    def refused(self, *arguments: str) -> str:
        """What kubectl tells once a request is refused: before that it succeeds, or the webhook is not trusted yet."""
        deadline = time.monotonic() + PATIENCE
        while not any(words in (told := self._told(*arguments)) for words in ("may not", "must not", "immutable")):
            assert time.monotonic() < deadline, told
            time.sleep(0.2)
        return told

    def _told(self, *arguments: str) -> str:
        return self.plane.kubectl("-n", self.namespace, *arguments, check=False).stderr

    def until(self, manifest: Manifest, told: str) -> None:
        """Returns once an apply, as a try, is told this."""
        deadline = time.monotonic() + PATIENCE
        while told not in (seen := self.tried(manifest, "--dry-run=server")) or bool(seen) != bool(told):
            assert time.monotonic() < deadline, seen
            time.sleep(0.2)


@pytest.fixture
def place(crds: None, control_plane: ControlPlane, namespace: str) -> Iterator[Place]:
    one = Place(control_plane, namespace)
    try:
        yield one
    finally:
        one.uninstall()


@contextmanager
def operators(place: Place, folder: Path, *names: str) -> Iterator[list[int]]:
    """Processes of the operator. Gives the ports of their webhooks once all are ready."""
    with running(place, folder, CONFIGURATION, *names) as processes:
        yield [_port(process, folder / f"{name}.log") for process, name in zip(processes, names, strict=True)]


@contextmanager
def running(place: Place, folder: Path, configuration: str, *names: str) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Processes of the operator, each with a log in the folder, which end in good order with the block."""
    kubeconfig, config = folder / "kubeconfig", folder / "operator.yaml"
    text = json.loads(place.plane.kubectl("config", "view", "--raw", "-o", "json").stdout)
    for context in text["contexts"]:
        context["context"]["namespace"] = place.namespace
    kubeconfig.write_text(json.dumps(text))
    config.write_text(configuration)
    command = [sys.executable, "-m", "grove_cli", "operator", "run", "-n", place.namespace]
    arguments = [*command, "--kubeconfig", str(kubeconfig), "--config", str(config)]
    processes = list[subprocess.Popen[bytes]]()
    try:
        for name in names:
            with (folder / f"{name}.log").open("w") as output:
                processes.append(subprocess.Popen(arguments, cwd=ROOT, stderr=output, env=os.environ | {"PYTHONUNBUFFERED": "1"}))
        yield processes
    finally:
        for process in processes:
            process.terminate()
        assert [process.wait(60) for process in processes] == [0] * len(processes)


def _port(process: subprocess.Popen[bytes], log: Path) -> int:
    """Waits until the webhooks are ready, and gives their port."""
    deadline = time.monotonic() + PATIENCE
    while "webhooks are ready" not in (text := log.read_text()):
        assert process.poll() is None, text
        assert time.monotonic() < deadline, text
        time.sleep(0.1)
    port = re.search(r"listening port=(\d+)", text)
    assert port is not None
    return int(port[1])


@pytest.fixture(scope="module")
def replicas_plane(crds: None, control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Two replicas of the operator, which are both asked about each set in a namespace."""
    place, names = Place(control_plane, control_plane.create_namespace()), ("one", "two")
    for name in names:
        place.announce(name, [*NAMESPACED, AUTHORIZE])
    try:
        with operators(place, tmp_path_factory.mktemp("operators"), *names) as ports:
            place.ports = dict(zip(names, ports, strict=True))
            for name, port in place.ports.items():
                place.install(name, port)
            yield place
            place.uninstall()
    finally:
        place.uninstall()
        control_plane.delete_namespace(place.namespace)


def declare(place: Place, workload: Manifest, name: str) -> Manifest:
    """Applies a set under a name once it is admitted."""
    workload["metadata"] = {"name": name, "namespace": place.namespace}
    place.until(workload, "")
    assert place.tried(workload) == ""
    return workload


def test_every_replica_answers_and_the_set_gets_its_objects(replicas_plane: Place, workload: Manifest) -> None:
    declare(replicas_plane, workload, "chat")
    replicas_plane.plane.kubectl("wait", "pclq/chat-0-worker", "-n", replicas_plane.namespace, "--for=create", "--timeout=90s")
    workload["spec"]["template"]["cliques"][0]["spec"]["minAvailable"] = 3
    assert "must not be greater than replicas" in replicas_plane.tried(workload)


def test_replicas_and_objects_of_the_operator_are_guarded(replicas_plane: Place, workload: Manifest) -> None:
    place = replicas_plane
    declare(place, workload, "guarded")
    place.plane.kubectl("wait", "pclq/guarded-0-worker", "-n", place.namespace, "--for=create", "--timeout=90s")
    assert "must not be less than minAvailable (2)" in place.refused("scale", "pclq/guarded-0-worker", "--replicas=1")
    place.install("one", place.ports["one"], [AUTHORIZE], **{"app.kubernetes.io/part-of": "guarded"})
    assert "may not update the PodClique guarded-0-worker" in place.refused("annotate", "pclq/guarded-0-worker", "--overwrite", "note=mine")


def test_webhooks_that_are_down_keep_others_out_and_not_the_operator(place: Place, there: Manifest) -> None:
    assert place.tried(there) == ""
    subject = {"kind": "ServiceAccount", "name": "grove-operator", "namespace": place.namespace}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    metadata = {"name": "operator", "namespace": place.namespace}
    binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": metadata}
    place.apply({**binding, "roleRef": role, "subjects": [subject]})
    place.install("none", 1)  # where nobody listens
    place.until(edited(there, "people"), "failed calling webhook")
    place.plane.kubectl(
        *("annotate", "pcs/chat", "-n", place.namespace, "by=operator"),
        f"--as=system:serviceaccount:{place.namespace}:grove-operator",
    )


def test_what_is_deleted_goes_while_webhooks_are_down(place: Place, there: Manifest) -> None:
    there["metadata"] |= {"name": "leaving", "finalizers": ["example.com/kept"]}
    assert place.tried(there) == ""
    place.plane.kubectl("delete", "pcs/leaving", "-n", place.namespace, "--wait=false")
    place.install("none", 1)  # where nobody listens
    place.until(edited({**there, "metadata": {"name": "chat", "namespace": place.namespace}}, "people"), "failed calling webhook")
    place.plane.kubectl("patch", "pcs/leaving", "-n", place.namespace, "--type=merge", "-p", '{"metadata": {"finalizers": null}}')
    place.plane.kubectl("wait", "pcs/leaving", "-n", place.namespace, "--for=delete", "--timeout=60s")


def test_the_garbage_collector_removes_what_is_guarded_while_webhooks_are_down(place: Place) -> None:
    metadata = {"name": "guarded", "namespace": place.namespace, "labels": {MANAGED_BY: OPERATOR}}
    guarded = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
    place.apply(guarded)
    place.install("none", 1, [AUTHORIZE])  # where nobody listens
    place.until(edited(guarded, "people"), "failed calling webhook")
    collector = "--as=system:serviceaccount:kube-system:generic-garbage-collector"
    place.plane.kubectl("delete", "serviceaccount/guarded", "-n", place.namespace, collector)


@needs_openssl
def test_an_operator_without_a_certificate_looks_after_its_sets_and_takes_the_one_that_comes(
    place: Place, workload: Manifest, tmp_path: Path
) -> None:
    """A Secret that somebody has emptied, or an issuer that is late, leaves nobody without an operator."""
    served, log = tmp_path / "served", tmp_path / "one.log"
    served.mkdir()
    mode = f"certProvisionMode: manual, serverCertDir: {served}, "
    with running(place, tmp_path, CONFIGURATION.replace("webhooks: {", f"webhooks: {{{mode}"), "one"):
        workload["metadata"] = {"name": "chat", "namespace": place.namespace}
        place.apply(workload)
        place.plane.kubectl("wait", "pclq/chat-0-worker", "-n", place.namespace, "--for=create", "--timeout=90s")
        assert "webhooks wait for a certificate" in log.read_text()
        pair = signed(authority(tmp_path), "webhook")
        (served / "tls.key").write_text(pair.key.read_text())
        (served / "tls.crt").write_text(pair.certificate.read_text())
        deadline = time.monotonic() + PATIENCE
        while "which is for localhost, and not for admission" not in log.read_text():
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.2)
        assert "webhooks are ready" in log.read_text()


@pytest.mark.parametrize("hours", [3, -24 * 40])
def test_webhooks_of_a_machine_whose_clock_is_wrong_are_trusted(
    hours: int, place: Place, workload: Manifest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a clock that is ahead certificates are not valid yet, and by one that is behind they are over: each edit was refused."""
    (tmp_path / "sitecustomize.py").write_text(SHIFTED.format(seconds=hours * 3600))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    place.announce("one")
    with operators(place, tmp_path, "one") as [port]:
        place.install("one", port)
        declare(place, workload, "chat")
        leases = json.loads(place.plane.kubectl("get", "leases", "-n", place.namespace, "-o", "json").stdout)["items"]
        assert [abs(datetime.fromisoformat(one["spec"]["renewTime"]).timestamp() - time.time()) < 60 for one in leases] == [True]
        place.uninstall()


def edited(manifest: Manifest, by: str) -> Manifest:
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": {"by": by}}}


def test_the_size_of_a_job_is_guarded_whoever_writes_it_and_however(replicas_plane: Place, workload: Manifest, tmp_path: Path) -> None:
    place = replicas_plane
    workload["spec"]["workloadType"] = "Training"
    workload["spec"]["template"]["podCliqueScalingGroups"] = [{"name": "ranks", "cliqueNames": ["worker"], "replicas": 2}]
    apply = ("apply", "--server-side", "--force-conflicts", "--field-manager=mine", "-f")
    declare(place, workload, "job")
    for name in ("pcsg/job-0-ranks", "pclq/job-0-ranks-1-worker"):
        place.plane.kubectl("wait", name, "-n", place.namespace, "--for=create", "--timeout=90s")
        assert "spec.replicas" in place.refused("scale", name, "--replicas=5")
        assert "spec.replicas" in place.refused("patch", name, "--type=merge", "-p", '{"spec": {"replicas": 5}}')
        live = json.loads(place.plane.kubectl("get", name, "-n", place.namespace, "-o", "json").stdout)
        del live["metadata"]["resourceVersion"]  # the operator may have written a status since
        live["spec"]["replicas"], other = 5, tmp_path / "other.json"
        other.write_text(json.dumps(live))
        assert "spec.replicas" in place.refused("replace", "-f", str(other))
        assert "spec.replicas" in place.refused(*apply, str(other))
        place.plane.kubectl("annotate", name, "-n", place.namespace, "note=mine")
