"""Credentials of a kubeconfig that change on disk: certificates, keys and tokens that somebody renews while we run."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from applier.errors import CredentialsError
from applier.transport.login.credentials import REREAD, Credentials
from applier.transport.login.kubeconfig import Chosen, choose, read
from applier.transport.login.proof import prove

State = tuple[tuple[int, int, int] | None, ...]
"""When each file was changed, its size and which one it is; None for one that is away."""


class Followed:
    """What a context's user proves itself with, read again when its files were changed: looked at every ten seconds, and after a 401.

    The context stays the one that was chosen, whatever becomes the current one; and what is in the files counts only while the context
    still names the same cluster, for the credentials of one cluster are not shown to another. `usable` raises `CredentialsError` for a
    certificate and key that do not fit, as when only one of them was replaced: until both are, we go on with the old ones.
    """

    def __init__(self, chosen: Chosen, usable: Callable[[tuple[str, str]], None], now: Callable[[], float] = time.monotonic) -> None:
        self.chosen, self.usable, self.now = chosen, usable, now
        self.seen, self.looked_at = _state(chosen), now()
        self.inner: Credentials = prove(chosen)

    @property
    def pair(self) -> tuple[str, str]:
        """The client certificate and its key."""
        return self.inner.pair

    def authorization(self) -> str:
        """The Authorization header."""
        return self.inner.authorization()

    def due(self) -> bool:
        """Whether something ends soon, or was changed on disk."""
        if self.inner.due():
            return True
        if self.now() - self.looked_at <= REREAD:
            return False
        if _state(self.chosen) != self.seen:
            return True
        self.looked_at = self.now()
        return False

    async def renew(self) -> bool:
        """Takes what is new on disk; else what the user's plugin, token file or provider gives. Raises `CredentialsError`."""
        before = self.inner.authorization(), self.inner.pair
        if not self._read_again() or self.inner.due():
            await self.inner.renew()
        return (self.inner.authorization(), self.inner.pair) != before

    def _read_again(self) -> bool:
        """Says whether there are other credentials in the files. Files that make no sense are left until they change again."""
        state = _state(self.chosen)
        self.looked_at = self.now()
        if state == self.seen:
            return False
        self.seen = state
        try:
            chosen = choose(read(path for path in self.chosen.files if path.exists()), self.chosen.context)
            if chosen.cluster.text("server") != self.chosen.cluster.text("server"):
                return False
            fresh = prove(chosen)
            self.usable(fresh.pair)
        except CredentialsError:
            return False
        if fresh.due() and chosen.user.value == self.chosen.user.value:  # a plugin, described as before: the one we have knows more
            return False
        self.chosen, self.inner = chosen, fresh
        self.seen = _state(chosen)
        return True


def _state(chosen: Chosen) -> State:
    named = (chosen.user.path(key) for key in ("client-certificate", "client-key"))
    return tuple(_stamp(path) for path in (*chosen.files, *(path for path in named if path)))


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
