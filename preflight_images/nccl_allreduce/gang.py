"""The gang's files, which the kubelet mounts from its ConfigMap (ADR-026, Gang Coordination): reads them, and waits until all are there."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from preflight_images.shared.outcome import Misconfigured

POLL = 2.0


class GangTimeout(Exception):
    """Says that a gang did not form in time, and who is missing as far as that is known."""


@dataclass(frozen=True, slots=True)
class Gang:
    """A gang that is complete: `rank` is the pod's position among its peers by name, `master` the address of the first."""

    peers: tuple[str, ...]
    rank: int
    master: str
    waited: float

    @property
    def size(self) -> int:
        """How many pods it has."""
        return len(self.peers)


def read_gang(folder: Path, pod: str) -> tuple[Gang | None, str]:
    """Returns the gang, or none and what it still waits for. Raises `Misconfigured` for files that waiting will not mend."""
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
    if not master:
        return None, "nobody has said yet where the first pod is"
    if addresses[names[0]] != master:
        return None, f"the address of the first pod, {names[0]}, is being changed"
    return Gang(names, names.index(pod), master, 0.0), ""


def wait_for_gang(
    folder: Path,
    pod: str,
    timeout: float,
    tell: Callable[[str], None],
    now: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Gang:
    """Returns the gang once all its pods are there. What it waits for is told whenever that changes.

    Raises `GangTimeout` and `Misconfigured`.
    """
    began, told = now(), ""
    while True:
        gang, waits = read_gang(folder, pod)
        if gang is not None:
            return Gang(gang.peers, gang.rank, gang.master, now() - began)
        if now() - began >= timeout:
            raise GangTimeout(f"the gang did not form within {timeout:.0f} s: {waits}")
        if waits != told:
            tell(waits)
            told = waits
        sleep(POLL)


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
