"""`kubectl get pcs -o yaml | grove impact - FILE`: what a server made of a file is that file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from applier.testing.control_plane import ControlPlane
from tests.cli.conftest import cache_of_the_session
from tests.cli.running import ROOT, run
from tests.definitions import with_definitions

pytestmark = pytest.mark.cluster

__all__ = ["cache_of_the_session"]

EXAMPLES = [file for file in sorted(ROOT.joinpath("examples").glob("*.yaml")) if "kind: PodCliqueSet\n" in file.read_text()]
NAME = re.compile(r"^( *)metadata:\n(?:\1 .*\n)*?\1  name: (\S+)$", re.MULTILINE)
"""The name of the first object in a text."""


@pytest.fixture(scope="module")
def crds(control_plane: ControlPlane) -> None:
    with_definitions(control_plane)


@pytest.mark.usefixtures("crds")
@pytest.mark.parametrize("manager", ["--server-side", "--server-side=false"], ids=["server-side", "client-side"])
def test_sets_that_nobody_touched_have_no_edit(manager: str, control_plane: ControlPlane, namespace: str, tmp_path: Path) -> None:
    """All examples, applied at once: kubectl takes longer to start than for one more set."""
    examples = {file.stem: documents(file, namespace) for file in EXAMPLES}
    sets = [part for parts in examples.values() for part in parts if is_set(part)]
    control_plane.kubectl("apply", manager, "-n", namespace, "-f", "-", input=SEPARATOR.join(sets))
    live = {name_of(one): one for one in items(control_plane.kubectl("get", "pcs", "-n", namespace, "-o", "yaml").stdout)}
    assert len(live) == len(sets)
    changes = {}
    for name, parts in examples.items():
        text = SEPARATOR.join(parts)
        (declared := tmp_path / f"{name}.yaml").write_text(text)
        given = [live[name_of(part)] if is_set(part) else part for part in parts]
        config = re.search("--config (\\S+)", text)
        options = ["--config", str(ROOT / config[1])] if config else []
        ended = run("impact", "-", str(declared), "-n", namespace, *options, stdin=SEPARATOR.join(given).encode())
        if (ended.code, ended.out) != (0, "Nothing changes.\n"):
            changes[name] = ended.out + ended.err
    assert changes == {}


SEPARATOR = "\n---\n"


def documents(file: Path, namespace: str) -> list[str]:
    """Those of an example, whose sets are in a namespace: topologies and configurations, too, that it brings along."""
    return re.sub("^  namespace: .*", f"  namespace: {namespace}", file.read_text(), flags=re.MULTILINE).split(SEPARATOR)


def is_set(document: str) -> bool:
    return "kind: PodCliqueSet" in document


def name_of(document: str) -> str:
    found = NAME.search(document)
    assert found is not None, document
    return found[2]


def items(printed: str) -> list[str]:
    """The objects that kubectl has printed, each in a list as it prints one."""
    body = printed[printed.index("items:\n") : printed.index("\nkind: List") + 1]
    return [f"apiVersion: v1\nkind: List\nitems:\n- {item}" for item in re.split("^- ", body, flags=re.MULTILINE)[1:]]
