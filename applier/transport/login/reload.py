"""Credentials that change on disk: authorities, certificates, keys and tokens that somebody renews while we run."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from applier.errors import CredentialsError
from applier.transport.login.kubeconfig import Chosen, choose, read
from applier.transport.login.proof import prove

REREAD = 10.0  # seconds that files are taken for unchanged; the kubelet replaces tokens long before they end

State = tuple[tuple[int, int, int] | None, ...]
"""When each file was changed, its size and which one it is; None for one that is away."""


class Followed:
    """What a context's user proves itself with, read again when its files were changed: looked at every ten seconds, and after a refusal.

    The context stays the one that was chosen, whatever becomes the current one; and what is in the files counts only while the context
    still names the same cluster, for the credentials of one cluster are not shown to another. `trust` is told of a new authority and client
    certificate before they count; it raises `CredentialsError` for a certificate and key that do not fit, as when only one of them was
    replaced: until both are, we go on with the old ones.
    """

    def __init__(self, chosen: Chosen, trust: Callable[[str, tuple[str, str]], None], now: Callable[[], float] = time.monotonic) -> None:
        self.chosen, self.trust, self.now = chosen, trust, now
        self.seen, self.looked_at = _state(chosen), now()
        self.inner, self.ca = prove(chosen), chosen.cluster.pem("certificate-authority")

    @property
    def pair(self) -> tuple[str, str]:
        """The client certificate and its key."""
        return self.inner.pair

    def authorization(self) -> str:
        """Returns the Authorization header."""
        return self.inner.authorization()

    def due(self) -> bool:
        """Tells whether something ends soon, or was changed on disk."""
        if self.inner.due():
            return True
        if self.now() - self.looked_at <= REREAD:
            return False
        if _state(self.chosen) != self.seen:
            return True
        self.looked_at = self.now()
        return False

    async def renew(self) -> bool:
        """Takes what is new on disk; else what the user's plugin or provider gives. Raises `CredentialsError`."""
        before = self.ca, self.inner.authorization(), self.inner.pair
        if not self._read_again() or self.inner.due():
            await self.inner.renew()
        return (self.ca, self.inner.authorization(), self.inner.pair) != before

    def _read_again(self) -> bool:
        """Says whether there are other credentials in the files. Files that make no sense are left until they change again."""
        state = _state(self.chosen)
        self.looked_at = self.now()
        if state == self.seen:
            return False
        self.seen = state
        try:
            chosen = self._chosen_now()
            fresh, ca = prove(chosen), chosen.cluster.pem("certificate-authority")
            # A plugin that is described as before knows more than a fresh one, which would have to be asked.
            if fresh.due() and chosen.user.value == self.chosen.user.value:
                fresh = self.inner
            self.trust(ca, fresh.pair)
        except CredentialsError:
            return False
        is_other = fresh is not self.inner
        self.chosen, self.inner, self.ca = chosen, fresh, ca
        self.seen = _state(chosen)
        return is_other

    def _chosen_now(self) -> Chosen:
        """Returns the same context as its files say it now. Raises `CredentialsError` where they name another cluster."""
        before = self.chosen
        if not before.files:  # a pod's service account, which no kubeconfig describes
            return before
        chosen = choose(read(path for path in before.files if path.exists()), before.context, before.overrides)
        if chosen.cluster.text("server") != before.cluster.text("server"):
            raise CredentialsError(f"{chosen.label} names another server now")
        return chosen


def _state(chosen: Chosen) -> State:
    named = [chosen.user.path(key) for key in ("client-certificate", "client-key", "tokenFile")]
    named.append(chosen.cluster.path("certificate-authority"))
    return tuple(_stamp(path) for path in (*chosen.files, *(path for path in named if path)))


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
