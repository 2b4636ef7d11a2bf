"""Every test of the command line has a rule cache of its own session, not the user's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def cache_of_the_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROVE_CACHE_DIR", str(tmp_path_factory.mktemp("rules")))
        patch.delenv("GROVE_TRACEBACK", raising=False)
        yield
