"""Reads the gang's files, which the kubelet mounts from its ConfigMap (ADR-026, Gang Coordination), and waits for all pods."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from preflight_images.shared.outcome import Misconfigured

POLL = 2.0


class GangTimeout(Exception):
    """The gang did not form in time. The message has the missing pods if they are known."""


@dataclass(frozen=True, slots=True)
class RankedGang:
    """A complete gang: `rank` is the pod's position among its peers by name, `master` the address of the first.

    `addresses` are those of the peers, in their order. `port` is that of the first if the gang has one of its own, else 0.
    """

    peers: tuple[str, ...]
    rank: int
    master: str
    waited: float
    addresses: tuple[str, ...] = ()
    port: int = 0

    @property
    def generation(self) -> str:
        """An id that changes with the peers, as ranks of two generations must not connect."""
        return hashlib.sha256(" ".join((*self.peers, *self.addresses)).encode()).hexdigest()[:16]

    @property
    def size(self) -> int:
        """The number of pods."""
        return len(self.peers)


def read_gang(folder: Path, pod: str, address: str = "") -> tuple[RankedGang | None, str]:
    """Returns the gang, or none and the reason of the wait. Raises `Misconfigured` for invalid files.

    `address` is the pod's own: files that say another are of a pod that had its name before, for a kubelet renews them once a minute.
    """
    count, master, text = (_read(folder / name) for name in ("expected_count", "master_addr", "peers"))
    if not count or count == "0":
        return None, _read(folder / "problem") or "the number of pods is not known yet"
    if not count.isascii() or not count.isdigit():
        raise Misconfigured(f"expected_count is {count!r}, which is not a number")
    addresses = _peers(text)
    names = tuple(sorted(addresses))
    if len(names) < int(count):
        return None, f"{len(names)} of {count} pods are registered: {', '.join(names) or 'none'}"
    if pod not in addresses:
        return None, f"this pod, {pod}, is not among the {len(names)} registered pods"
    if address and addresses[pod] != address:
        return None, f"this pod, {pod}, is registered with the address {addresses[pod]} of a previous pod"
    if not master:
        return None, "the address of the first pod is not known yet"
    if addresses[names[0]] != master:
        return None, f"the address of the first pod, {names[0]}, is being changed"
    port = _read(folder / "master_port")  # last: it never changes once there are peers, and is there with them
    if port and not (port.isascii() and port.isdigit()):
        raise Misconfigured(f"master_port is {port!r}, which is not a number")
    return RankedGang(names, names.index(pod), master, 0.0, tuple(addresses[name] for name in names), int(port or 0)), ""


def wait_for_gang(
    folder: Path,
    pod: str,
    timeout: float,
    log: Callable[[str], None],
    now: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
    address: str = "",
) -> RankedGang:
    """Returns the gang once all its pods have registered. Changes of the reason are logged.

    Raises `GangTimeout` and `Misconfigured`.
    """
    began, logged = now(), ""
    while True:
        gang, waits = read_gang(folder, pod, address)
        if gang is not None:
            return replace(gang, waited=now() - began)
        if now() - began >= timeout:
            raise GangTimeout(f"the gang did not form within {timeout:.0f} s: {waits}")
        if waits != logged:
            log(waits)
            logged = waits
        sleep(POLL)


class GangWatch:
    """Detects whether peers of a gang were replaced, added or removed since its start."""

    def __init__(self, folder: Path, pod: str, address: str, gang: RankedGang) -> None:
        self._folder, self._pod, self._address, self._gang = folder, pod, address, gang
        self._has_differed = False

    def has_changed(self) -> bool:
        """Reads the files. A change has to be seen twice, as files may be read during an update."""
        try:
            now, _ = read_gang(self._folder, self._pod, self._address)
        except Misconfigured:
            now = None
        differs = now is None or (now.peers, now.addresses) != (self._gang.peers, self._gang.addresses)
        before, self._has_differed = self._has_differed, differs
        return differs and before


def _read(path: Path) -> str:
    """Returns the content of a file; empty if it does not exist yet, as the ConfigMap may be created after the pod."""
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        return ""


def has_passed(folder: Path, check: str, uid: str, node: str) -> bool:
    """Returns whether the gang's files record that this very pod, at this node, has passed a check with its gang.

    Its peers have gone on since then, and nobody is left to run the check with a pod that has lost its sandbox.
    """
    return bool(uid and node) and f"{check} {uid} {node}" in _read(folder / "passed").splitlines()


def instance_type(folder: Path, pod: str) -> str:
    """Returns the instance type of a pod's node, as the gang's files tell it in lines `pod:type`; empty if they do not."""
    lines = (line.partition(":") for line in _read(folder / "instance_types").splitlines())
    return next((machine.strip() for name, _, machine in lines if name.strip() == pod), "")


def _peers(text: str) -> dict[str, str]:
    """Returns the addresses of pods by name, from lines `pod:address`; an IPv6 address has colons of its own."""
    peers: dict[str, str] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, separator, address = line.partition(":")
        if not separator or not name or not address:
            raise Misconfigured(f"the line {line!r} of peers is not a pod with its address")
        peers[name] = address
    return peers
