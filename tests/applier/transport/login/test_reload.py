"""Credentials that somebody replaces on disk while we run."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from applier.errors import CredentialsError
from applier.transport import connect
from applier.transport.login.kubeconfig import choose, read
from applier.transport.login.reload import REREAD, Followed

from ..scripted import CONFIG_MAPS, HASTY, Answer, Scripted, config_map, status
from .programs import plugin, runs
from .test_kubeconfig import write

OBJECT = "/api/v1/namespaces/ns/configmaps/a"


class Disk:
    """A kubeconfig, what is followed of it, and a clock. Each change is a later one to the file system, however fast it comes."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.time, self.changes = folder, 0.0, 0
        self.unusable: set[tuple[str, str]] = set()

    def write(self, name: str = "config", **more: Any) -> Path:
        return self.changed(write(self.folder / name, **{"current": "one"} | more))

    def put(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text)
        return self.changed(path)

    def changed(self, path: Path) -> Path:
        self.changes += 1
        os.utime(path, ns=(self.changes, self.changes))
        return path

    def follow(self, *names: str) -> Followed:
        files = [self.folder / name for name in names or ("config",)]
        return Followed(choose(read(files), ""), self.trust, lambda: self.time)

    def trust(self, ca: str, pair: tuple[str, str]) -> None:
        if pair in self.unusable:
            raise CredentialsError("key values mismatch")

    def later(self) -> None:
        self.time += REREAD * 2


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    return Disk(tmp_path)


def user(token: str) -> dict[str, str]:
    return {"token": token}


async def test_what_did_not_change_is_not_due(disk: Disk) -> None:
    disk.write()
    followed = disk.follow()
    disk.later()
    assert not followed.due()
    assert not await followed.renew()


async def test_what_changed_is_due_after_a_while(disk: Disk) -> None:
    disk.write(user=user("old"))
    followed = disk.follow()
    disk.write(user=user("new"))
    assert not followed.due()
    disk.later()
    assert followed.due()
    assert await followed.renew()
    assert (followed.authorization(), followed.due()) == ("Bearer new", False)


async def test_a_refusal_looks_at_once(disk: Disk) -> None:
    disk.write(user=user("old"))
    followed = disk.follow()
    disk.write(user=user("new"))
    assert await followed.renew()
    assert followed.authorization() == "Bearer new"


async def test_a_token_file_is_followed_as_well(disk: Disk) -> None:
    disk.put("token", "old")
    disk.write(user={"tokenFile": "token"})
    followed = disk.follow()
    disk.put("token", "new")
    assert not followed.due()
    disk.later()
    assert followed.due()
    assert await followed.renew()
    assert followed.authorization() == "Bearer new"


async def test_a_token_file_that_is_away_for_a_moment_leaves_the_token(disk: Disk) -> None:
    disk.put("token", "old")
    disk.write(user={"tokenFile": "token"})
    followed = disk.follow()
    (disk.folder / "token").unlink()
    assert not await followed.renew()
    assert followed.authorization() == "Bearer old"


async def test_another_authority_is_something_new(disk: Disk) -> None:
    disk.put("ca.crt", "old")
    disk.write(cluster={"server": "https://here", "certificate-authority": "ca.crt"}, user=user("t"))
    followed = disk.follow()
    disk.put("ca.crt", "new")
    disk.later()
    assert followed.due()
    assert await followed.renew()
    assert (followed.ca, followed.authorization()) == ("new", "Bearer t")


FILES = {"client-certificate": "client.crt", "client-key": "client.key"}


@pytest.mark.parametrize("name", FILES.values())
async def test_the_files_that_a_kubeconfig_names_are_followed_as_well(name: str, disk: Disk) -> None:
    for path in FILES.values():
        disk.put(path, "old")
    disk.write(user=FILES)
    followed = disk.follow()
    disk.put(name, "new")
    disk.later()
    assert followed.due()
    assert await followed.renew()
    assert dict(zip(FILES.values(), followed.pair, strict=True))[name] == "new"


