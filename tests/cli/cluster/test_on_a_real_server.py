"""Commands against a real API server, beside kubectl."""

from __future__ import annotations

import copy
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from applier.ref import Manifest
from applier.testing.control_plane import ControlPlane
from tests.suite.journals import read_journal

from ...benchmarks.applier_workload import mixed_objects
from ..running import ROOT, Ended, run

pytestmark = pytest.mark.cluster

DIFFERS = re.compile(r"^diff -u -N \S+/LIVE-\d+/(\S+)", re.MULTILINE)


class Bench:
    """The program and kubectl with one namespace of one server."""

    def __init__(self, plane: ControlPlane, namespace: str, folder: Path) -> None:
        self.plane, self.namespace, self.folder = plane, namespace, folder

    def grove(self, *arguments: str, user: str = "", stdin: bytes = b"") -> Ended:
        kubeconfig = self.plane.users[user].kubeconfig if user else self.plane.kubeconfig
        return run(*arguments, "--kubeconfig", str(kubeconfig), "-n", self.namespace, stdin=stdin)

    def keep_by_grove(self, file: str) -> None:
        ended = self.grove("apply", file, "--prune", "--applyset=web", "--force-conflicts")
        assert ended.code == 0, ended.err

    def keep_by_kubectl(self, file: str) -> None:
        options = ("--server-side", "--force-conflicts", "--prune", "--applyset=web")
        self.plane.kubectl("apply", "-n", self.namespace, *options, "-f", file)

    def settle(self) -> None:
        """Waits until the controller of Deployments has seen those that were just made: it annotates them, which is a change."""
        seen = ("--for=jsonpath={.status.observedGeneration}", "--timeout=60s")
        self.plane.kubectl("wait", "deployments", "--all", "-n", self.namespace, *seen)

    def labelled(self) -> list[str]:
        """The objects of the workload that are there, as `Kind/name`."""
        kinds = "configmaps,secrets,services,serviceaccounts,roles,deployments"
        found = self.plane.kubectl("get", kinds, "-n", self.namespace, "-l", "app.kubernetes.io/part-of=bench", "-o", "json").stdout
        return [f"{item['kind']}/{item['metadata']['name']}" for item in json.loads(found)["items"]]

    def file(self, *manifests: Manifest) -> str:
        path = self.folder / "all.json"
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(manifests)}))
        return str(path)

    def objects(self, count: int) -> list[Manifest]:
        return mixed_objects(count, self.namespace)


