"""The gang's files, which the kubelet mounts from its ConfigMap (ADR-026, Gang Coordination): reads them, and waits until all are there."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from preflight_images.shared.outcome import Misconfigured

POLL = 2.0


class GangTimeout(Exception):
    """Says that a gang did not form in time, and who is missing as far as that is known."""


@dataclass(frozen=True, slots=True)
class Gang:
    """A gang that is complete: `rank` is the pod's position among its peers by name, `master` the address of the first.

    `addresses` are those of the peers, in their order.
    """

    peers: tuple[str, ...]
    rank: int
    master: str
    waited: float
    addresses: tuple[str, ...] = ()

    @property
    def generation(self) -> str:
        """Tells this gang from the same one with another peer: ranks of two generations must not meet."""
        return hashlib.sha256(" ".join((*self.peers, *self.addresses)).encode()).hexdigest()[:16]

    @property
    def size(self) -> int:
        """How many pods it has."""
        return len(self.peers)


def read_gang(folder: Path, pod: str, address: str = "") -> tuple[Gang | None, str]:
    """Returns the gang, or none and what it still waits for. Raises `Misconfigured` for files that waiting will not mend.

    `address` is the pod's own: files that say another are of a pod that had its name before, for a kubelet renews them once a minute.
    """
    count, master, text = (_read(folder / name) for name in ("expected_count", "master_addr", "peers"))
    if not count or count == "0":
        return None, "nobody has said yet how many pods there are"
    if not count.isascii() or not count.isdigit():
        raise Misconfigured(f"expected_count is {count!r}, which is no number")
    addresses = _peers(text)
    names = tuple(sorted(addresses))
    if len(names) < int(count):
        return None, f"{len(names)} of {count} pods are there: {', '.join(names) or 'none'}"
    if pod not in addresses:
        return None, f"this pod, {pod}, is not among the {len(names)} that are there"
    if address and addresses[pod] != address:
        return None, f"this pod, {pod}, is known by the address {addresses[pod]}, which another had before it"
    if not master:
        return None, "nobody has said yet where the first pod is"
    if addresses[names[0]] != master:
        return None, f"the address of the first pod, {names[0]}, is being changed"
    return Gang(names, names.index(pod), master, 0.0, tuple(addresses[name] for name in names)), ""


def wait_for_gang(
    folder: Path,
    pod: str,
    timeout: float,
    tell: Callable[[str], None],
    now: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
    address: str = "",
) -> Gang:
    """Returns the gang once all its pods are there. What it waits for is told whenever that changes.

    Raises `GangTimeout` and `Misconfigured`.
    """
    began, told = now(), ""
    while True:
        gang, waits = read_gang(folder, pod, address)
        if gang is not None:
            return replace(gang, waited=now() - began)
        if now() - began >= timeout:
            raise GangTimeout(f"the gang did not form within {timeout:.0f} s: {waits}")
        if waits != told:
            tell(waits)
            told = waits
        sleep(POLL)


class GangWatch:
    """Tells whether a gang is no longer the one that a pod has begun to meet: a peer was replaced, came or went."""

    def __init__(self, folder: Path, pod: str, address: str, gang: Gang) -> None:
        self._folder, self._pod, self._address, self._gang = folder, pod, address, gang
        self._has_differed = False

    def has_changed(self) -> bool:
        """Reads the files. What differs once may be files of two moments, so it has to differ twice in a row."""
        try:
            now, _ = read_gang(self._folder, self._pod, self._address)
        except Misconfigured:
            now = None
        differs = now is None or (now.peers, now.addresses) != (self._gang.peers, self._gang.addresses)
        before, self._has_differed = self._has_differed, differs
        return differs and before


def _read(path: Path) -> str:
    """The text of a file; empty while it is not there, for the ConfigMap may be made after the pod."""
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        return ""


def _peers(text: str) -> dict[str, str]:
    """The addresses of pods by name: a line `pod:address` each, where the address of IPv6 has colons of its own."""
    peers: dict[str, str] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, separator, address = line.partition(":")
        if not separator or not name or not address:
            raise Misconfigured(f"the line {line!r} of peers is no pod with its address")
        peers[name] = address
    return peers
