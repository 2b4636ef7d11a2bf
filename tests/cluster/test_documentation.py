"""`docs/testing-with-a-cluster.md`: what it shows is what happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from applier.testing.faults import Script

PAGE = (Path(__file__).parents[2] / "docs" / "testing-with-a-cluster.md").read_text("utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.cluster
def test_the_example_passes(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(BLOCKS[0])
    (tmp_path / "test_house_rules.py").write_text(BLOCKS[1])
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-o",
        "control_plane_parts=",
        "--rootdir",
        str(tmp_path),
        str(tmp_path),
    ]
    done = subprocess.run(command, cwd=tmp_path, env=ours, capture_output=True, text=True, check=False)
    assert "3 passed" in done.stdout, done.stdout


def test_the_faults_that_are_shown_exist() -> None:
    shown = {name for script in re.findall(r"Script\((.*?)\)", BLOCKS[2]) for name in re.findall(r"(\w+)=", script)}
    assert shown
    assert shown <= {field.name for field in fields(Script)}


def test_public_names_are_at_the_top() -> None:
    import applier.testing

    assert {name: getattr(applier.testing, name).__name__ for name in applier.testing.__all__} == {
        name: name for name in applier.testing.__all__
    }
    assert not hasattr(applier.testing, "Nothing")