async def test_a_certificate_waits_for_its_key(disk: Disk) -> None:
    for path in FILES.values():
        disk.put(path, "old")
    disk.write(user=FILES)
    followed = disk.follow()
    disk.unusable = {("new", "old")}
    disk.put("client.crt", "new")
    assert not await followed.renew()
    assert followed.pair == ("old", "old")
    disk.put("client.key", "new")
    assert await followed.renew()
    assert followed.pair == ("new", "new")


async def test_the_context_stays_whatever_becomes_the_current_one(disk: Disk) -> None:
    disk.write(names=("one", "two"), user=user("t"))
    followed = disk.follow()
    disk.write(names=("one", "two"), user=user("t"), current="two")
    assert not await followed.renew()
    assert followed.chosen.context == "one"


async def test_credentials_of_another_cluster_are_not_taken(disk: Disk) -> None:
    disk.write(cluster={"server": "https://here"}, user=user("old"))
    followed = disk.follow()
    disk.write(cluster={"server": "https://elsewhere"}, user=user("new"))
    assert not await followed.renew()
    assert followed.authorization() == "Bearer old"


LOST: dict[str, Callable[[Disk], Any]] = {
    "it is gone": lambda disk: (disk.folder / "config").unlink(),
    "it is half written": lambda disk: disk.put("config", "users: [{name"),
    "it is empty": lambda disk: disk.put("config", ""),
    "its context is gone": lambda disk: disk.write(names=("two",)),
    "its token is gone": lambda disk: disk.write(user={"tokenFile": "nowhere"}),
}


@pytest.mark.parametrize("lose", LOST.values(), ids=LOST)
async def test_a_kubeconfig_that_makes_no_sense_is_waited_for(lose: Callable[[Disk], Any], disk: Disk) -> None:
    disk.write(user=user("old"))
    followed = disk.follow()
    lose(disk)
    assert not await followed.renew()
    assert followed.authorization() == "Bearer old"
    disk.write(user=user("new"))
    assert await followed.renew()
    assert followed.authorization() == "Bearer new"


async def test_all_files_count_as_they_did_at_first(disk: Disk) -> None:
    disk.write("a", user=user("old"))
    disk.write("b", user=user("other"))
    followed = disk.follow("a", "b")
    disk.write("b", user=user("another"))
    assert not await followed.renew()
    disk.write("a", user=user("new"))
    await followed.renew()
    assert followed.authorization() == "Bearer new"


async def test_a_plugin_that_is_described_as_before_keeps_what_it_gave(disk: Disk) -> None:
    disk.write(names=("one", "two"), user=plugin(disk.folder, {"token": "a"}, {"token": "b"}))
    followed = disk.follow()
    await followed.renew()
    disk.write(names=("one", "two"), user=plugin(disk.folder, {"token": "a"}, {"token": "b"}), current="two")
    await followed.renew()
    assert (followed.authorization(), runs(disk.folder)) == ("Bearer b", 2)


async def test_a_plugin_that_is_described_otherwise_runs_anew(disk: Disk) -> None:
    disk.write(user=user("old"))
    followed = disk.follow()
    disk.write(user=plugin(disk.folder, {"token": "new"}))
    assert await followed.renew()
    assert followed.authorization() == "Bearer new"


async def test_a_new_token_in_the_kubeconfig_answers_a_401(disk: Disk, server: Scripted) -> None:
    server.on("GET", OBJECT, status(401, "Unauthorized", "Unauthorized"), Answer(200, config_map()))
    path = disk.write(cluster={"server": server.url}, user=user("old"))
    async with connect(kubeconfig=str(path), retries=HASTY) as cluster:
        disk.write(cluster={"server": server.url}, user=user("new"))
        await cluster.get(CONFIG_MAPS, "ns", "a")
    assert [heard.headers["Authorization"] for heard in server.heard] == ["Bearer old", "Bearer new"]
