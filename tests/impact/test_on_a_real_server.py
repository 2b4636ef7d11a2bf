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


@pytest.fixture(scope="module")
def crds(control_plane: ControlPlane) -> None:
    with_definitions(control_plane)


@pytest.mark.usefixtures("crds")
@pytest.mark.parametrize("manager", ["--server-side", "--server-side=false"], ids=["server-side", "client-side"])
@pytest.mark.parametrize("file", EXAMPLES, ids=[file.stem for file in EXAMPLES])
def test_a_set_that_nobody_touched_has_no_edit(
    file: Path, manager: str, control_plane: ControlPlane, namespace: str, tmp_path: Path
) -> None:
    text = re.sub("^  namespace: .*", f"  namespace: {namespace}", file.read_text(), flags=re.MULTILINE)
    parts = text.split("\n---\n")
    others = [part for part in parts if "kind: PodCliqueSet" not in part]  # topologies and configurations that the example brings along
    declared, sets = tmp_path / "all.yaml", tmp_path / "sets.yaml"
    declared.write_text(text)
    sets.write_text("\n---\n".join(part for part in parts if part not in others))
    control_plane.kubectl("apply", manager, "-n", namespace, "-f", str(sets))
    live = control_plane.kubectl("get", "pcs", "-n", namespace, "-o", "yaml").stdout
    config = re.search("--config (\\S+)", text)
    options = ["--config", str(ROOT / config[1])] if config else []
    ended = run("impact", "-", str(declared), "-n", namespace, *options, stdin="\n---\n".join([live, *others]).encode())
    assert (ended.code, ended.out) == (0, "Nothing changes.\n"), ended.err
