"""Builds and pushes the images: the operator's, which pods that start after others wait in as well, and those of the preflight checks.

`make images` and `make push REGISTRY=…` run it, by any Python and before anything is installed. With `--print` it only says what it
would run. An SBOM (`--sbom`) is attached by buildx where docker can store attestations; otherwise syft writes a file for each image.
"""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILDERS = ("docker", "podman", "buildah")
SOURCE = "https://github.com/ai-dynamo/grove"
LOCAL = "ghcr.io/ai-dynamo"
"""The registry of the names that images have on this machine: the one that `grove install` and the chart name."""
SBOMS = Path("dist") / "sbom"
LOCK = Path("base-images.lock")
"""A line `NAME:TAG@sha256:…` for each base image whose digest is pinned."""
PINNED = re.compile(r"(\S+:[^\s:@/]+)@(sha256:[0-9a-f]{64})")

Command = list[str]


class Problem(Exception):
    """Reports in a line why nothing can be built."""


def images() -> dict[str, Path]:
    """Returns the Dockerfile of each image, relative to the folder that every build is given: the repository."""
    checks = sorted((ROOT / "preflight_images").glob("*/Dockerfile"))
    return {"grove-operator": Path("Dockerfile")} | {
        f"preflight-{path.parent.name.replace('_', '-')}": path.relative_to(ROOT) for path in checks
    }


def bases(file: Path) -> dict[str, str]:
    """Returns the base images of a Dockerfile by the build argument that holds their tags."""
    text = (ROOT / file).read_text("utf-8")
    tags = dict(re.findall(r"^ARG (\w+)=(\S+)$", text, re.MULTILINE))
    return {argument: f"{name}:{tags[argument]}" for name, argument in re.findall(r"^FROM (\S+):\$\{(\w+)\}", text, re.MULTILINE)}


def pins() -> dict[str, str]:
    """Returns the digests of the lock file by base image. Raises `Problem` for a line that pins nothing."""
    lines = (ROOT / LOCK).read_text("utf-8").splitlines() if (ROOT / LOCK).exists() else []
    found = {}
    for number, line in enumerate(lines, 1):
        match = PINNED.fullmatch(line)
        if match is None:
            raise Problem(f"{LOCK}:{number}: expected NAME:TAG@sha256:…, and not {line!r}; make pin writes it anew")
        found[match[1]] = match[2]
    return found


def pin(program: str) -> str:
    """Pulls the base images, and returns the text of the lock file. Raises `Problem` if one cannot be pulled, or has no digest."""
    lines = []
    for image in sorted({image for file in images().values() for image in bases(file).values()}):
        sys.stdout.write(f"{shlex.join([program, 'pull', image])}\n")
        sys.stdout.flush()
        if subprocess.run([program, "pull", image], cwd=ROOT, check=False).returncode:
            raise Problem(f"{program} cannot pull {image}; {LOCK} is unchanged")
        pinned = next((line for line in (f"{image}@{digest}" for digest in _digests(program, image)) if PINNED.fullmatch(line)), "")
        if not pinned:
            raise Problem(f"{program} tells no digest of {image}; {LOCK} is unchanged")
        lines.append(pinned)
    return "".join(f"{line}\n" for line in lines)


def version() -> str:
    """Returns the version of the project, with the v of the tags that `grove install` and the chart name."""
    found = re.search(r'^__version__ = "(.+)"', (ROOT / "grove_compiler" / "version.py").read_text("utf-8"), re.MULTILINE)
    assert found is not None
    return f"v{found[1]}"


def labels() -> Iterator[str]:
    """Yields the flags for OCI's labels. Without git the revision is left out."""
    told = {"source": SOURCE, "version": version(), "licenses": "Apache-2.0"}
    if revision := _output("git", "-C", str(ROOT), "rev-parse", "HEAD"):
        told["revision"] = revision + ("-dirty" if _output("git", "-C", str(ROOT), "status", "--porcelain") else "")
    for name, value in told.items():
        yield from ("--label", f"org.opencontainers.image.{name}={value}")


def builder(asked: str) -> str:
    """Returns the builder: the one that was asked for, otherwise the first that is there. Raises `Problem`."""
    if asked and shutil.which(asked) is None:
        raise Problem(f"there is no program {asked}; BUILDER may be any that builds as docker does")
    found = asked or next(filter(shutil.which, BUILDERS), None)
    if found is None:
        raise Problem(f"no builder of images is on PATH: install one of {', '.join(BUILDERS)}, or name another with BUILDER=…")
    return found


def attests(program: str, *, pushes: bool) -> bool:
    """Returns whether buildx can attach an SBOM: where docker's image store takes attestations, or the build goes to a registry."""
    if Path(program).name != "docker" or not _output(program, "buildx", "version"):
        return False
    if "containerd" in _output(program, "info", "--format", "{{.DriverStatus}}"):
        return True
    driver = re.search(r"^Driver:\s*(\S+)", _output(program, "buildx", "inspect"), re.MULTILINE)
    return pushes and driver is not None and driver[1] != "docker"


