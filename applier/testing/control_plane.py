"""Starts a control plane for tests (folders, users, ports, servers), or attaches to one that another process has started."""

from __future__ import annotations

import atexit
import json
import shutil
import ssl
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self

from applier.testing import assets, audit, certificates, servers
from applier.testing import users as accounts
from applier.testing.errors import ControlPlaneError, RequestRefused
from applier.testing.kinds import PLAIN, ClusterKind
from applier.testing.plane import CONTROLLER_MANAGER, KWOK, SCHEDULER, RunningPlane

ATTEMPTS = 5
"""How often other ports are tried if another process takes one before the server does."""


class PortTaken(ControlPlaneError):
    """Reports that another process listens on a server's port."""


class ControlPlane(RunningPlane):
    """Adds starting to `RunningPlane`. Created by `start` or `attach`."""

    @classmethod
    def start(
        cls,
        *,
        parts: Sequence[str] = (CONTROLLER_MANAGER,),
        users: Mapping[str, Iterable[str]] | None = None,
        audit: bool = True,
        bodies: Iterable[str] = (),
        api_server_flags: Sequence[str] = (),
        folder: Path | None = None,
        programs: assets.Assets | None = None,
        kind: ClusterKind = PLAIN,
        ready_within: float = 180.0,
    ) -> Self:
        """Starts one and returns once it is ready, after a few seconds. It ends with `stop`, with the `with` block, or with this process.

        `users` adds to `admin`, `viewer` and `nobody`: names with their groups. Of the resources in `bodies` the audit log has every write
        with its object (see `audit.policy`). `api_server_flags` come last, after those of its `kind`, so they win. `folder` must not
        exist; a temporary one is the default. Raises `NotBuilt` where a program is missing, and `ControlPlaneError`, with the reason from
        the log, where a server does not come up within `ready_within` seconds; the logs are kept then.
        """
        programs = programs or assets.find()
        for part in parts:
            programs.path(part)
        if folder is None:
            folder = Path(tempfile.mkdtemp(prefix="control-plane-"))
        else:
            folder.mkdir(parents=True)
        for attempt in range(ATTEMPTS):
            try:
                ports = servers.free_ports(3)
                plane = cls(folder, f"https://127.0.0.1:{ports[0]}", _prepare(folder, users or {}, bodies), programs, parts, kind)
                plane._run(ports, [*kind.api_server_flags, *api_server_flags], ready_within, audited=audit)
                return plane
            except PortTaken:
                if attempt + 1 == ATTEMPTS:
                    raise
        raise AssertionError

    def _run(self, ports: Sequence[int], api_server_flags: Sequence[str], ready_within: float, *, audited: bool) -> None:
        """Starts the servers, and waits until they are usable."""
        port, etcd_port, peer_port = ports
        logs, data = self.folder / "logs", self.folder / "data"
        for user in self.users.values():
            accounts.write_kubeconfig(user, self.url, self.certificate_authority)
        api_server = servers.api_server(self.programs, self.folder, port, etcd_port, audit=audited) + list(api_server_flags)
        try:
            # Together: the API server waits for etcd by itself.
            self.running.append(servers.launch("etcd", servers.etcd(self.programs, data / "etcd", etcd_port, peer_port), logs, data))
            self.running.append(servers.launch("kube-apiserver", api_server, logs))
            _await_ready(self, ready_within)
            _let_viewers_view(self)
            for part in self.parts:
                self.running.append(servers.launch(part, _command(self, part), logs))
        except BaseException:
            self.stop(keep_logs=True)
            raise
        atexit.register(self.stop)


def _prepare(folder: Path, users: Mapping[str, Iterable[str]], bodies: Iterable[str]) -> dict[str, accounts.User]:
    for name in ("logs", "data", "certificates"):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir(parents=True)
    certificates.self_signed(folder / "certificates")
    (folder / "audit-policy.json").write_text(json.dumps(audit.policy(bodies)), "utf-8")
    return accounts.create(folder, users)


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
    """Reports whether the server is ready and has the namespace `default`."""
    if not plane.certificate_authority.exists():
        return False
    try:
        # Whoever has taken the port may never answer.
        plane.request("GET", "/readyz", agent=audit.AGENT, timeout=2)
        plane.request("GET", "/api/v1/namespaces/default", agent=audit.AGENT, timeout=2)
    except (RequestRefused, ControlPlaneError):
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
