"""The image: what the Dockerfile says is safe, and its commands make a program that runs without writing beside itself."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

import pytest

from grove_operator.install.manifests import manifests
from grove_operator.install.user_values import load_values

ROOT = Path(__file__).parents[2]
FILE = ROOT / "Dockerfile"
HOME = "/opt/grove"
NOBODY = 65532
SET = ROOT / "examples" / "minimal.yaml"
CHECKS = sorted((ROOT / "preflight_images").glob("*/Dockerfile"))
IMAGES = [FILE, *CHECKS]
in_one_process = pytest.mark.xdist_group("image")
"""Marks what uses `installed`, which takes half a minute of CPU in each process that makes it."""


WITHOUT_BYTECODE = {"PIP_NO_COMPILE": "0"}
"""For pip, to which a value that is false means that it shall not compile what it installs."""


class Instruction(NamedTuple):
    """One instruction of a Dockerfile."""

    word: str
    rest: str


def instructions(file: Path = FILE) -> list[Instruction]:
    text = re.sub(r"\\\n\s*", " ", file.read_text("utf-8"))
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return [Instruction(*line.split(None, 1)) for line in lines]


def last(word: str) -> str:
    return [one.rest for one in instructions() if one.word == word][-1]


def test_it_runs_as_nobody() -> None:
    assert last("USER") == "65532:65532", "a number, so that a kubelet can tell that it is not root"


def test_it_starts_as_the_init_container_without_a_shell() -> None:
    assert last("ENTRYPOINT") == f'["{HOME}/bin/grove", "initc"]'


def test_base_images_are_pinned_and_named_in_full() -> None:
    bases = [one.rest.split()[0] for one in instructions() if one.word == "FROM"]
    assert set(bases) == {"docker.io/library/python:${PYTHON}"}
    assert re.fullmatch(r"PYTHON=3\.\d+\.\d+-slim-\w+(@sha256:[0-9a-f]{64})?", last("ARG"))


@pytest.mark.parametrize("file", CHECKS, ids=lambda file: file.parent.name)
def test_base_images_of_checks_are_exact_versions(file: Path) -> None:
    tags = dict(one.rest.split("=") for one in instructions(file) if one.word == "ARG")
    bases = [re.sub(r"\$\{(\w+)\}", lambda name: tags[name[1]], one.rest.split()[0]) for one in instructions(file) if one.word == "FROM"]
    assert [base for base in bases if not re.search(r":(\d+\.\d+[\w.-]*)(@sha256:[0-9a-f]{64})?$", base)] == []


def test_nothing_is_fetched_but_from_the_package_index() -> None:
    commands = [one.rest for one in instructions() if one.word == "RUN"]
    assert [one for one in commands if re.search(r"curl|wget|git|apt|https?:", one)] == []
    assert [one.word for one in instructions() if one.word == "ADD"] == []


def test_what_compiles_stays_behind() -> None:
    final = instructions()[max(index for index, one in enumerate(instructions()) if one.word == "FROM") :]
    assert [one.word for one in final if one.word == "RUN"] == []
    assert [one.rest for one in final if one.word == "COPY"] == [f"--from=build {HOME} {HOME}"]


def test_the_deployment_runs_what_the_image_has() -> None:
    [deployment] = [one for one in manifests(load_values([], []), "grove-system") if one["kind"] == "Deployment"]
    pod = deployment["spec"]["template"]["spec"]
    assert pod["containers"][0]["command"][:3] == ["grove", "operator", "run"]
    assert f"PATH={HOME}/bin:" in last("ENV")
    assert f"{pod['securityContext']['runAsUser']}:{pod['securityContext']['runAsGroup']}" == last("USER")


def last_in(file: Path, word: str) -> str:
    return [one.rest for one in instructions(file) if one.word == word][-1]


@pytest.mark.parametrize("file", IMAGES, ids=lambda file: file.parent.name)
def test_every_image_runs_as_nobody(file: Path) -> None:
    assert last_in(file, "USER") == "65532:65532"


@pytest.mark.parametrize("file", IMAGES, ids=lambda file: file.parent.name)
def test_all_that_an_image_copies_is_among_what_a_build_is_given(file: Path) -> None:
    copied = [one.rest.split()[:-1] for one in instructions(file) if one.word == "COPY" and not one.rest.startswith("--from=")]
    sources = [ROOT / source for sources in copied for source in sources if source != "."]
    given = list(context())
    assert [str(one) for one in sources if not one.exists() or not any(one.is_relative_to(path) for path in given)] == []


@pytest.mark.parametrize("file", CHECKS, ids=lambda file: file.parent.name)
def test_an_image_of_a_check_starts_the_module_that_it_has(file: Path) -> None:
    [python, flag, module] = json.loads(last_in(file, "ENTRYPOINT"))
    assert (python.startswith("python3"), flag) == (True, "-m")
    assert module == f"preflight_images.{file.parent.name}"
    assert (file.parent / "__main__.py").exists()
    assert "PYTHONPATH=/opt/preflight:" in last_in(file, "ENV"), "where the module is copied to"


@pytest.mark.parametrize("file", CHECKS, ids=lambda file: file.parent.name)
def test_a_check_runs_with_the_packages_that_its_image_installs_whatever_its_base_pins(file: Path, tmp_path: Path) -> None:
    """As PyTorch's image does: it holds packages at its own versions by a file of constraints."""
    constraints = tmp_path / "constraint.txt"
    constraints.write_text("grpcio==1.50.0\nprotobuf==4.25.0\n", "utf-8")
    pinned = os.environ | WITHOUT_BYTECODE | ({"PIP_CONSTRAINT": str(constraints)} if "pytorch" in last_in(file, "FROM") else {})
    shutil.copytree(ROOT / "preflight_images", tmp_path / "preflight_images", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "preflight_images" / "requirements.txt", tmp_path)
    [install] = [one.rest for one in instructions(file) if one.word == "RUN" and "pip install" in one.rest and "apt-get" not in one.rest]
    carry_out(re.sub(r"python3[.\d]*", sys.executable, install).replace("/opt/preflight", str(tmp_path)), tmp_path, pinned)
    [path] = re.findall(r"PYTHONPATH=(\S+)", last_in(file, "ENV"))
    environment = {"PYTHONPATH": path.replace("/opt/preflight", str(tmp_path)), "PYTHONDONTWRITEBYTECODE": "1"}
    bare = str(getattr(sys, "_base_executable", sys.executable))  # without what the project has installed for itself
    where = [bare, "-c", "import grpc, google.protobuf as p; print(grpc.__file__, p.__file__)"]
    found = subprocess.run(where, env=environment, capture_output=True, text=True, check=False)
    assert [str(tmp_path / "packages") in one for one in found.stdout.split()] == [True, True], found.stderr
    ended = subprocess.run(
        [bare, *json.loads(last_in(file, "ENTRYPOINT"))[1:]], env=environment, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, "Traceback" in ended.stderr) == (2, False), ended.stderr