def commands(program: str, registry: str, flags: list[str], *, pushes: bool, sbom: bool) -> Iterator[Command]:
    """Yields what is run: for each image its build, its SBOM, and the push."""
    attached = sbom and attests(program, pushes=pushes)
    scans = sbom and not attached and not _no_scan(program)
    pinned = pins()
    if scans:
        yield ["mkdir", "-p", str(SBOMS)]
    for name, file in images().items():
        image = f"{registry}/{name}:{version()}"
        build = [program, "buildx", "build", "--sbom=true", "--push" if pushes else "--load"] if attached else [program, "build"]
        digests = [f"{argument}={base.rpartition(':')[2]}@{pinned[base]}" for argument, base in bases(file).items() if base in pinned]
        arguments = [part for digest in digests for part in ("--build-arg", digest)]
        yield [*build, "-f", str(file), "-t", image, *labels(), *arguments, *flags, "."]
        if scans:
            yield ["syft", "scan", f"{Path(program).name}:{image}", "-o", f"spdx-json={SBOMS / name}.spdx.json"]
        if pushes and not attached:
            yield [program, "push", image]


def left_out(program: str, *, pushes: bool, sbom: bool) -> Iterator[str]:
    """Yields a line for each thing that was asked for, or is usual, and is not made."""
    unpinned = {base for file in images().values() for base in bases(file).values()} - pins().keys()
    if unpinned:
        yield f"left out: digests of {len(unpinned)} base images; make pin asks their registries, and writes {LOCK}"
    if not sbom:
        yield "left out: SBOMs; SBOM=1 makes them, with buildx or syft"
    elif not attests(program, pushes=pushes) and (reason := _no_scan(program)):
        yield f"left out: SBOMs; {program} attaches none here, and {reason}"
    if not _output("git", "-C", str(ROOT), "rev-parse", "HEAD"):
        yield "left out: the label org.opencontainers.image.revision; this is no clone of git"
    yield "left out: signatures, and other platforms than this machine's"


def main(arguments: list[str] | None = None) -> int:
    """Builds, and pushes if it is asked to. Returns the exit code of what failed, or 2 where nothing can be built."""
    parser = argparse.ArgumentParser(prog="python tools/images.py", description="Builds and pushes the images, and pins their bases.")
    parser.add_argument("action", choices=("build", "push", "pin"))
    parser.add_argument("--builder", default="", help="docker, podman, buildah, or another program that takes their arguments")
    parser.add_argument("--registry", default="", help="registry and path before the names of images")
    parser.add_argument("--flags", default="", help="more flags for each build, such as --build-arg PYTHON=…")
    parser.add_argument("--sbom", action="store_true", help="make an SBOM of each image")
    parser.add_argument("--print", action="store_true", help="print the commands, and run none")
    given = parser.parse_args(arguments)
    pushes, registry = given.action == "push", given.registry.rstrip("/")
    try:
        if pushes and not registry:
            raise Problem("say where to push: make push REGISTRY=registry.example.com/grove")
        program = builder(given.builder)
        if given.action == "pin":
            (ROOT / LOCK).write_text(pin(program), "utf-8")
            return 0
        planned = list(commands(program, registry or LOCAL, shlex.split(given.flags), pushes=pushes, sbom=given.sbom))
    except Problem as problem:
        sys.stderr.write(f"{problem}\n")
        return 2
    for command in planned:
        sys.stdout.write(f"{shlex.join(command)}\n")
        sys.stdout.flush()
        if not given.print and (code := subprocess.run(command, cwd=ROOT, check=False).returncode):
            return code
    for line in left_out(program, pushes=pushes, sbom=given.sbom):
        sys.stderr.write(f"{line}\n")
    if pushes:
        sys.stderr.write(f"next: grove install --set image.repository={registry}/grove-operator > operator.yaml\n")
    return 0


def _digests(program: str, image: str) -> list[str]:
    """Returns the digests that a builder knows of an image that it has pulled."""
    if _is_buildah(program):
        return [_output(program, "inspect", "--type", "image", "--format", "{{.FromImageDigest}}", image)]
    name = image.rpartition(":")[0]
    told = _output(program, "image", "inspect", "--format", '{{join .RepoDigests "\\n"}}', image)
    return [digest.removeprefix(f"{name}@") for digest in told.splitlines()]


def _no_scan(program: str) -> str:
    """Returns why syft cannot make an SBOM; nothing where it can."""
    if shutil.which("syft") is None:
        return "there is no syft"
    return "syft reads no images of buildah" if _is_buildah(program) else ""


def _is_buildah(program: str) -> bool:
    return Path(program).name == "buildah"


def _output(*command: str) -> str:
    """Returns what a command prints; nothing where it fails or is not there."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


if __name__ == "__main__":
    sys.exit(main())
