"""Reads the requests in the API server's audit log."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from applier.testing.counts import WRITES, CountedRequest
from applier.testing.users import SERVERS

AGENT = "applier-testing/"
"""The prefix of the user agent of our own requests, which are not counted."""

UNCOUNTED = ("system:apiserver", *SERVERS)
"""The users whose requests are not counted: the control plane's own servers."""


def policy(bodies: Iterable[str] = ()) -> dict[str, Any]:
    """Returns an audit policy that logs requests without bodies, except those of the control plane's own servers.

    Of the resources in `bodies`, such as `pods` or `deployments.apps`, every write is logged with the object that resulted, by whichever
    user: a node's report of a pod, too.
    """
    split = [resource.partition(".") for resource in bodies]
    targets = [{"group": group, "resources": [name, f"{name}/*"]} for name, _, group in split]
    written = {"level": "RequestResponse", "verbs": sorted(WRITES), "resources": targets, "omitManagedFields": True}
    rules = [{"level": "None", "users": list(UNCOUNTED)}, {"level": "Metadata"}]
    return {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "rules": [written, *rules] if targets else rules,
    }


def read(log: Path, start: int = 0) -> Iterator[tuple[CountedRequest, str]]:
    """Yields each request in the log once, with its URL, from an offset in the file. A line that it is in the middle of began before it.

    A watch counts when it begins: it may not end for a long time. A watch that was denied never began, and counts when it ends.
    """
    with log.open("rb") as stream:
        stream.seek(max(start - 1, 0))
        if start and stream.read(1) != b"\n" and not stream.readline().endswith(b"\n"):
            return
        for line in stream:
            if not line.endswith(b"\n"):
                return
            event = json.loads(line)
            if event["user"].get("username") in UNCOUNTED:  # a request without valid credentials has none
                continue
            code = event.get("responseStatus", {}).get("code", 0)
            begins, watches = event["stage"] == "ResponseStarted", event["verb"] == "watch"
            if begins == (watches and code < 400):
                yield _request(event, code), event["requestURI"]


def _request(event: dict[str, Any], code: int) -> CountedRequest:
    target = event.get("objectRef", {})
    group = target.get("apiGroup", "")
    resource = target.get("resource", "")
    uri = event["requestURI"]
    return CountedRequest(
        event["verb"],
        (f"{resource}.{group}" if group else resource) or uri.partition("?")[0],
        target.get("subresource", ""),
        target.get("namespace", ""),
        target.get("name", ""),
        event["user"].get("username", ""),
        event.get("userAgent", ""),
        "dryRun=" in uri,
        code,
    )
