"""Computes the resources that a pod requests, in the units of a scheduler: CPU in thousandths, everything else in whole units."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kube_objects.manifest import maps
from kube_objects.quantity import LARGEST_INT64, QuantityError, parse

Amounts = dict[str, int]
"""Resource name to amount. `pods` counts the pods themselves."""

ResourceFilter = Callable[[str], bool]
"""Tells by a resource's name whether it counts; `bool` accepts all."""

HostPort = tuple[str, str, int]
"""The IP, protocol and port that a container occupies on its node."""

PODS = "pods"
EVERY_IP = "0.0.0.0"


def amount(resource: str, value: Any) -> int:
    """Returns a quantity in whole units (CPU: thousandths), rounded up as schedulers round, and no more than their int64 holds.

    Raises `QuantityError`.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise QuantityError(f"{value!r} is not a quantity")
    quantity = parse(value)
    exponent = quantity.exponent + (3 if resource == "cpu" else 0)
    number = quantity.number * int(10**exponent) if exponent >= 0 else -(-quantity.number // int(10**-exponent))
    return max(-LARGEST_INT64, min(number, LARGEST_INT64))


def amounts(quantities: Any, is_selected: ResourceFilter = bool) -> Amounts:
    """Converts a `requests`, `allocatable` or `overhead` map to whole units, only for the selected resources.

    Returns an empty result for a value that is not a map. Raises `QuantityError`.
    """
    if not isinstance(quantities, Mapping):
        return {}
    result = {}
    for resource, value in quantities.items():
        name = str(resource)
        if is_selected(name):
            try:
                result[name] = amount(name, value)
            except QuantityError as error:
                raise QuantityError(f"{resource}: {error}") from None
    return result


def request(pod_spec: Mapping[str, Any]) -> Amounts:
    """Returns what one pod reserves on its node, including itself (`pods: 1`). Raises `QuantityError`."""
    return request_of(pod_spec) | {PODS: 1}


def request_of(pod_spec: Mapping[str, Any], is_selected: ResourceFilter = bool) -> Amounts:
    """Returns what one pod reserves of the selected resources. Raises `QuantityError`.

    As kube-scheduler computes it: the sum of the containers and sidecars, or the peak while init containers run where that is
    more; requests for the whole pod replace the sum; the runtime's overhead comes on top.
    """
    running: Amounts = {}
    peak: Amounts = {}
    for container in maps(pod_spec.get("initContainers")):
        requests = _requests(container, is_selected)
        if container.get("restartPolicy") == "Always":  # a sidecar keeps running beside the containers after it
            running = _sum(running, requests)
            peak = _maximum(peak, running)
        else:
            peak = _maximum(peak, _sum(running, requests))
    for container in maps(pod_spec.get("containers")):
        running = _sum(running, _requests(container, is_selected))
    total = {**_maximum(running, peak), **_requests(pod_spec, is_selected)}
    total = _sum(total, amounts(pod_spec.get("overhead"), is_selected))
    return {resource: number for resource, number in total.items() if number > 0}


def requests_of_containers(pod_spec: Mapping[str, Any]) -> Amounts:
    """Returns what the containers of a pod request together, ignoring requests for the pod as a whole. Raises `QuantityError`."""
    return request_of({key: value for key, value in pod_spec.items() if key in ("containers", "initContainers")})


def host_ports(pod_spec: Mapping[str, Any]) -> set[HostPort]:
    """Returns the host ports of a pod; with `hostNetwork` these are all ports that it declares."""
    on_host = pod_spec.get("hostNetwork") is True
    return {result for container in _all_containers(pod_spec) for result in _ports_of(container, on_host)}


def _ports_of(container: Mapping[str, Any], on_host: bool) -> Iterator[HostPort]:
    for port in maps(container.get("ports")):
        number = port.get("hostPort") or (port.get("containerPort") if on_host else 0)
        if isinstance(number, int) and number > 0:
            yield str(port.get("hostIP") or EVERY_IP), str(port.get("protocol") or "TCP"), number


def _all_containers(pod_spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from maps(pod_spec.get("containers"))
    yield from (container for container in maps(pod_spec.get("initContainers")) if container.get("restartPolicy") == "Always")


def _requests(holder: Mapping[str, Any], is_selected: ResourceFilter) -> Amounts:
    """Returns the requests of a container or pod; an absent request defaults to its limit, as in the API server."""
    resources = holder.get("resources")
    if not isinstance(resources, Mapping):
        return {}
    return {**amounts(resources.get("limits"), is_selected), **amounts(resources.get("requests"), is_selected)}


def _sum(left: Amounts, right: Amounts) -> Amounts:
    return {resource: left.get(resource, 0) + right.get(resource, 0) for resource in {**left, **right}}


def _maximum(left: Amounts, right: Amounts) -> Amounts:
    return {resource: max(left.get(resource, 0), right.get(resource, 0)) for resource in {**left, **right}}
