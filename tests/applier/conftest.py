"""What the tests of several rooms stand on."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from applier.testing.control_plane import ControlPlane
from applier.transport import ApiCluster, connect
from tests.compiled_schemas import share

from .transport.certificates import Pair, authority


@pytest.fixture
async def cluster(control_plane: ControlPlane) -> AsyncIterator[ApiCluster]:
    """The real API server, for tests that are marked so. Rooms whose tests need no servers have a `cluster` of their own."""
    async with connect(kubeconfig=str(control_plane.kubeconfig), user_agent="applier-tests") as connected:
        yield share(connected, control_plane)


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """A certificate authority; for tests marked `needs_openssl`."""
    return authority(tmp_path_factory.mktemp("certificates"))
