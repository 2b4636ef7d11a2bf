"""What kubectl takes of the compiler's output: owners need a UID (decisions §2). The pipes of the pages run in `tests/documented`."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import yaml

from applier.ref import Manifest

from ..processes import EXAMPLE, Grove, environment

SNAPSHOT = """
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: hello, namespace: default, uid: 5f0c}
"""


def owners(text: str) -> list[Manifest]:
    objects = yaml.load_all(text, yaml.CSafeLoader)
    return [reference for one in objects for reference in one["metadata"].get("ownerReferences", [])]


def test_kubectl_is_given_no_owner_without_a_uid(grove: Grove) -> None:
    plain, fewer = (grove("compile", EXAMPLE, "-o", output) for output in ("yaml", "kubectl"))
    assert owners(plain.out) and not owners(fewer.out)
    assert (fewer.code, fewer.err) == (0, "")


def test_what_has_no_owner_is_all_that_is_left_out(grove: Grove) -> None:
    plain, fewer = (list(yaml.load_all(grove("compile", EXAMPLE, "-o", output).out, yaml.CSafeLoader)) for output in ("yaml", "kubectl"))
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


def written(grove: Grove, *arguments: str) -> str:
    """What a command line writes into a file."""
    path = Path(grove.folder) / "out.yaml"
    with path.open("wb") as file:
        subprocess.run([sys.executable, "-m", "grove_cli", *arguments], stdout=file, env=environment(), check=True)
    return str(path)


def test_a_file_is_for_kubectl_as_a_pipe_is(grove: Grove) -> None:
    assert Path(written(grove, "compile", EXAMPLE)).read_text() == grove("compile", EXAMPLE, "-o", "kubectl").out


def test_a_terminal_shows_what_the_designs_print(grove: Grove) -> None:
    primary, secondary = os.openpty()
    with os.fdopen(primary, "rb") as shown:
        process = subprocess.Popen([sys.executable, "-m", "grove_cli", "compile", EXAMPLE], stdout=secondary, env=environment())
        os.close(secondary)
        text = b""
        with suppress(OSError):  # Linux says that a terminal has ended by an error
            while part := shown.read1():
                text += part
        assert process.wait() == 0
    assert text.decode().replace("\r\n", "\n") == grove("compile", EXAMPLE, "-o", "yaml").out


def test_pods_in_a_file_are_what_preflight_inject_takes(grove: Grove) -> None:
    ended = grove("preflight", "inject", written(grove, "compile", EXAMPLE, "--pods"))
    assert (ended.code, "kind: Pod" in ended.out) == (0, True), ended.err


def test_preflight_inject_of_a_set_names_the_command_that_takes_it(grove: Grove) -> None:
    ended = grove("preflight", "inject", EXAMPLE)
    assert (ended.code, "for the pods of a PodCliqueSet use `grove compile --preflight`" in ended.err) == (2, True)
