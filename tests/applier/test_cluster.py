"""What is asked of any cluster, whichever stands behind the protocol."""

from __future__ import annotations

import pytest

from applier.cluster import find
from applier.errors import Unreachable
from applier.ref import Kind
from applier.testing import MemoryCluster

CONFIG_MAP = Kind("", "v1", "ConfigMap")


async def test_an_object_that_is_there_is_found() -> None:
    cluster = MemoryCluster()
    [stored] = cluster.seed({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}})
    assert await find(cluster, await cluster.resource(CONFIG_MAP), "default", "a") == stored


async def test_an_object_that_is_not_there_is_none() -> None:
    cluster = MemoryCluster()
    assert await find(cluster, await cluster.resource(CONFIG_MAP), "default", "a") is None


async def test_an_object_that_cannot_be_read_is_an_error_and_not_none() -> None:
    cluster = MemoryCluster()
    cluster.fail("get", Unreachable("no answer"))
    with pytest.raises(Unreachable):
        await find(cluster, await cluster.resource(CONFIG_MAP), "default", "a")