@pytest.fixture
def bench(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> Bench:
    return Bench(control_plane, namespace, tmp_path)


def changed(manifest: Manifest, dice: random.Random) -> Manifest:
    """The manifest with one thing changed: a label, an annotation, or what its kind is about."""
    manifest = copy.deepcopy(manifest)
    place = dice.choice(["label", "annotation", "content", "content"])
    if place == "content":
        change: Any = {
            "ConfigMap": lambda: manifest["data"].update({"key-0": "changed"}),
            "Secret": lambda: manifest["data"].update({"token": "Y2hhbmdlZA=="}),
            "Service": lambda: manifest["spec"]["ports"][0].update({"targetPort": 1234}),
            "ServiceAccount": lambda: manifest.update({"automountServiceAccountToken": True}),
            "Role": lambda: manifest["rules"][0].update({"verbs": ["get"]}),
            "Deployment": lambda: manifest["spec"]["template"]["spec"]["containers"][0].update({"image": "registry.example/changed"}),
        }[manifest["kind"]]
        change()
    else:
        manifest["metadata"].setdefault(f"{place}s", {})["changed"] = "yes"
    return manifest


def by_kubectl(name: str) -> str:
    """`v1.ConfigMap.shop.x` as `ConfigMap/x`."""
    return re.sub(r"^(?:.*\.)?v[0-9a-z]+\.(\w+)\.[^.]*\.(.+)$", r"\1/\2", name)


def test_the_verdict_on_every_object_is_kubectls(bench: Bench) -> None:
    dice = random.Random(7)
    objects = bench.objects(90)
    assert bench.grove("apply", bench.file(*objects)).code == 0
    bench.settle()
    wanted = [changed(manifest, dice) if dice.random() < 0.3 else manifest for manifest in objects]
    wanted += [{**manifest, "metadata": {**manifest["metadata"], "name": f"new-{n}"}} for n, manifest in enumerate(objects[:6])]
    file = bench.file(*wanted)
    theirs = bench.plane.kubectl("diff", "--server-side", "--force-conflicts", "--field-manager", "grove", "-f", file, check=False)
    ours = bench.grove("diff", "--force-conflicts", "-o", "json", file)
    differing = {f"{one['kind']}/{one['name']}" for one in json.loads(ours.out)["objects"] if one["action"] != "unchanged"}
    assert differing == {by_kubectl(name) for name in DIFFERS.findall(theirs.stdout)}
    assert (ours.code, theirs.returncode) == (1, 1)
    assert 20 < len(differing) < 60


def test_what_the_server_says_is_what_we_say(bench: Bench) -> None:
    dice = random.Random(3)
    objects = bench.objects(30)
    bench.grove("apply", bench.file(*objects))
    file = bench.file(*(changed(manifest, dice) if dice.random() < 0.5 else manifest for manifest in objects))
    here, there = (json.loads(bench.grove("diff", "-o", "json", file, *server).out) for server in ((), ("--server",)))
    assert here["summary"] == there["summary"]
    assert [(one["name"], one["action"]) for one in here["objects"]] == [(one["name"], one["action"]) for one in there["objects"]]


def test_applying_again_writes_nothing(bench: Bench) -> None:
    file = bench.file(*bench.objects(30))
    bench.grove("apply", file)
    mark = bench.plane.mark()
    ended = bench.grove("apply", file)
    assert {line.split()[1] for line in ended.out.splitlines()} == {"unchanged"}
    assert len(bench.plane.requests(mark).only(namespace=bench.namespace).writes) == 0


def test_kubectl_finds_what_we_applied_unchanged(bench: Bench) -> None:
    file = bench.file(*bench.objects(12))
    bench.grove("apply", file)
    assert bench.plane.kubectl("diff", "--server-side", "--field-manager", "grove", "-f", file, check=False).stdout == ""


def test_what_another_manager_edited_is_drift_with_its_name(bench: Bench) -> None:
    [settings, *_] = bench.objects(1)
    file = bench.file(settings)
    bench.grove("apply", file)
    patch = json.dumps({"data": {"key-0": "edited"}})
    name = settings["metadata"]["name"]
    bench.plane.kubectl("patch", "configmap", name, "-n", bench.namespace, "--field-manager", "somebody", "-p", patch)
    ended = bench.grove("diff", file)
    assert ended.code == 2, "the field is somebody else's now, so that an apply would be refused"
    assert "data.key-0 belongs to somebody (Update at " in ended.out
    assert bench.grove("apply", "--force-conflicts=somebody", file).out == f"configmap/{name} configured\n"


def test_what_is_no_longer_in_a_set_is_pruned_and_nothing_else(bench: Bench) -> None:
    objects = bench.objects(12)
    bench.grove("apply", "--applyset", "web", bench.file(*objects))
    ended = bench.grove("apply", "--prune", "--applyset", "web", bench.file(*objects[:8]))
    assert ended.code == 0, ended.err
    assert sum(line.endswith(" pruned") for line in ended.out.splitlines()) == 4
    assert bench.grove("diff", bench.file(*objects[:8]), "--field-manager", "grove").code in (0, 1)


@pytest.mark.parametrize("first", ["grove", "kubectl"])
def test_either_of_grove_and_kubectl_prunes_the_others_set(bench: Bench, monkeypatch: pytest.MonkeyPatch, first: str) -> None:
    monkeypatch.setenv("KUBECTL_APPLYSET", "true")
    objects = bench.objects(12)
    tools = [bench.keep_by_grove, bench.keep_by_kubectl]
    made_by, pruned_by = tools if first == "grove" else reversed(tools)
    made_by(bench.file(*objects))
    pruned_by(bench.file(*objects[2:]))
    assert sorted(bench.labelled()) == sorted(f"{one['kind']}/{one['metadata']['name']}" for one in objects[2:])


def test_what_would_be_pruned_is_shown_and_a_kept_plan_prunes_it(bench: Bench) -> None:
    objects, path = bench.objects(12), str(bench.folder / "change.plan")
    options = ("--prune", "--applyset", "web")
    bench.grove("apply", *options, bench.file(*objects))
    bench.settle()
    shown = bench.grove("diff", *options, bench.file(*objects[:8]))
    assert (shown.code, shown.out.splitlines()[-1]) == (1, "4 objects differ: 4 pruned; 8 unchanged")
    assert bench.grove("plan", *options, bench.file(*objects[:8]), "-o", path).code == 0
    values = [value for one in objects if one["kind"] == "Secret" for value in one["data"].values()]
    assert values and not any(value in Path(path).read_text() for value in values)
    ended = bench.grove("apply", "--plan", path)
    assert (ended.code, sum(line.endswith(" pruned") for line in ended.out.splitlines())) == (0, 4)
    assert "is no longer valid" in bench.grove("apply", "--plan", path).err


def test_a_diff_program_is_given_what_kubectl_gives_it(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    program, told = bench.folder / "program", bench.folder / "told"
    program.write_text(f'#!/bin/sh\n(cd "$1" && ls; cd "$2" && ls) | sort > {told}\nexit 1\n')
    program.chmod(0o755)
    monkeypatch.setenv("KUBECTL_EXTERNAL_DIFF", str(program))
    file = bench.file(*bench.objects(12))
    theirs = bench.plane.kubectl("diff", "--server-side", "-f", file, check=False)
    by_kubectl = told.read_text()
    ours = bench.grove("diff", file)
    assert (ours.code, theirs.returncode, told.read_text()) == (1, 1, by_kubectl)


def test_a_journal_tells_of_every_object(bench: Bench) -> None:
    path = bench.folder / "runs.jsonl"
    assert bench.grove("apply", "--journal", str(path), bench.file(*bench.objects(12))).code == 0
    assert [line["action"] for line in read_journal(path) if line["event"] == "finished"] == ["created"] * 12


def test_a_set_becomes_all_its_objects_and_they_hang_on_it(bench: Bench) -> None:
    definitions = bench.grove("apply", "--force-conflicts", "-", stdin=run("crds").out.encode())
    assert (definitions.code, definitions.err) == (0, ""), "it comes back when the kinds are served"
    example = (ROOT / "examples" / "minimal.yaml").read_bytes()
    ended = bench.grove("apply", "-", stdin=example)
    assert (ended.code, ended.err) == (0, "")
    assert {line.split()[1] for line in bench.grove("apply", "-", stdin=example).out.splitlines()} == {"unchanged"}
    tree = bench.grove("get", "tree", "minimal").out
    assert all(name in tree for name in ("PodClique minimal-0-server", "PodGang minimal-0", "ServiceAccount minimal"))
    gone = bench.grove("delete", "-", "--no-wait", stdin=example)
    assert (gone.code, gone.out.splitlines()[0]) == (0, "podcliqueset.grove.io/minimal deleted")


def test_a_missing_permission_names_the_rule_that_would_grant_it(bench: Bench) -> None:
    ended = bench.grove("apply", bench.file(*bench.objects(1)), user="nobody")
    assert (ended.code, ended.out) == (2, "")
    for part in ("nobody", "configmaps", "get", "Role"):
        assert part in ended.err


def test_a_namespace_that_is_not_there_is_one_line(bench: Bench) -> None:
    [settings] = bench.objects(1)
    del settings["metadata"]["namespace"]
    ended = run("apply", bench.file(settings), "-n", "nowhere", "--kubeconfig", str(bench.plane.kubeconfig))
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.count("\n") == 1
    assert "namespace 'nowhere' does not exist" in ended.err


def test_a_kind_that_is_not_served_is_one_line(bench: Bench) -> None:
    ended = bench.grove("diff", bench.file({"apiVersion": "x.example/v1", "kind": "Foo", "metadata": {"name": "x"}}))
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "grove: the server serves no Foo of x.example/v1; install its CustomResourceDefinition first\n"


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&- <&-"])
def test_closed_streams_are_no_reason_to_crash(bench: Bench, closed: str) -> None:
    program = f"{sys.executable} -m grove_cli apply {bench.file(*bench.objects(1))} --kubeconfig {bench.plane.kubeconfig}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(["bash", "-c", f"{program} {closed}"], env=environment, capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_all_kinds_that_are_not_served_are_told_at_once(bench: Bench) -> None:
    kinds = [{"apiVersion": "x.example/v1", "kind": kind, "metadata": {"name": "x"}} for kind in ("Foo", "Bar")]
    ended = bench.grove("apply", bench.file(*kinds, *bench.objects(1)))
    assert (ended.code, ended.out) == (2, "")
    assert [line.split()[5] for line in ended.err.splitlines()] == ["Foo", "Bar"]


def test_of_runs_that_race_one_says_created(bench: Bench) -> None:
    file = bench.file(*bench.objects(12))
    command = [sys.executable, "-m", "grove_cli", "apply", file, "-o", "json"]
    command += ["--kubeconfig", str(bench.plane.kubeconfig), "-n", bench.namespace]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) for _ in range(4)]
    told = [json.loads(run.communicate(timeout=120)[0]) for run in runs]
    created = [(one["kind"], one["name"]) for account in told for one in account["objects"] if one["action"] == "created"]
    assert len(created) == len(set(created)) == 12


def test_a_set_may_be_recorded_in_a_namespace_that_it_makes(bench: Bench) -> None:
    home = f"{bench.namespace}-home"
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": home}}
    file = bench.file({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": home}}, config)

    def grove(*arguments: str) -> Ended:
        return run(*arguments, "--applyset=web", "-n", home, "--kubeconfig", str(bench.plane.kubeconfig))

    assert grove("diff", file).code == 1
    ended = grove("apply", file, "--prune")
    assert (ended.code, ended.out.splitlines()) == (0, [f"namespace/{home} created", "configmap/a created"])
    assert grove("apply", file, "--prune").out.splitlines() == [f"namespace/{home} unchanged", "configmap/a unchanged"]
    ended = grove("delete")
    assert (ended.code, ended.out.splitlines()[:2]) == (0, ["configmap/a deleted", f"namespace/{home} deleted"])
