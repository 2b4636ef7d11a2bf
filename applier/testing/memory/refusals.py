"""Builds the errors of a cluster in memory, with the messages of the real API server."""

from __future__ import annotations

from applier.cluster import Resource
from applier.errors import AlreadyExists, Cause, Forbidden, Invalid, NotFound, WriteConflict


def not_found(resource: Resource, name: str) -> NotFound:
    return NotFound(404, "NotFound", f'{resource.name} "{name}" not found', details={"name": name, "kind": resource.plural})


def no_namespace(namespace: str) -> NotFound:
    return NotFound(404, "NotFound", f'namespaces "{namespace}" not found', details={"name": namespace, "kind": "namespaces"})


def already_exists(resource: Resource, name: str) -> AlreadyExists:
    return AlreadyExists(409, "AlreadyExists", f'{resource.name} "{name}" already exists', details={"name": name})


def other_uid(resource: Resource, name: str, asked: str, live: str) -> WriteConflict:
    return _conflict(resource, name, f"Precondition failed: UID in precondition: {asked}, UID in object meta: {live}")


def uid_is_immutable(resource: Resource, name: str) -> Invalid:
    return invalid(resource, name, "metadata.uid", "field is immutable")


def moved_on(resource: Resource, name: str) -> WriteConflict:
    message = "the object has been modified; please apply your changes to the latest version and try again"
    return _conflict(resource, name, message)


def _conflict(resource: Resource, name: str, message: str) -> WriteConflict:
    return WriteConflict(409, "Conflict", f'Operation cannot be fulfilled on {resource.name} "{name}": {message}')


def invalid(resource: Resource, name: str, field: str, message: str) -> Invalid:
    cause = Cause("FieldValueInvalid", field, f"Invalid value: {message}")
    return Invalid(422, "Invalid", f'{resource.kind.group_kind} "{name}" is invalid: {field}: Invalid value: {message}', (cause,))


def duplicate_condition(resource: Resource, name: str, condition: str) -> Invalid:
    what = f"failed to create typed patch object (/{name}; {resource.kind.api_version}, Kind={resource.kind.kind})"
    return Invalid(422, "Invalid", f'{what}: .status.conditions: duplicate entries for key [type="{condition}"]')


def bad_request(message: str) -> Invalid:
    return Invalid(400, "BadRequest", message)


def terminating(resource: Resource, name: str, namespace: str) -> Forbidden:
    message = f"unable to create new content in namespace {namespace} because it is being terminated"
    causes = (Cause("NamespaceTerminating", "metadata.namespace", f"namespace {namespace} is being terminated"),)
    return Forbidden(403, "Forbidden", f'{resource.name} "{name}" is forbidden: {message}', causes)


def no_watch_list() -> Invalid:
    message = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"
    return Invalid(422, "Invalid", f"sendInitialEvents: Forbidden: {message}")
