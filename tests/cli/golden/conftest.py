"""A folder for cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from .cases import SET, Files, Put


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Put:
    """Writes a case below `cases/`, in whose parent the command runs."""
    monkeypatch.chdir(tmp_path)

    def write(name: str, files: Files | None = None, **more: str) -> Path:
        folder = tmp_path / "cases" / name
        for file, text in {"input.yaml": SET, **(files or {}), **more}.items():
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return folder

    return write
