"""What CONTRIBUTING says of files: none is above 400 lines."""

from __future__ import annotations

from .pages import DOCS

ROOT = DOCS.parent
MAX_LINES = 400


def test_no_python_file_is_too_long() -> None:
    ours = [folder for folder in ROOT.iterdir() if folder.name[0] != "." and not (folder / "pyvenv.cfg").exists()]
    files = [path for folder in ours for path in ([folder] if folder.suffix == ".py" else folder.rglob("*.py"))]
    lengths = {path.relative_to(ROOT).as_posix(): len(path.read_bytes().splitlines()) for path in files}
    assert {"hatch_build.py", "grove_compiler/compile.py", "tests/docs/test_length.py"} <= lengths.keys()
    assert {name: length for name, length in lengths.items() if length > MAX_LINES} == {}
