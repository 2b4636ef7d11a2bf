"""Counts requests from an audit log or a proxy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})


class CountedRequest(NamedTuple):
    """Represents a request. `verb` and `resource`, such as `pods` or `deployments.apps`, are those of RBAC.

    Requests to paths without a resource, such as `/version` or discovery, have the path as resource. `code` is 0 where no answer came.
    """

    verb: str
    resource: str
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    user: str = ""
    agent: str = ""
    dry_run: bool = False
    code: int = 0


class Requests:
    """Holds requests, to be counted and filtered."""

    def __init__(self, requests: Iterable[CountedRequest]) -> None:
        self._requests = tuple(requests)

    def __len__(self) -> int:
        return len(self._requests)

    def __iter__(self) -> Iterator[CountedRequest]:
        return iter(self._requests)

    def __repr__(self) -> str:
        return f"Requests({dict(self.by('verb', 'resource'))})"

    def by(self, *fields: str) -> Counter[str]:
        """Counts the requests by these fields, joined with a space: `by("verb", "resource")["patch configmaps"]`."""
        return Counter(" ".join(str(getattr(request, field)) for field in fields) for request in self._requests)

    def only(self, *, verb: str = "", resource: str = "", namespace: str = "", user: str = "", agent: str = "") -> Requests:
        """Returns the requests that match all given values; `agent` is a prefix of the user agent."""
        wanted = {"verb": verb, "resource": resource, "namespace": namespace, "user": user}
        exact = {field: value for field, value in wanted.items() if value}
        return Requests(
            request
            for request in self._requests
            if request.agent.startswith(agent) and all(getattr(request, field) == value for field, value in exact.items())
        )

    @property
    def writes(self) -> Requests:
        """Returns the writes, without dry runs."""
        return Requests(request for request in self._requests if is_write(request))


def is_write(request: CountedRequest) -> bool:
    """Reports whether a request is a write. Access reviews are created, but change nothing."""
    return (
        request.verb in WRITES
        and not request.dry_run
        and not request.resource.endswith((".authorization.k8s.io", ".authentication.k8s.io"))
    )


def parse(method: str, target: str, agent: str = "") -> CountedRequest:
    """Parses a request from its method and its path with query, as the API server does."""
    parts = urlsplit(target)
    query = parse_qs(parts.query)
    words = [word for word in parts.path.split("/") if word]
    if words[:1] == ["api"] and len(words) > 2:
        group, words = "", words[2:]
    elif words[:1] == ["apis"] and len(words) > 3:
        group, words = words[1], words[3:]
    else:
        return CountedRequest(method.lower(), parts.path, agent=agent)
    namespace = ""
    if words[0] == "namespaces" and len(words) > 1:
        namespace = words[1]
        # /namespaces/NAME and its subresources are about the namespace itself.
        if len(words) > 2 and words[2] not in ("status", "finalize"):
            words = words[2:]
    resource, name, subresource = (*words, "", "")[:3]
    watch = query.get("watch", ["false"])[0] in ("true", "1")
    return CountedRequest(
        _verb(method, named=bool(name), watch=watch),
        f"{resource}.{group}" if group else resource,
        "/".join(words[2:]) or subresource,
        namespace,
        name,
        agent=agent,
        dry_run="dryRun" in query,
    )


def _verb(method: str, *, named: bool, watch: bool) -> str:
    if method in ("GET", "HEAD"):
        return "watch" if watch else "get" if named else "list"
    if method == "DELETE":
        return "delete" if named else "deletecollection"
    return {"POST": "create", "PUT": "update", "PATCH": "patch"}.get(method, method.lower())
