"""The topology file of the machine: the check learns the type of its machine from the gang's files, or asks for its own Node."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from applier.testing.control_plane import ControlPlane
from preflight_images.nccl_allreduce import check as allreduce
from preflight_images.shared import nccl
from preflight_images.shared.nccl import with_topology
from preflight_images.shared.outcome import Misconfigured
from preflight_images.shared.settings import CheckSettings

LABEL = "node.kubernetes.io/instance-type"
FILES = json.dumps({"p5.48xlarge": "aws-p5.48xlarge.xml", "gone": "gone.xml"})


@pytest.fixture
def image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an image's files, and of a pod's token."""
    monkeypatch.setattr(nccl, "FOLDER", str(tmp_path))
    monkeypatch.setattr(nccl, "ACCOUNT", tmp_path)
    (tmp_path / "aws-p5.48xlarge.xml").write_text("<system/>")
    return tmp_path


def told(**more: str) -> dict[str, str]:
    """What the injector tells a check whose machine it does not know."""
    return {"NODE_NAME": "n", "TOPOLOGY_FILES": FILES, "INSTANCE_TYPE_LABEL": LABEL, "TOPOLOGY_FALLBACK": "true", **more}


def test_the_type_that_the_gang_tells_has_its_file(image: Path) -> None:
    said = list[str]()
    assert with_topology(told(), said.append, "p5.48xlarge")["NCCL_TOPO_FILE"] == str(image / "aws-p5.48xlarge.xml")
    assert said == []


def test_a_file_that_is_named_counts_before_any_other(image: Path) -> None:
    (image / "mine.xml").write_text("<system/>")
    assert with_topology(told(NCCL_TOPO_FILE=str(image / "mine.xml")), print, "p5.48xlarge")["NCCL_TOPO_FILE"] == str(image / "mine.xml")


UNDECIDED = {
    "a type without a file": ("unheard-of", "there is no topology file for instance type unheard-of"),
    "a type whose file the image lacks": ("gone", "there is no topology file /"),
    "no token": ("", "the pod has no service account token"),
}


@pytest.mark.parametrize("what", UNDECIDED)
def test_without_a_file_nccl_finds_the_topology_out_and_somebody_hears_why(what: str, image: Path) -> None:
    machine, reason = UNDECIDED[what]
    said = list[str]()
    assert "NCCL_TOPO_FILE" not in with_topology(told(), said.append, machine)
    (line,) = said
    assert reason in line
    assert line.endswith("NCCL detects the topology itself")
    assert image.is_dir()


@pytest.mark.parametrize("machine", ["unheard-of", ""])
@pytest.mark.usefixtures("image")
def test_where_nccl_may_not_find_it_out_the_check_is_misconfigured(machine: str) -> None:
    with pytest.raises(Misconfigured, match="enableFallback"):
        with_topology(told(TOPOLOGY_FALLBACK="false"), print, machine)


def test_where_admission_has_decided_nobody_is_asked() -> None:
    assert with_topology({"NODE_NAME": "n"}, pytest.fail, "p5.48xlarge") == {"NODE_NAME": "n"}


@pytest.mark.parametrize("text", ["[]", '{"a": 1}', "{"])
def test_files_that_are_no_map_are_misconfigured(text: str) -> None:
    with pytest.raises(Misconfigured, match="TOPOLOGY_FILES"):
        with_topology(told(TOPOLOGY_FILES=text), print, "p5.48xlarge")


NODES = {"plain": {}, "p5": {LABEL: "p5.48xlarge"}}
ASKED: dict[str, tuple[str, str, str]] = {
    "an account that may get nodes": ("viewer", "p5", ""),
    "an account that may not": ("nobody", "p5", "its service account may not get nodes"),
    "a node without the label": ("viewer", "plain", f"has no label {LABEL}"),
    "a node that is gone": ("viewer", "gone", "the API server answers 404"),
}


@pytest.mark.cluster
@pytest.mark.parametrize("what", ASKED)
def test_a_check_asks_a_real_server_for_its_node(what: str, image: Path, control_plane: ControlPlane, namespace: str) -> None:
    user, node, reason = ASKED[what]
    names = {name: f"{namespace}-{name}" for name in NODES}
    manifests: list[Any] = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": names[name], "labels": NODES[name]}} for name in NODES
    ]
    control_plane.objects.apply(manifests)
    (image / "token").write_text(control_plane.users[user].token + "\n")
    (image / "ca.crt").write_bytes(Path(control_plane.certificate_authority).read_bytes())
    url = urlsplit(control_plane.url)
    environment = told(KUBERNETES_SERVICE_HOST=str(url.hostname), KUBERNETES_SERVICE_PORT=str(url.port), NODE_NAME=names.get(node, "gone"))
    said = list[str]()
    assert ("NCCL_TOPO_FILE" in with_topology(environment, said.append)) is (not reason), said
    assert [reason in line for line in said] == ([True] if reason else [])
    for name in names.values():
        control_plane.request("DELETE", f"/api/v1/nodes/{name}")


def test_a_gang_measures_with_the_file_of_its_machine(image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in {
        "expected_count": "1",
        "master_addr": "10.0.1.5",
        "peers": "pod-0:10.0.1.5",
        "instance_types": "pod-0:p5.48xlarge\n",
    }.items():
        (tmp_path / name).write_text(text)
    program = "import os, pathlib; pathlib.Path(os.environ['SEEN']).write_text(os.environ.get('NCCL_TOPO_FILE', ''))"
    monkeypatch.setattr(allreduce, "torchrun", lambda *_: [sys.executable, "-c", program])
    monkeypatch.setattr(allreduce, "measure", partial(allreduce.measure, settling=0.0))
    seen = tmp_path / "seen"
    environment = told(MY_POD_NAME="pod-0", GANG_CONFIG_DIR=str(tmp_path), NPROCS_PER_NODE="1", SEEN=str(seen))
    allreduce.check(environment, CheckSettings("n", "unix:///s", "EXECUTE_REMEDIATION", 1, "", "", ""))
    assert seen.read_text() == str(image / "aws-p5.48xlarge.xml")
