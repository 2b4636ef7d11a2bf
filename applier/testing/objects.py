"""Reads and applies objects of a control plane as kubectl does, without starting one, which costs a fifth of a second of CPU each time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote, urlencode

from applier.testing import audit
from applier.testing.errors import ControlPlaneError, RequestRefused

DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
APPLY = "application/apply-patch+yaml"
UNSERVED = ("could not find the requested resource", "page not found")
"""What a server says of a path that it does not serve, where an object that is not there has a name."""
PATIENCE = 60.0
"""Seconds."""

Manifest = dict[str, Any]


class RequestServer(Protocol):
    """Answers requests; `RunningPlane` is one."""

    def request(
        self, method: str, path: str, body: object = None, *, content_type: str = ..., agent: str = ..., accept: str = ...
    ) -> Any: ...


class ResourceInfo(NamedTuple):
    """A kind as the server serves it."""

    api_version: str
    kind: str
    plural: str
    is_namespaced: bool

    def path(self, namespace: str = "", name: str = "") -> str:
        """Returns the path of an object, or of the list of them, in a namespace or in all."""
        root = f"/apis/{self.api_version}" if "/" in self.api_version else f"/api/{self.api_version}"
        place = f"/namespaces/{namespace}" if self.is_namespaced and namespace else ""
        return f"{root}{place}/{self.plural}" + (f"/{quote(name, safe='')}" if name else "")


class Objects:
    """Represents the objects of a server."""

    def __init__(self, server: RequestServer) -> None:
        self._server = server
        self._by_word: dict[str, ResourceInfo] = {}
        self._by_kind: dict[tuple[str, str], ResourceInfo] = {}

    def get(self, *arguments: str) -> Any:
        """Returns what `kubectl get --ignore-not-found -o json` prints.

        The arguments are `KIND[,KIND…] [NAME] [-n NAMESPACE | -A] [-l SELECTOR] [--field-selector SELECTOR]`. The answer
        is an object, a list with `items`, or nothing. Raises `ControlPlaneError` for a kind that is not served.
        """
        try:
            return self._got(*arguments)
        except RequestRefused as refused:
            if not _is_unserved(refused):
                raise
        self._discover()  # the kind has another version now
        return self._got(*arguments)

    def _got(self, *arguments: str) -> Any:
        words, namespace, selectors = _parsed(arguments)
        kinds, name = words[0].partition("/")[0].split(","), (words[1] if words[1:] else words[0].partition("/")[2])
        if name:
            return self._found(self._resource(kinds[0]).path(namespace, name))
        query = f"?{urlencode(selectors)}" if selectors else ""
        items = [one for kind in kinds for one in self._listed(self._resource(kind).path(namespace) + query)]
        return {"apiVersion": "v1", "kind": "List", "items": items}

    def apply(self, manifests: Sequence[Mapping[str, Any]], namespace: str = "default") -> None:
        """Applies objects by server-side apply as `kubectl` does with `--force-conflicts`."""
        for manifest in manifests:
            metadata = manifest["metadata"]
            path = self.kind_of(manifest).path(metadata.get("namespace", namespace), metadata["name"])
            self._asked("PATCH", f"{path}?fieldManager=kubectl&force=true", manifest)

    def kind_of(self, manifest: Mapping[str, Any]) -> ResourceInfo:
        """Returns the kind of an object. Raises `ControlPlaneError` where it is not served."""
        key = (manifest["apiVersion"], manifest["kind"])
        if key not in self._by_kind:
            self._discover()
        if key not in self._by_kind:
            raise ControlPlaneError(f"no matches for kind {key[1]!r} in version {key[0]!r}")
        return self._by_kind[key]

    def await_served(self, kinds: Sequence[str]) -> None:
        """Returns once discovery has these kinds, as `plural.group`: some time after their definitions are established."""
        deadline = time.monotonic() + PATIENCE
        while any(kind not in self._by_word for kind in kinds):
            if time.monotonic() > deadline:
                raise ControlPlaneError(f"of {', '.join(kinds)} some are not served")
            time.sleep(0.05)
            self._discover()

    def _found(self, path: str) -> Manifest | None:
        try:
            found: Manifest = self._asked("GET", path)
        except RequestRefused as refused:
            if refused.status == 404 and not _is_unserved(refused):
                return None
            raise
        return found

    def _listed(self, path: str) -> Iterator[Manifest]:
        answer = self._asked("GET", path)
        head = {"apiVersion": answer["apiVersion"], "kind": answer["kind"].removesuffix("List")}
        for one in answer["items"]:
            yield head | one

    def _asked(self, method: str, path: str, body: object = None) -> Any:
        """Asks the server, again where it is too busy, or has only just begun to serve a kind."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return self._server.request(method, path, body, content_type=APPLY, agent="kubectl")
            except RequestRefused as refused:
                if refused.status != 429 or time.monotonic() > deadline:
                    raise
            time.sleep(0.2)

    def _resource(self, word: str) -> ResourceInfo:
        """Returns the kind that people call so: plural, singular, short name, or with version and group behind dots."""
        if (word := word.lower()) not in self._by_word:
            self._discover()
        if word not in self._by_word:
            raise ControlPlaneError(f"the server doesn't have a resource type {word!r}")
        return self._by_word[word]

    def _discover(self) -> None:
        """Asks what is served. Of several groups the first has a word, of several versions the preferred one."""
        self._by_word.clear()
        self._by_kind.clear()
        for root in ("/api", "/apis"):
            for group in self._server.request("GET", root, agent=audit.AGENT, accept=DISCOVERY)["items"]:
                self._add(group.get("metadata", {}).get("name", ""), group["versions"])

    def _add(self, group: str, versions: list[Manifest]) -> None:
        for version in versions:
            api_version = f"{group}/{version['version']}" if group else version["version"]
            for one in version.get("resources", ()):
                resource = ResourceInfo(api_version, one["responseKind"]["kind"], one["resource"], one["scope"] == "Namespaced")
                self._by_kind.setdefault((api_version, resource.kind), resource)
                for word in (one["resource"], one.get("singularResource") or resource.kind.lower(), *one.get("shortNames", ())):
                    self._by_word.setdefault(word, resource)
                    self._by_word.setdefault(f"{word}.{group}", resource)
                    self._by_word.setdefault(f"{word}.{version['version']}.{group}", resource)


def _is_unserved(refused: RequestRefused) -> bool:
    return refused.status == 404 and any(text in str(refused) for text in UNSERVED)


def _parsed(arguments: Sequence[str]) -> tuple[list[str], str, dict[str, str]]:
    """Returns the words, the namespace and the selectors of a command line."""
    words, namespace, selectors, given = list[str](), "default", dict[str, str](), iter(arguments)
    for argument in given:
        if argument in ("-n", "--namespace"):
            namespace = next(given)
        elif argument in ("-l", "--selector"):
            selectors["labelSelector"] = next(given)
        elif argument == "--field-selector":
            selectors["fieldSelector"] = next(given)
        elif argument in ("-A", "--all-namespaces"):
            namespace = ""
        elif argument.startswith("-"):
            raise ValueError(f"{argument} is left to kubectl")
        else:
            words.append(argument)
    return words, namespace, selectors
