"""Which changed fields Kubernetes does not let change."""

from __future__ import annotations

from typing import Any

import pytest

from applier.outcome import ABSENT, FieldChange, Path
from applier.plan.immutable import fixed_fields
from tests.suite.rows import rows

from ..things import manifest, ref


def fixed(kind: str, *path: Any, old: Any = "old", **live: Any) -> bool:
    found = fixed_fields(ref("a", kind), manifest("a", kind, **live), [FieldChange(path, old, "new")])
    assert found in ([], [path])
    return bool(found)


FIXED: list[tuple[str, Path]] = [
    ("Deployment", ("spec", "selector", "matchLabels", "app")),
    ("DaemonSet", ("spec", "selector")),
    ("StatefulSet", ("spec", "serviceName")),
    ("StatefulSet", ("spec", "volumeClaimTemplates")),
    ("Job", ("spec", "template", "spec", "restartPolicy")),
    ("Job", ("spec", "completionMode")),
    ("Service", ("spec", "clusterIP")),
    ("PersistentVolumeClaim", ("spec", "accessModes")),
    ("PersistentVolumeClaim", ("spec", "storageClassName")),
    ("Secret", ("type",)),
    ("Pod", ("spec", "restartPolicy")),
    ("RoleBinding", ("roleRef", "name")),
    ("ClusterRoleBinding", ("roleRef", "name")),
    ("PriorityClass", ("value",)),
    ("StorageClass", ("parameters", "type")),
    ("RuntimeClass", ("handler",)),
    ("IngressClass", ("spec", "controller")),
]

FREE: list[tuple[str, Path]] = [
    ("Deployment", ("spec", "template", "spec")),
    ("StatefulSet", ("spec", "replicas")),
    ("StatefulSet", ("spec", "template", "metadata", "labels")),
    ("StatefulSet", ("metadata", "labels", "a")),
    ("Job", ("spec", "parallelism")),
    ("Service", ("spec", "ports")),
    ("PersistentVolumeClaim", ("spec", "resources", "requests", "storage")),
    ("Secret", ("data", "a")),
    ("ConfigMap", ("data", "a")),
    ("RoleBinding", ("subjects",)),
    ("StorageClass", ("allowVolumeExpansion",)),
    ("Engine", ("spec", "selector")),
]


@rows(("kind", "path"), FIXED)
def test_a_field_that_is_fixed_is_found(kind: str, path: Path) -> None:
    assert fixed(kind, *path)


@rows(("kind", "path"), FREE)
def test_a_field_that_may_change_is_not(kind: str, path: Path) -> None:
    assert not fixed(kind, *path)


@rows("path", [("data", "a"), ("binaryData",), ("immutable",)])
@rows("kind", ["ConfigMap", "Secret"])
def test_nothing_in_an_object_that_calls_itself_immutable_may_change(kind: str, path: Path) -> None:
    assert fixed(kind, *path, immutable=True)


def test_the_type_of_an_immutable_secret_is_as_fixed_as_that_of_any_other() -> None:
    assert fixed("Secret", "type", immutable=True)


@pytest.mark.parametrize("value", [False, "true", None])
def test_what_does_not_call_itself_immutable_may_change(value: Any) -> None:
    assert not fixed("ConfigMap", "data", "a", immutable=value)


def test_immutable_is_a_word_of_configuration_and_secrets_only() -> None:
    assert fixed("Deployment", "spec", "selector", immutable=True)
    assert not fixed("Engine", "data", "a", immutable=True)


@pytest.mark.parametrize("old", [ABSENT, ""])
def test_only_a_few_fields_may_be_set_as_long_as_they_are_empty(old: Any) -> None:
    assert fixed("PersistentVolumeClaim", "spec", "volumeMode", old=old)


def test_labels_of_an_object_that_calls_itself_immutable_may_change() -> None:
    assert not fixed("ConfigMap", "metadata", "labels", "a", immutable=True)


@pytest.mark.parametrize(("kind", "field"), [("Service", "clusterIP"), ("PersistentVolumeClaim", "volumeName")])
@pytest.mark.parametrize("old", [ABSENT, ""])
def test_a_field_that_is_empty_may_be_set_once(kind: str, field: str, old: Any) -> None:
    assert not fixed(kind, "spec", field, old=old)


def test_a_service_that_becomes_one_with_an_address_may_get_one() -> None:
    assert not fixed("Service", "spec", "clusterIP", spec={"type": "ExternalName"})


def test_the_template_of_a_suspended_job_may_change() -> None:
    assert not fixed("Job", "spec", "template", "spec", "nodeSelector", spec={"suspend": True})


def test_every_fixed_field_is_named_in_order() -> None:
    paths: list[Path] = [("spec", "serviceName"), ("spec", "replicas"), ("spec", "selector")]
    changes = [FieldChange(path, 1, 2) for path in paths]
    assert fixed_fields(ref("a", "StatefulSet"), manifest("a", "StatefulSet"), changes) == [paths[0], paths[2]]