@pytest.mark.parametrize("file", CHECKS, ids=lambda file: file.parent.name)
def test_packages_of_a_check_are_pinned(file: Path) -> None:
    installs = [one.rest.partition("pip install ")[2] for one in instructions(file) if one.word == "RUN" and "pip install" in one.rest]
    named = [word for line in installs for word in line.split() if not word.startswith(("-", "/"))]
    wanted = (ROOT / "preflight_images" / "requirements.txt").read_text("utf-8").splitlines()
    assert [one for one in (*named, *wanted) if one and not one.startswith(("#", "--", " ")) and "==" not in one] == []


def context() -> Iterator[Path]:
    """The files that a build is given."""
    patterns = [line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")]
    yield from (path for path in ROOT.iterdir() if any(fnmatch(path.name, pattern) for pattern in patterns))


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the commands of the Dockerfile make, in another place. The package index may be out of reach."""
    source, home = tmp_path_factory.mktemp("src"), tmp_path_factory.mktemp("opt") / "grove"
    for path in context():
        if path.is_dir():
            shutil.copytree(path, source / path.name, ignore=shutil.ignore_patterns("__pycache__", "_warm"))
        else:
            shutil.copy(path, source)
    for one in instructions():
        if one.word == "RUN":
            command = re.sub(r"^python ", f"{sys.executable} ", one.rest.replace(HOME, str(home)))
            carry_out(command, source, os.environ | WITHOUT_BYTECODE)
    return home


def carry_out(command: str, folder: Path, environment: dict[str, str]) -> None:
    """Runs a command of a Dockerfile. Skips the test where the package index is out of reach."""
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode and re.search("No matching distribution|Max retries|connection", done.stderr, re.IGNORECASE):
        pytest.skip("the package index is out of reach")
    assert done.returncode == 0, done.stderr[-2000:]


def run(home: Path, *arguments: str, cache: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": f"{home}/bin:/usr/bin:/bin", "GROVE_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([f"{home}/bin/grove", *arguments], env=environment, cwd=cache, capture_output=True, text=True, check=False)


def files(home: Path) -> dict[str, float]:
    return {str(path): path.stat().st_mtime for path in home.rglob("*") if path.is_file()}


@in_one_process
def test_the_program_runs_and_writes_nothing_beside_itself(installed: Path, tmp_path: Path) -> None:
    before = files(installed)
    ended = run(installed, "compile", str(SET), "-o", "name", cache=tmp_path)
    assert (ended.returncode, "podclique" in ended.stdout) == (0, True), ended.stderr
    for command in (("initc", "--help"), ("operator", "run", "--help"), ("operator", "webhooks", "--help")):
        assert run(installed, *command, cache=tmp_path).returncode == 0
    assert files(installed) == before


@in_one_process
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="only root can become somebody else")
def test_somebody_else_runs_it_who_may_write_nothing_of_it(installed: Path, tmp_path: Path) -> None:
    """As in a pod: another user, who may read all and write nothing but a folder for what is temporary."""
    cache = tmp_path / "cache"
    cache.mkdir()
    os.chown(cache, NOBODY, NOBODY)
    readable = ("--inh-caps", "+dac_read_search", "--ambient-caps", "+dac_read_search")  # what runs the tests may lie below root's home
    become = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups", *readable]
    environment = {"PATH": f"{installed}/bin:/usr/bin:/bin", "GROVE_CACHE_DIR": str(cache)}

    def ended(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*become, *command], env=environment, cwd=cache, capture_output=True, text=True, check=False)

    assert ended("touch", str(installed / "bin" / "mine")).returncode != 0
    made = ended(f"{installed}/bin/grove", "compile", str(SET), "-o", "name")
    assert (made.returncode, "podclique" in made.stdout) == (0, True), made.stderr


@in_one_process
def test_the_image_has_no_program_that_installs_others(installed: Path) -> None:
    assert not list(installed.glob("lib/python*/site-packages/pip*"))
    assert not list((installed / "bin").glob("pip*"))


@in_one_process
def test_the_image_has_all_that_the_operator_asks_for(installed: Path) -> None:
    names = "aiohttp, prometheus_client, httptools, orjson, cryptography, opentelemetry.sdk, opentelemetry.exporter.otlp.proto.http"
    done = subprocess.run([f"{installed}/bin/python", "-c", f"import {names}"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@in_one_process
def test_an_installation_is_printed_from_the_image(installed: Path, tmp_path: Path) -> None:
    ended = run(installed, "install", cache=tmp_path)
    assert (ended.returncode, "kind: Deployment" in ended.stdout) == (0, True), ended.stderr
