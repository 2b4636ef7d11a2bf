"""Brings a control plane up: folders, users, ports, servers, and the wait until it is ready."""

from __future__ import annotations

import atexit
import json
import shutil
import ssl
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from applier.testing import audit, servers
from applier.testing import users as accounts
from applier.testing.assets import Assets
from applier.testing.errors import ControlPlaneError, Refused
from applier.testing.plane import CONTROLLER_MANAGER, KWOK, SCHEDULER, RunningPlane, write_kubeconfigs

Plane = TypeVar("Plane", bound=RunningPlane)

ATTEMPTS = 5
"""How often other ports are tried when somebody took one of ours before the server did."""


@dataclass(slots=True, frozen=True)
class Options:
    """See `ControlPlane.start`."""

    parts: tuple[str, ...]
    users: Mapping[str, Iterable[str]]
    audit: bool
    api_server_flags: tuple[str, ...]
    ready_within: float


class PortTaken(ControlPlaneError):
    """Somebody else listens where a server of ours should."""


def start(cls: type[Plane], options: Options, programs: Assets, folder: Path | None) -> Plane:
    """See `ControlPlane.start`."""
    for part in options.parts:
        programs.path(part)
    if folder is None:
        folder = Path(tempfile.mkdtemp(prefix="control-plane-"))
    else:
        folder.mkdir(parents=True)
    for attempt in range(ATTEMPTS):
        try:
            return _start_once(cls, options, programs, folder)
        except PortTaken:
            if attempt + 1 == ATTEMPTS:
                raise
    raise AssertionError


def _start_once(cls: type[Plane], options: Options, programs: Assets, folder: Path) -> Plane:
    port, etcd_port, peer_port = servers.free_ports(3)
    people = _prepare(folder, options)
    plane = cls(folder, f"https://127.0.0.1:{port}", people, programs, options.parts)
    write_kubeconfigs(plane)
    logs, data = folder / "logs", folder / "data"
    api_server = servers.api_server(programs, folder, port, etcd_port, audit=options.audit) + list(options.api_server_flags)
    try:
        # Together: the API server waits for etcd by itself.
        plane.running.append(servers.launch("etcd", servers.etcd(programs, data / "etcd", etcd_port, peer_port), logs, data))
        plane.running.append(servers.launch("kube-apiserver", api_server, logs))
        _await_ready(plane, options.ready_within)
        _let_viewers_view(plane)
        for part in options.parts:
            plane.running.append(servers.launch(part, _command(plane, part), logs))
    except BaseException:
        plane.stop(keep_logs=True)
        raise
    atexit.register(plane.stop)
    return plane


def _prepare(folder: Path, options: Options) -> dict[str, accounts.User]:
    for name in ("logs", "data", "certificates"):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir(parents=True)
    (folder / "audit-policy.json").write_text(json.dumps(audit.POLICY), "utf-8")
    return accounts.create(folder, options.users)


def _command(plane: RunningPlane, part: str) -> list[str]:
    kubeconfig = plane.users[f"system:{part}"].kubeconfig
    if part == CONTROLLER_MANAGER:
        return servers.controller_manager(plane.programs, plane.folder, kubeconfig)
    return {SCHEDULER: servers.scheduler, KWOK: servers.kwok}[part](plane.programs, kubeconfig)


def _await_ready(plane: RunningPlane, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not _ready(plane):
        for server in plane.running:
            if server.ended:
                raise _failure(server, "has ended")
        if time.monotonic() > deadline:
            raise _failure(plane.running[-1], f"is not ready after {seconds:g} s")
        time.sleep(0.05)


def _ready(plane: RunningPlane) -> bool:
    """Ready by its own word, and with the namespace into which clients write by default."""
    if not plane.certificate_authority.exists():
        return False
    try:
        # Whoever has taken the port may never answer.
        plane.request("GET", "/readyz", agent=audit.AGENT, timeout=2)
        plane.request("GET", "/api/v1/namespaces/default", agent=audit.AGENT, timeout=2)
    except (Refused, ControlPlaneError):
        return False
    except ssl.SSLError:
        return False  # the server has made the file of its certificate, and not yet written it
    return True


def _failure(server: servers.Server, what: str) -> ControlPlaneError:
    reason = servers.reason(server.log)
    kind = PortTaken if "address already in use" in reason else ControlPlaneError
    return kind(f"{server.name} {what}: {reason} (logs: {server.log.parent})")


def _let_viewers_view(plane: RunningPlane) -> None:
    base = "/apis/rbac.authorization.k8s.io/v1"
    plane.request("POST", f"{base}/clusterroles", accounts.VIEW_EVERYTHING["role"], agent=audit.AGENT)
    plane.request("POST", f"{base}/clusterrolebindings", accounts.VIEW_EVERYTHING["binding"], agent=audit.AGENT)
