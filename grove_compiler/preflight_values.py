"""Finds Helm values of the preflight checks that have the right form and no sensible meaning: they would block every checked pod.

The values have their defaults and the structure of `api/preflightvalues.py`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.field_path import FieldPath, render
from grove_compiler.graph.node import Manifest
from grove_compiler.kube.duration import explain, seconds
from grove_compiler.model.preflight.values import Preflight
from kube_objects.quantity import compare

CODE = "preflight/value"
PORT = 65535
GANG_FOLDER = "/etc/preflight"


class Contradiction(NamedTuple):
    """A value that cannot work: its path among the values, what is wrong, and what would be right."""

    path: FieldPath
    message: str
    value: Any
    hint: str = ""

    def diagnostic(self, prefix: FieldPath) -> Diagnostic:
        """Returns the finding about values that stand at a path of a document."""
        path = render((*prefix, *self.path))
        return Diagnostic(CODE, "error", self.message, path, type="Invalid value", value=self.value, hint=self.hint)


def contradictions(preflight: Preflight) -> Iterator[Contradiction]:
    """Yields the values that cannot work."""
    values = preflight.manifest
    yield from _address(preflight.dcgm_address)
    yield from _resources(("resources",), values.get("resources") or {})
    yield from _container(("checkResources",), values.get("checkResources"), ("checkSecurityContext",), values.get("checkSecurityContext"))
    for index, check in enumerate(values.get("checks") or []):
        yield from _check(("checks", index), check)
    yield from _folders(preflight)


def _address(text: str) -> Iterator[Contradiction]:
    """Yields a port that there is none; an address without one has DCGM's own."""
    host, colon, port = text.rpartition(":")
    if text and not text.startswith("unix://") and colon and "]" not in port and (":" not in host or host.endswith("]")):
        is_port = port.isascii() and port.isdigit() and 0 < int(port) <= PORT
        if not is_port or not host:
            yield Contradiction(
                ("dcgm", "hostengineAddr"), f"{text} has no port from 1 to {PORT}", text, "use a value such as name.namespace.svc:5555"
            )


def _check(path: FieldPath, check: Manifest) -> Iterator[Contradiction]:
    yield from _container((*path, "resources"), check.get("resources"), (*path, "securityContext"), check.get("securityContext"))
    for index, variable in enumerate(check.get("env") or []):
        expected = VARIABLES.get(str(variable.get("name")))
        text = variable.get("value")
        if check.get("name") in OWN_CHECKS and expected is not None and text and not expected.is_met(text):
            message = f"{variable['name']} is {text!r}; expected {expected.words}"
            yield Contradiction((*path, "env", index, "value"), message, text)


def _container(at: FieldPath, resources: Manifest | None, beside: FieldPath, security: Manifest | None) -> Iterator[Contradiction]:
    """Yields what a check's container cannot have, of its resources, which stand `at` a path, and of its security context `beside`."""
    yield from _resources(at, resources or {})
    if resources and resources.get("claims"):
        yield Contradiction((*at, "claims"), "a check has exactly the claims of its pod", resources["claims"], "omit claims")
    for name in ("runAsUser", "runAsGroup"):
        user = (security or {}).get(name)
        if isinstance(user, int) and user < 0:
            yield Contradiction((*beside, name), f"must be at least 0, not {user}", user)


def _resources(path: FieldPath, resources: Manifest) -> Iterator[Contradiction]:
    """Yields negative quantities, and requests beyond their limits: an API server rejects every pod that has them."""
    limits = resources.get("limits") or {}
    for part in ("limits", "requests"):
        for name, quantity in (resources.get(part) or {}).items():
            if compare(quantity, 0) < 0:
                yield Contradiction((*path, part, name), f"must be at least 0, not {quantity}", quantity)
            elif part == "requests" and compare(limits.get(name, quantity), 0) >= 0 and compare(quantity, limits.get(name, quantity)) > 0:
                yield Contradiction((*path, part, name), f"{quantity} is more than the limit {limits[name]}", quantity)


def _folders(preflight: Preflight) -> Iterator[Contradiction]:
    """Yields folders of check containers that two things would be mounted at."""
    taken = {GANG_FOLDER: "the files of gangs", preflight.socket_folder: "platformConnector.socket"}
    if preflight.socket_folder == GANG_FOLDER:
        socket = preflight.socket
        yield Contradiction(
            ("platformConnector", "socket"), f"checks read the files of their gang from {GANG_FOLDER}", socket, "use another directory"
        )
    token = ("token", "mountPath"), preflight.token_folder if preflight.token_audience else ""
    for keys, folder in (token, (("spool",), preflight.spool_folder)):
        path = ("platformConnector", *keys)
        if folder and folder.rstrip("/") in taken:
            yield Contradiction(
                path, f"{folder} is already the directory of {taken[folder.rstrip('/')]} as well", folder, "use another directory"
            )
        taken[folder.rstrip("/")] = ".".join(path)


class _Expected(NamedTuple):
    """What a variable of the built-in checks may be."""

    words: str
    is_met: Callable[[str], bool]


def _whole(least: int, most: int) -> _Expected:
    def is_met(text: str) -> bool:
        return text.isascii() and text.isdigit() and len(text) < 10 and least <= int(text) <= most

    return _Expected(f"a whole number from {least} to {most}", is_met)


def _is_timeout(text: str) -> bool:
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text) > 0
    return not explain(text) and seconds(text) > 0


def _is_bandwidth(text: str) -> bool:
    return re.fullmatch(r"\d+(\.\d+)?(e[+-]?\d{1,2})?", text) is not None and math.isfinite(float(text))


TIMEOUT = _Expected("a duration such as 300s or 10m, greater than 0", _is_timeout)
BANDWIDTH = _Expected("a number of GB/s such as 10.0", _is_bandwidth)
OWN_CHECKS = ("dcgm-diag", "nccl-loopback", "nccl-allreduce")
VARIABLES = {
    "CHECK_TIMEOUT": TIMEOUT,
    "GANG_TIMEOUT": TIMEOUT,
    "NCCL_LOOPBACK_THRESHOLD_GBPS": BANDWIDTH,
    "NCCL_ALLREDUCE_THRESHOLD_GBPS": BANDWIDTH,
    "BW_THRESHOLD_GBPS": BANDWIDTH,
    "DCGM_DIAG_LEVEL": _whole(1, 4),
    "DCGM_DIAG_STATUS_RETRY_MAX_ATTEMPTS": _whole(1, 1000),
    "DCGM_DIAG_STATUS_RETRY_INTERVAL_SECONDS": _whole(0, 3600),
    "MASTER_PORT": _whole(1, PORT),
    "BENCHMARK_ITERS": _whole(1, 10_000),
    "WARMUP_ITERS": _whole(0, 1000),
    "NPROCS_PER_NODE": _whole(1, 1024),
}
"""The numbers among the variables of the built-in checks, which values may set in a check's `env`; the checks have the same bounds."""
