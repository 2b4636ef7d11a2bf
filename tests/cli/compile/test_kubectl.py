"""What kubectl takes of the compiler's output: owners need a UID (decisions §2), and every pipe that is printed anywhere works."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from applier.ref import Manifest
from applier.testing.control_plane import ControlPlane

from ..processes import EXAMPLE, Grove, environment
from ..running import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "grove_operator").rglob("*.py"))]
PIPE = re.compile(r"(?:grove [a-z]+ [^|`\n]*|grove crds )\\?\| kubectl [a-z]+ [-a-z ]*-f -")
WORDS = {"…": EXAMPLE, "-": EXAMPLE, "pcs.yaml": EXAMPLE, "examples/minimal.yaml": EXAMPLE}
SNAPSHOT = """
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: hello, namespace: default, uid: 5f0c}
"""


def owners(text: str) -> list[Manifest]:
    objects = yaml.safe_load_all(text)
    return [reference for one in objects for reference in one["metadata"].get("ownerReferences", [])]


def test_kubectl_is_given_no_owner_without_a_uid(grove: Grove) -> None:
    plain, fewer = (grove("compile", EXAMPLE, "-o", output) for output in ("yaml", "kubectl"))
    assert owners(plain.out) and not owners(fewer.out)
    assert (fewer.code, fewer.err) == (0, "")


def test_what_has_no_owner_is_all_that_is_left_out(grove: Grove) -> None:
    plain, fewer = (list(yaml.safe_load_all(grove("compile", EXAMPLE, "-o", output).out)) for output in ("yaml", "kubectl"))
    for manifest in plain:
        manifest["metadata"].pop("ownerReferences", None)
    assert fewer == plain


def test_an_owner_whose_uid_is_known_stays(grove: Grove) -> None:
    found = owners(grove("compile", EXAMPLE, "--snapshot", grove.file("now.yaml", SNAPSHOT), "-o", "kubectl").out)
    assert {(one["kind"], one["uid"]) for one in found} == {("PodCliqueSet", "5f0c")}


def test_a_pipe_is_taken_for_kubectl_and_says_what_it_leaves_out(grove: Grove) -> None:
    ended = grove("compile", EXAMPLE)
    assert ended.out == grove("compile", EXAMPLE, "-o", "kubectl").out
    assert ended.err.endswith("which have no UID yet; -o yaml prints them\n")


def test_a_file_is_as_the_designs_print_it(grove: Grove) -> None:
    with (Path(grove.folder) / "out.yaml").open("wb") as file:
        subprocess.run([sys.executable, "-m", "grove_operator", "compile", EXAMPLE], stdout=file, env=environment(), check=True)
    assert (Path(grove.folder) / "out.yaml").read_text() == grove("compile", EXAMPLE, "-o", "yaml").out


def pipes() -> list[str]:
    """Every pipe into kubectl that a page, the README or a help text prints."""
    return sorted({found.replace("\\|", "|").strip() for page in PAGES for found in PIPE.findall(page.read_text(encoding="utf-8"))})


def test_there_are_pipes_to_try() -> None:
    assert len(pipes()) >= 3


@pytest.mark.cluster
@pytest.mark.parametrize("pipe", pipes())
def test_a_pipe_into_kubectl_works(pipe: str, control_plane: ControlPlane, namespace: str, grove: Grove) -> None:
    control_plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", input=grove("crds").out)
    # Not `kubectl wait`, which fails for a definition that has no conditions yet.
    while control_plane.kubectl("get", "podgangs,podcliques,podcliquescalinggroups", "-n", namespace, check=False).returncode:
        time.sleep(0.1)
    ours, theirs = (shlex.split(side)[1:] for side in pipe.split(" | "))
    arguments = [WORDS.get(word, word) for word in ours]
    printed = grove(*arguments, *(["-n", namespace] if arguments[0] == "compile" else []))
    done = control_plane.kubectl(*theirs, input=printed.out, check=False)
    assert printed.code == 0
    assert (done.returncode, done.stderr) == (1 if "diff" in theirs else 0, "")
