"""The operator's configuration and the caller's settings."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.model.configuration import read_configuration
from grove_compiler.model.settings import Settings
from grove_compiler.version import __version__

PROFILES: list[tuple[Any, list[str], str]] = [
    (None, ["default-scheduler"], "default-scheduler"),
    ({}, ["default-scheduler"], "default-scheduler"),
    ({"scheduler": None}, ["default-scheduler"], "default-scheduler"),
    ({"scheduler": {"profiles": []}}, ["default-scheduler"], "default-scheduler"),
    ({"scheduler": {"defaultProfileName": "volcano"}}, ["default-scheduler"], "default-scheduler"),
    ({"scheduler": {"profiles": [{"name": "kai-scheduler"}]}}, ["kai-scheduler", "default-scheduler"], "default-scheduler"),
    (
        {"scheduler": {"profiles": [{"name": "kai-scheduler"}], "defaultProfileName": "kai-scheduler"}},
        ["kai-scheduler", "default-scheduler"],
        "kai-scheduler",
    ),
    (
        {"scheduler": {"profiles": [{"name": "default-scheduler"}, {"name": "volcano"}]}},
        ["default-scheduler", "volcano"],
        "default-scheduler",
    ),
]


@pytest.mark.parametrize(("manifest", "profiles", "default"), PROFILES)
def test_the_default_scheduler_is_always_a_profile(manifest: Any, profiles: list[str], default: str) -> None:
    found = read_configuration(manifest)
    assert (found.scheduler_names, found.default_scheduler) == (profiles, default)


def test_a_profile_keeps_its_own_configuration() -> None:
    profile = {"name": "kai-scheduler", "config": {"createTopologyResources": False}}
    found = read_configuration({"scheduler": {"profiles": [profile, {"name": "volcano"}]}})
    assert [entry.config for entry in found.profiles] == [{"createTopologyResources": False}, {}, {}]


@pytest.mark.parametrize("value", [True, False])
def test_features_are_switched_by_the_configuration(value: bool) -> None:
    found = read_configuration({"topologyAwareScheduling": {"enabled": value}, "network": {"autoMNNVLEnabled": not value}})
    assert (found.topology_enabled, found.mnnvl_enabled) == (value, not value)


@pytest.mark.parametrize("manifest", [None, {}, {"topologyAwareScheduling": None, "network": None}, {"network": {}}])
def test_features_are_off_unless_switched_on(manifest: Any) -> None:
    found = read_configuration(manifest)
    assert (found.topology_enabled, found.mnnvl_enabled) == (False, False)


IMAGES = [
    ("", f"grove-initc:v{__version__}"),
    ("grove-initc", f"grove-initc:v{__version__}"),
    ("registry:5000/grove-initc", f"registry:5000/grove-initc:v{__version__}"),
    ("grove-initc:1", "grove-initc:1"),
    ("registry:5000/grove-initc:1", "registry:5000/grove-initc:1"),
    ("grove-initc@sha256:abc", "grove-initc@sha256:abc"),
]


@pytest.mark.parametrize(("given", "expected"), IMAGES)
def test_an_image_without_a_tag_gets_the_programs_version(given: str, expected: str) -> None:
    assert read_configuration({"initContainer": {"image": given}}).init_image == expected


VERSIONS = [
    ("1.31", 31, "v1beta1"),
    ("1.32", 32, "v1beta1"),
    ("1.33", 33, "v1beta2"),
    ("1.34", 34, "v1"),
    ("v1.35.4", 35, "v1"),
    ("1.34+", 34, "v1"),
    ("1", 0, "v1beta1"),
    ("", 0, "v1beta1"),
]


@pytest.mark.parametrize(("version", "minor", "api"), VERSIONS)
def test_the_version_of_the_target_decides_which_apis_it_serves(version: str, minor: int, api: str) -> None:
    found = Settings(kube_version=version)
    assert (found.kube_minor, found.resource_api) == (minor, api)


def test_offline_the_target_is_an_older_cluster_without_pods() -> None:
    found = Settings()
    assert (found.namespace, found.pods, found.resource_api) == ("default", False, "v1beta1")
