"""Represents the requests to a cluster in memory, and the faults injected into them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from applier.cluster import Resource
from applier.ref import Ref


class MemoryRequest(NamedTuple):
    """Represents a request. `number` counts from 1; `verb` is the method of `Cluster`: get, list, watch, apply, create, patch or delete."""

    number: int
    verb: str
    resource: Resource
    namespace: str = ""
    name: str = ""
    manager: str = ""
    subresource: str = ""
    dry_run: bool = False

    @property
    def ref(self) -> Ref:
        return Ref(self.resource.kind.group, self.resource.kind.kind, self.namespace if self.resource.namespaced else "", self.name)

    @property
    def writes(self) -> bool:
        return not self.dry_run and self.verb not in ("get", "list", "watch")


When = int | str | Callable[[MemoryRequest], bool]


class Fault:
    """Represents an injected error. `left` is how many more requests it fails; a negative number means all."""

    def __init__(self, when: When, error: BaseException, after: bool, times: int) -> None:
        self.when, self.error, self.after, self.left = when, error, after, times

    def meets(self, request: MemoryRequest, after: bool) -> bool:
        return self.after is after and self.left != 0 and self._is_meant(request)

    def _is_meant(self, request: MemoryRequest) -> bool:
        if isinstance(self.when, int):
            return request.number == self.when
        return request.verb == self.when if isinstance(self.when, str) else self.when(request)


def meet(faults: list[Fault], request: MemoryRequest, *, after: bool) -> None:
    """Raises the error of the first fault that applies to a request, if any."""
    for fault in faults:
        if fault.meets(request, after):
            fault.left -= 1
            raise fault.error
