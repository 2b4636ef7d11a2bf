"""Commands decide as the operator in their cluster does: by its configuration, unless another is given."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from applier.errors import Forbidden
from applier.ref import Manifest
from grove_cli.queries.mounted_configuration import MountedFile, mounted_configuration
from tests.suite.rows import rows

from .in_memory import MINIMAL, Bench

KIND = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration"}
WITH_KAI = KIND | {"scheduler": {"profiles": [{"name": "default-scheduler"}, {"name": "kai-scheduler"}]}}
NOT_ENABLED = "this scheduler is not enabled in OperatorConfiguration"


def deployed(*command: str, **mount: Any) -> Manifest:
    """The Deployment of an operator, whose container has this command line and mounts the ConfigMap `settings`."""
    mounted = {"name": "config", "mountPath": "/etc/grove", **mount}
    items = {"items": mounted.pop("items")} if "items" in mounted else {}
    container = {"name": "operator", "image": "grove-operator:1", "args": [*command], "volumeMounts": [mounted]}
    pod = {
        "containers": [container],
        "volumes": [{"name": "config", "configMap": {"name": "settings", **items}}, {"name": "tmp", "emptyDir": {}}],
    }
    metadata = {"name": "grove-operator", "namespace": "default"}
    status = {"readyReplicas": 1}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": {"template": {"spec": pod}}, "status": status}


PLACES = {
    "two words": (deployed("--config", "/etc/grove/config.yaml"), "config.yaml"),
    "one word": (deployed("run", "--config=/etc/grove/config.yaml"), "config.yaml"),
    "a folder with a slash": (deployed("--config=/etc/grove/config.yaml", mountPath="/etc/grove/"), "config.yaml"),
    "a file by itself": (deployed("--config=/etc/grove/a.yaml", mountPath="/etc/grove/a.yaml", subPath="config.yaml"), "config.yaml"),
    "a key by another name": (deployed("--config=/etc/grove/a.yaml", items=[{"key": "config.yaml", "path": "a.yaml"}]), "config.yaml"),
    "a file of the image": (deployed("--config=/etc/other/config.yaml"), None),
    "a folder that begins alike": (deployed("--config=/etc/grove-1/config.yaml"), None),
    "no configuration": (deployed("run"), None),
    "an option without a value": (deployed("run", "--config"), None),
    "another volume": (deployed("--config=/etc/grove/config.yaml", name="tmp"), None),
    "nothing": ({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}}, None),
}


@rows("what", PLACES)
def test_it_is_where_the_container_finds_it(what: str) -> None:
    deployment, key = PLACES[what]
    assert mounted_configuration(deployment) == (MountedFile("settings", key) if key else None)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A cluster with an operator, whose configuration has KAI as a second scheduler."""
    bench = Bench(tmp_path)
    bench.define_ours()
    bench.cluster.seed(deployed("--config=/etc/grove/config.yaml"), configured(WITH_KAI))
    return bench


def configured(configuration: Manifest) -> Manifest:
    data = {"config.yaml": json.dumps(configuration)}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "default"}, "data": data}


def with_kai() -> Manifest:
    with open(MINIMAL) as stream:
        made: Manifest = yaml.safe_load(stream)
    made["metadata"]["labels"] = {"kai.scheduler/queue": "research"}
    for one in made["spec"]["template"]["cliques"]:
        one["spec"]["podSpec"]["schedulerName"] = "kai-scheduler"
    return made


@pytest.mark.parametrize("command", ["apply", "diff", "plan"])
def test_a_set_may_be_what_the_operator_accepts(bench: Bench, command: str) -> None:
    done = bench.run(command, bench.file(with_kai()))
    assert (done.code, done.err.count("error")) == (1 if command == "diff" else 0, 0), done.err


@pytest.mark.parametrize("command", [["why", "minimal"], ["why", "-A"], ["describe", "minimal"]], ids=" ".join)
def test_a_set_that_the_operator_accepts_is_not_said_to_be_held(bench: Bench, command: list[str]) -> None:
    bench.cluster.seed({**with_kai(), "metadata": {**with_kai()["metadata"], "namespace": "default", "uid": "u-1", "generation": 1}})
    done = bench.run(*command)
    assert ("minimal" in done.out, NOT_ENABLED in done.out) == (True, False)


def test_a_configuration_that_is_given_comes_first(bench: Bench) -> None:
    (bench.folder / "config.yaml").write_text(json.dumps(KIND))
    done = bench.run("apply", bench.file(with_kai()), "--config", str(bench.folder / "config.yaml"))
    assert (done.code, NOT_ENABLED in done.err) == (1, True)
    done = bench.run("apply", bench.file(with_kai(), KIND))
    assert (done.code, NOT_ENABLED in done.err) == (1, True)


def test_who_may_not_read_it_is_told_how_to_give_it_and_the_operator_decides(bench: Bench) -> None:
    bench.cluster.fail(lambda request: request.name == "settings", Forbidden(403, "Forbidden", "no"), times=-1)
    done = bench.run("apply", bench.file(with_kai()))
    assert (done.code, bench.writes()) == (0, ["apply minimal"])
    assert ("pass the cluster's own with --config" in done.err, "error: " in done.err) == (True, False)


def test_warnings_about_it_are_left_to_the_operator_and_errors_name_it(bench: Bench) -> None:
    bench.cluster.seed(configured(WITH_KAI | {"newer": 1}))
    assert bench.run("apply", bench.file(with_kai()), "--strict").code == 0
    wrong = copy.deepcopy(WITH_KAI) | {"logLevel": "loud"}
    bench.cluster.seed(configured(wrong))
    done = bench.run("apply", bench.file(with_kai()))
    assert (done.code, "ConfigMap default/settings#config.yaml:1:" in done.err) == (1, True)


@pytest.mark.parametrize("command", [["why", "-A"], ["describe", "minimal"], ["serve"]], ids=" ".join)
def test_what_cannot_be_decided_by_it_is_an_error_and_not_something_that_waits(bench: Bench, command: list[str]) -> None:
    bench.cluster.seed(configured(WITH_KAI | {"logLevel": "loud"}))
    done = bench.run(*command)
    assert (done.code, "ConfigMap default/settings#config.yaml:1:" in done.err) == (2, True)
