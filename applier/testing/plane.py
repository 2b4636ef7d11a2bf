"""Represents a running control plane: its address, its users, and the requests that it has answered."""

from __future__ import annotations

import http.client
import json
import os
import secrets
import shutil
import ssl
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from applier.testing import assets, audit, servers
from applier.testing.connections import Connections
from applier.testing.counts import Requests
from applier.testing.errors import ControlPlaneError, RequestRefused
from applier.testing.kinds import KINDS, PLAIN, WITHOUT_LIMITS, ClusterKind
from applier.testing.objects import Objects
from applier.testing.users import User

STATE = "control-plane.json"
CONTROLLER_MANAGER, SCHEDULER, KWOK = "kube-controller-manager", "kube-scheduler", "kwok"

RECREATING = ("v1", "apps", "batch")
"""API groups, or the version of the core, whose controllers replace pods."""
METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

NO_CONDITIONS = ".status.conditions accessor error: <nil>"
"""The error of `kubectl wait` for an object whose status nobody has written yet, as of a definition that was created a moment ago."""


class RunningPlane:
    """Represents etcd and kube-apiserver on loopback ports, with the requested other servers.

    `url` is the server's, `kubeconfig` a file for the user `admin`, `token` that user's; `users` has the others. `folder` holds everything:
    `logs`, `certificates`, the data. `parts` are the optional programs that run: kube-controller-manager, kube-scheduler, kwok. `kind` says
    how strict its admission is.
    """

    def __init__(
        self,
        folder: Path,
        url: str,
        users: Mapping[str, User],
        programs: assets.Assets,
        parts: Iterable[str],
        kind: ClusterKind = PLAIN,
    ) -> None:
        self.folder, self.url, self.users, self.programs, self.parts = folder, url, dict(users), programs, tuple(parts)
        self.kind = kind
        self.running: list[servers.Server] = []

    @classmethod
    def attach(cls, folder: Path) -> Self:
        """Returns the control plane that another process has started in this folder; `stop` leaves it running."""
        state = json.loads((folder / STATE).read_text("utf-8"))
        users = {name: User(name, token, Path(kubeconfig)) for name, (token, kubeconfig) in state["users"].items()}
        programs = assets.Assets(Path(state["programs"]), frozenset(state["present"]))
        return cls(folder, state["url"], users, programs, state["parts"], KINDS[state["kind"]])

    def publish(self) -> None:
        """Writes the file with which other processes `attach`."""
        state = {
            "url": self.url,
            "users": {user.name: (user.token, str(user.kubeconfig)) for user in self.users.values()},
            "programs": str(self.programs.folder),
            "present": sorted(self.programs.programs),
            "parts": self.parts,
            "kind": self.kind.name,
        }
        partial = self.folder / f".{STATE}"
        partial.write_text(json.dumps(state), "utf-8")
        partial.rename(self.folder / STATE)

    def stop(self, *, keep_logs: bool = False) -> None:
        """Stops the servers that were started here, and removes the folder, except for the logs if they are to be kept."""
        if not self.running:
            return
        for server in self.running:
            server.stop()
        self.running.clear()
        if not keep_logs:
            shutil.rmtree(self.folder, ignore_errors=True)
        else:
            shutil.rmtree(self.folder / "data", ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.stop()

    @property
    def token(self) -> str:
        """Returns the token of `admin`."""
        return self.users["admin"].token

    @property
    def kubeconfig(self) -> Path:
        """Returns the kubeconfig file of `admin`."""
        return self.users["admin"].kubeconfig

    @property
    def certificate_authority(self) -> Path:
        """Returns the PEM file of the certificate authority."""
        return self.folder / "certificates" / "apiserver.crt"

    @cached_property
    def tls(self) -> ssl.SSLContext:
        """Returns a TLS context for clients of this server."""
        return ssl.create_default_context(cafile=str(self.certificate_authority))

    def kubectl(
        self,
        *arguments: str,
        user: str = "admin",
        input: str | None = None,  # noqa: A002 - subprocess.run's own word
        check: bool = True,
        timeout: float = 120.0,
    ) -> subprocess.CompletedProcess[str]:
        """Runs kubectl of the server's version as a user. With `check`, a failure raises `ControlPlaneError` with kubectl's output."""
        environment = os.environ | {
            "KUBECONFIG": str(self.users[user].kubeconfig),
            "KUBECACHEDIR": str(self.folder / "kubectl-cache"),
            "KUBERC": "off",
        }
        command, end = [self.programs.path("kubectl"), *arguments], time.monotonic() + timeout
        while True:
            done = subprocess.run(command, env=environment, input=input or "", capture_output=True, text=True, check=False, timeout=timeout)
            if NO_CONDITIONS not in done.stderr or time.monotonic() > end:
                break
            time.sleep(0.1)
        if check and done.returncode:
            raise ControlPlaneError(f"kubectl {' '.join(arguments)}: {done.stderr.strip() or done.stdout.strip()}")
        return done

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        user: str = "admin",
        content_type: str = "application/json",
        agent: str = "tests",
        accept: str = "application/json",
        timeout: float = 60.0,
    ) -> Any:
        """Sends one request, on a connection that is kept for the next one of this thread; returns the JSON of the answer, or its text.

        Raises `RequestRefused` for 4xx and 5xx, and `ControlPlaneError` where no answer comes within `timeout` seconds.
        """
        headers = {"Authorization": f"Bearer {self.users[user].token}", "Content-Type": content_type, "User-Agent": agent, "Accept": accept}
        try:
            answer, text = self._connections.send(method, path, None if body is None else json.dumps(body), headers, timeout)
        except (OSError, http.client.HTTPException) as problem:
            raise ControlPlaneError(f"{self.url} does not answer: {problem}; {servers.reason(self.log('kube-apiserver'))}") from problem
        value = json.loads(text) if answer.headers.get_content_type() == "application/json" else text
        if answer.status >= 400:
            message = value.get("message", text) if isinstance(value, dict) else text
            raise RequestRefused(answer.status, value, f"{method} {path}: {answer.status} {message}")
        return value

    @cached_property
    def _connections(self) -> Connections:
        return Connections(self.url, self.tls)

    @cached_property
    def objects(self) -> Objects:
        """Returns the objects of the server, to be read and applied as kubectl does, at a fraction of its cost."""
        return Objects(self)

    def server(self, name: str) -> servers.Server:
        """Returns one of the servers that were started here, by its program's name.

        Tests may end it, start it again, or let it stand still.
        """
        return next(one for one in self.running if one.name == name)

    def log(self, server: str) -> Path:
        """Returns the log of one of the servers."""
        return self.folder / "logs" / f"{server}.log"

    def create_namespace(self, prefix: str = "test-") -> str:
        """Creates a namespace, as guarded as this kind of cluster has them; returns its name, which begins with `prefix`."""
        metadata = {"generateName": prefix, "labels": dict(self.kind.labels)}
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
        name = str(self.request("POST", "/api/v1/namespaces", namespace, agent=audit.AGENT)["metadata"]["name"])
        if self.kind.hard:
            self._limit(name)
        return name

    def _limit(self, namespace: str) -> None:
        """Gives a namespace a quota that counts at once: its controller, if there is one, would take a moment."""
        quotas, quota = f"/api/v1/namespaces/{namespace}/resourcequotas", self.kind.quota()
        self.request("POST", quotas, quota, agent=audit.AGENT)
        path, patch = f"{quotas}/{quota['metadata']['name']}/status", {"status": quota["status"]}
        self.request("PATCH", path, patch, content_type="application/merge-patch+json", agent=audit.AGENT)
        self.await_answer(f"/api/v1/namespaces/{namespace}/pods", WITHOUT_LIMITS, "must specify limits")

    def await_answer(self, path: str, manifest: Mapping[str, Any], says: str) -> None:
        """Returns once these words are in what creating an object would make, or in why it is refused. Creates nothing.

        Admission watches quotas, limits, webhooks and policies, and heeds them a moment after they are written, without a word.
        """
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                answer = json.dumps(self.request("POST", f"{path}?dryRun=All", manifest, agent=audit.AGENT))
            except RequestRefused as refused:
                answer = str(refused)
            if says in answer:
                return
            time.sleep(0.01)
        raise ControlPlaneError(f"{path} does not say {says!r} of a new object, but: {answer}")

    def delete_namespace(self, name: str) -> None:
        """Deletes a namespace without waiting. One that does not exist is no error."""
        try:
            self.request("DELETE", f"/api/v1/namespaces/{name}", agent=audit.AGENT)
        except RequestRefused as refused:
            if refused.status not in (404, 409):
                raise

    def clear_namespace(self, name: str) -> None:
        """Deletes the pods of a namespace, which take up nodes, and its autoscalers, which Kubernetes keeps looking at, without waiting.

        All else costs nobody anything, and stays: to delete a namespace, its controller looks into every kind, for a third of a second of
        CPU. It is done where controllers of Kubernetes would create the pods again.
        """
        pods = f"/api/v1/namespaces/{name}/pods"
        found = self.request("GET", pods, agent=audit.AGENT, accept=METADATA)["items"] or ()  # null where there are none
        owners = [owner for pod in found for owner in pod["metadata"].get("ownerReferences", ())]
        if any(owner["apiVersion"].partition("/")[0] in RECREATING for owner in owners):
            self.delete_namespace(name)
        elif found:
            for path in (f"/apis/autoscaling/v2/namespaces/{name}/horizontalpodautoscalers", pods):
                self.request("DELETE", path, {"gracePeriodSeconds": 0}, agent=audit.AGENT)

    def grant(self, user: str, verbs: Sequence[str], resources: Sequence[str], *, group: str = "", namespace: str = "") -> None:
        """Grants a user permissions in a namespace, or in all; returns once they are effective. They are deleted with the namespace."""
        where, scope = (f"namespaces/{namespace}/", "") if namespace else ("", "Cluster")
        base, api = f"/apis/rbac.authorization.k8s.io/v1/{where}", "rbac.authorization.k8s.io"
        head = {"apiVersion": f"{api}/v1", "metadata": {"generateName": "granted-"}}
        rules = [{"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}]
        role = self.request("POST", f"{base}{scope.lower()}roles", head | {"kind": f"{scope}Role", "rules": rules}, agent=audit.AGENT)
        binding = head | {
            "kind": f"{scope}RoleBinding",
            "roleRef": {"apiGroup": api, "kind": f"{scope}Role", "name": role["metadata"]["name"]},
            "subjects": [{"apiGroup": api, "kind": "User", "name": user}],
        }
        self.request("POST", f"{base}{scope.lower()}rolebindings", binding, agent=audit.AGENT)
        place = {"namespace": namespace} if namespace else {}
        self._await_granted(
            user, [{"verb": verb, "group": group, "resource": resource, **place} for verb in verbs for resource in resources]
        )

    def _await_granted(self, user: str, rights: Sequence[dict[str, str]]) -> None:
        """Waits until the authorizer, which watches roles and bindings, has received those that were just written."""
        deadline = time.monotonic() + 60
        for right in rights:
            resource, _, subresource = right["resource"].partition("/")
            spec = {"user": user, "resourceAttributes": {**right, "resource": resource, "subresource": subresource}}
            review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
            while not self.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review, agent=audit.AGENT)["status"][
                "allowed"
            ]:
                if time.monotonic() > deadline:
                    raise ControlPlaneError(f"{user} was granted {right['verb']} {right['resource']} and still may not")
                time.sleep(0.01)

    def mark(self) -> int:
        """Returns the current position in the audit log, for `requests`."""
        self._settle()
        return self.audit_log.stat().st_size

    def requests(self, since: int = 0) -> Requests:
        """Returns every request that the server has answered since a mark, except those of its own servers and of this object.

        A watch counts as soon as it begins. Requests of others that are under way may be missing.
        """
        self._settle()
        return Requests(request for request, _ in audit.read(self.audit_log, since) if not request.agent.startswith(audit.AGENT))

    @cached_property
    def audit_log(self) -> Path:
        """Returns the file of the audit log. Raises `ControlPlaneError` where the control plane was started without one."""
        log = self.folder / "data" / "audit.log"
        if not log.exists():
            raise ControlPlaneError("this control plane was started without an audit log")
        return log

    def _settle(self) -> None:
        """Makes a request and waits until the log has it, and with it all requests answered before."""
        start, sentinel = self.audit_log.stat().st_size, f"/version?{secrets.token_hex(8)}"
        self.request("GET", sentinel, agent=audit.AGENT)
        deadline = time.monotonic() + 60
        while not any(uri == sentinel for _, uri in audit.read(self.audit_log, start)):
            if time.monotonic() > deadline:
                raise ControlPlaneError("the audit log does not grow")
            time.sleep(0.005)
