"""A cache follows a server whose storage was restored from a backup: its versions are before those that were seen."""

from __future__ import annotations

import pytest

from applier.errors import Unreachable
from applier.testing.memory import MemoryCluster
from applier.testing.virtual_time import in_virtual_time

from .conftest import config_map, delete, names, until, watching


@pytest.mark.parametrize("watch_list", [True, False])
def test_a_server_that_was_restored_from_a_backup_is_followed_from_where_it_is(watch_list: bool) -> None:
    """It takes a version that is to come, and tells nothing until its own versions have come as far."""

    @in_virtual_time
    async def known() -> list[list[str]]:
        cluster, seen = MemoryCluster(), []
        cluster.seed(config_map("a"), config_map("b"))
        async with watching(cluster, watch_list=watch_list) as cache:
            backup = dict(cluster.store.objects), cluster.store.version
            cluster.seed(config_map("c"), *(config_map("d", str(number)) for number in range(9)))
            await delete(cluster, "b")
            await until(lambda: names(cache) == ["a", "c", "d"])
            cluster.store.restore(*backup)
            cluster.end_watches(Unreachable("reset"))
            await until(lambda: names(cache) == ["a", "b"])
            seen.append(names(cache))
            cluster.seed(config_map("e"))
            await delete(cluster, "a")
            await until(lambda: names(cache) == ["b", "e"])
            seen.append(names(cache))
        return seen

    assert known() == [["a", "b"], ["b", "e"]]
