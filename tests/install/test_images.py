"""`make images` and `make push`: what is run is what it says, for any builder, and what cannot be made is told in a line."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grove_compiler.version import __version__
from grove_operator.install.manifests import image
from grove_operator.install.user_values import load_values
from tools import images

pytestmark = pytest.mark.xdist_group("images")  # since the lock file is one for all
ROOT = Path(__file__).parents[2]
NAMES = ["grove-operator", "preflight-dcgm-diag", "preflight-nccl-allreduce", "preflight-nccl-loopback"]
Put = Callable[..., Path]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with make and git, and no builder yet."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("make", "git", "sh", "bash", "mkdir"):
        if found := shutil.which(name):
            (folder / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def put(path: Path) -> Put:
    """Puts programs on the PATH, which write down how they are called; `says` is what they answer, as a case of a shell."""

    def write(*names: str, says: str = "", code: int = 0) -> Path:
        log = path.parent / "log"
        for name in names:
            script = f'#!{path}/sh\necho "{name} $*" >> "{log}"\ncase "$*" in\n{says}\nesac\nexit {code}\n'
            (path / name).write_text(script)
            (path / name).chmod(0o755)
        return log

    return write


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["make", "-s", *arguments, f"PYTHON={sys.executable}"]
    environment = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "BUILDER", "REGISTRY", "SBOM")
    }
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60)


def lines(text: str, beginning: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(beginning)]


@pytest.mark.parametrize("builder", images.BUILDERS)
def test_make_n_lists_the_build_of_each_image(builder: str, put: Put) -> None:
    log = put(builder)
    done = make("-n", "images")
    builds = lines(done.stdout, f"{builder} build ")
    assert (done.returncode, len(builds)) == (0, len(NAMES)), done.stderr
    for name, build in zip(NAMES, builds, strict=True):
        assert f" -t ghcr.io/ai-dynamo/{name}:v{__version__} " in build
        file, context = re.findall(r" -f (\S+) .* (\S+)$", build)[0]
        assert ((ROOT / file).is_file(), context) == (True, ".")
    assert not log.exists() or " build " not in log.read_text()


def test_the_first_image_is_the_one_that_an_installation_names(put: Put) -> None:
    put("podman")
    assert f" -t {image(load_values([], []))} " in make("-n", "images").stdout


def test_images_are_labelled(put: Put) -> None:
    put("podman")
    [build, *_] = lines(make("-n", "images").stdout, "podman build")
    labels = dict(re.findall(r"--label org\.opencontainers\.image\.(\w+)=(\S+)", build))
    assert labels.pop("revision", "0" * 40).removesuffix("-dirty").isalnum()
    assert labels == {"source": images.SOURCE, "version": f"v{__version__}", "licenses": "Apache-2.0"}


def test_make_images_runs_what_it_prints(put: Put) -> None:
    log = put("podman")
    done = make("images", "FLAGS=--build-arg PYTHON=3.13.12-slim-trixie")
    assert done.returncode == 0, done.stderr
    assert log.read_text().splitlines() == lines(done.stdout, "podman")
    assert all(" --build-arg PYTHON=3.13.12-slim-trixie ." in line for line in lines(done.stdout, "podman"))


def test_make_push_builds_for_a_registry_and_pushes_there(put: Put) -> None:
    log = put("podman")
    done = make("push", "REGISTRY=registry.example.com/grove/")
    assert done.returncode == 0, done.stderr
    pushed = [f"podman push registry.example.com/grove/{name}:v{__version__}" for name in NAMES]
    assert lines(log.read_text(), "podman push") == pushed
    assert "next: grove install --set image.repository=registry.example.com/grove/grove-operator > operator.yaml" in done.stderr


def test_a_push_needs_a_registry(put: Put) -> None:
    log = put("podman")
    done = make("push")
    assert (done.returncode, done.stdout, log.exists()) == (2, "", False)
    assert done.stderr.startswith("say where to push: make push REGISTRY=registry.example.com/grove\n")


@pytest.mark.usefixtures("path")
def test_without_a_builder_one_line_says_which_there_are() -> None:
    done = make("images")
    assert (done.returncode, done.stdout) == (2, "")
    first, *others = done.stderr.splitlines()
    assert first == "no builder of images is on PATH: install one of docker, podman, buildah, or name another with BUILDER=…"
    assert [line for line in others if not line.startswith("make: ***")] == []


def test_a_builder_may_be_named(put: Put) -> None:
    put("docker", "nerdctl")
    assert len(lines(make("-n", "images", "BUILDER=nerdctl").stdout, "nerdctl build")) == len(NAMES)
    assert "there is no program kaniko" in make("images", "BUILDER=kaniko").stderr


def test_a_build_that_fails_ends_it_with_its_exit_code(put: Put) -> None:
    log = put("podman", code=7)
    done = subprocess.run([sys.executable, "tools/images.py", "build"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, len(log.read_text().splitlines())) == (7, 1)


BUILDX = "'buildx version') echo v0.35;; 'buildx inspect') echo 'Driver:        docker-container';;"
CONTAINERD = "'buildx version') echo v0.35;; info*) echo '[[driver-type io.containerd.snapshotter.v1]]';;"


@pytest.mark.parametrize(
    ("says", "target", "flags"),
    [
        (BUILDX, ("push", "REGISTRY=r.example.com"), "buildx build --sbom=true --push"),
        (CONTAINERD, ("images",), "buildx build --sbom=true --load"),
        (BUILDX, ("images",), "build"),
        ("", ("images",), "build"),
    ],
)
def test_buildx_attaches_sboms_where_something_takes_them(says: str, target: tuple[str, ...], flags: str, put: Put) -> None:
    put("docker", says=says)
    done = make("-n", *target, "SBOM=1")
    assert len(lines(done.stdout, f"docker {flags} -f ")) == len(NAMES), done.stdout + done.stderr
    assert ("left out: SBOMs" in done.stderr) == (flags == "build")


def test_otherwise_syft_writes_them(put: Put) -> None:
    put("podman", "syft")
    done = make("-n", "images", "SBOM=1")
    scans = [f"syft scan podman:ghcr.io/ai-dynamo/{name}:v{__version__} -o spdx-json=dist/sbom/{name}.spdx.json" for name in NAMES]
    assert lines(done.stdout, "syft") == scans
    assert "left out: SBOMs" not in done.stderr


def test_what_is_left_out_is_told(put: Put) -> None:
    put("podman")
    assert "left out: SBOMs; SBOM=1 makes them, with buildx or syft\n" in make("-n", "images").stderr
    assert "left out: SBOMs; podman attaches none here, and there is no syft\n" in make("-n", "images", "SBOM=1").stderr
    put("buildah", "syft")
    assert "syft reads no images of buildah" in make("-n", "images", "SBOM=1", "BUILDER=buildah").stderr


DIGEST = f"sha256:{'5' * 64}"
TOLD = {
    "podman": f"'image inspect'*) for last; do :; done; echo other.example.com/x@sha256:1; echo ${{last%:*}}@{DIGEST};;",
    "docker": f"'image inspect'*) for last; do :; done; echo ${{last%:*}}@{DIGEST};;",
    "buildah": f"'inspect --type image'*) echo {DIGEST};;",
}


@pytest.fixture
def lock() -> Iterator[Path]:
    """The lock file, which the repository need not have; put back as it was."""
    path = ROOT / images.LOCK
    before = path.read_bytes() if path.exists() else None
    path.unlink(missing_ok=True)
    yield path
    path.unlink(missing_ok=True)
    if before is not None:
        path.write_bytes(before)


@pytest.mark.parametrize("builder", images.BUILDERS)
def test_make_pin_records_the_digest_of_each_base_and_builds_have_it(builder: str, put: Put, lock: Path) -> None:
    log = put(builder, says=TOLD[builder])
    done = make("pin")
    assert done.returncode == 0, done.stderr
    bases = [base for file in images.images().values() for base in images.bases(file).values()]
    assert lock.read_text().splitlines() == [f"{base}@{DIGEST}" for base in sorted(bases)]
    assert lines(log.read_text(), f"{builder} pull ") == [f"{builder} pull {base}" for base in sorted(bases)]
    built = make("-n", "images")
    [first, *_] = lines(built.stdout, f"{builder} build ")
    tag = images.bases(Path("Dockerfile"))["PYTHON"].rpartition(":")[2]
    assert f" --build-arg PYTHON={tag}@{DIGEST} ." in first
    assert built.stdout.count("@sha256:") == len(bases)
    assert "left out: digests" not in built.stderr


def test_digests_that_are_not_pinned_are_told(put: Put, lock: Path) -> None:
    put("podman")
    told = "left out: digests of 5 base images; make pin asks their registries, and writes base-images.lock\n"
    assert told in make("-n", "images").stderr
    lock.write_text(f"docker.io/library/python:2.7@{DIGEST}\n")  # of a version that is no longer the base
    assert "@sha256" not in make("-n", "images").stdout


@pytest.mark.parametrize(("says", "code", "told"), [("", 7, "podman cannot pull"), ("", 0, "podman tells no digest of")])
def test_a_digest_that_nobody_tells_is_not_invented(says: str, code: int, told: str, put: Put, lock: Path) -> None:
    put("podman", says=says, code=code)
    done = make("pin")
    assert done.returncode == 2
    assert done.stderr.startswith(told)
    assert not lock.exists()


def test_a_lock_file_that_pins_nothing_is_an_error(put: Put, lock: Path) -> None:
    log = put("podman")
    lock.write_text(f"docker.io/library/python:3@{DIGEST}\n<<<<<<< HEAD\n")
    done = make("images")
    assert (done.returncode, log.exists()) == (2, False)
    assert done.stderr.startswith("base-images.lock:2: expected NAME:TAG@sha256:…, and not '<<<<<<< HEAD'; make pin writes it anew\n")


@pytest.mark.parametrize("file", images.images().values(), ids=str)
def test_every_base_image_can_be_pinned(file: Path) -> None:
    stages = re.findall(r"^FROM (\S+)", (ROOT / file).read_text(), re.MULTILINE)
    assert len(stages) >= len(images.bases(file)) == len(set(stages))
