"""The operator's configuration and the caller's settings."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.model.inputs.configuration import Configuration
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.version import __version__
from tests.suite.rows import rows

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


@rows(("manifest", "profiles", "default"), PROFILES)
def test_the_default_scheduler_is_always_a_profile(manifest: Any, profiles: list[str], default: str) -> None:
    found = Configuration(manifest or {})
    assert (found.scheduler_names, found.default_scheduler) == (profiles, default)


def test_a_profile_keeps_its_own_configuration() -> None:
    profile = {"name": "kai-scheduler", "config": {"createTopologyResources": False}}
    found = Configuration({"scheduler": {"profiles": [profile, {"name": "volcano"}]}})
    assert [entry.config for entry in found.profiles] == [{"createTopologyResources": False}, {}, {}]


@pytest.mark.parametrize("value", [True, False])
def test_features_are_switched_by_the_configuration(value: bool) -> None:
    found = Configuration({"topologyAwareScheduling": {"enabled": value}, "network": {"autoMNNVLEnabled": not value}})
    assert (found.topology_enabled, found.mnnvl_enabled) == (value, not value)


@pytest.mark.parametrize("manifest", [None, {}, {"topologyAwareScheduling": None, "network": None}, {"network": {}}])
def test_features_are_off_unless_switched_on(manifest: Any) -> None:
    found = Configuration(manifest or {})
    assert (found.topology_enabled, found.mnnvl_enabled) == (False, False)


IMAGES = [
    ("", f"grove-initc:v{__version__}"),
    ("grove-initc", f"grove-initc:v{__version__}"),
    ("registry:5000/grove-initc", f"registry:5000/grove-initc:v{__version__}"),
    ("grove-initc:1", "grove-initc:1"),
    ("registry:5000/grove-initc:1", "registry:5000/grove-initc:1"),
    ("grove-initc@sha256:abc", "grove-initc@sha256:abc"),
]


@rows(("given", "expected"), IMAGES)
def test_an_image_without_a_tag_gets_the_programs_version(given: str, expected: str) -> None:
    assert Configuration({"initContainer": {"image": given}}).init_image == expected


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


@rows(("version", "minor", "api"), VERSIONS)
def test_the_version_of_the_target_decides_which_apis_it_serves(version: str, minor: int, api: str) -> None:
    found = Settings(kube_version=version)
    assert (found.kube_minor, found.resource_api) == (minor, api)


def test_offline_the_target_is_an_older_cluster_without_pods() -> None:
    found = Settings()
    assert (found.namespace, found.pods, found.resource_api) == ("default", False, "v1beta1")


LEVELS = [{"domain": "zone", "key": "z"}]
DEFAULT_TOPOLOGIES = [
    ({}, False),
    ({"topologyAwareScheduling": {"enabled": True}}, False),
    ({"topologyAwareScheduling": {"enabled": True, "levels": []}}, False),
    ({"topologyAwareScheduling": {"enabled": False, "levels": LEVELS}}, False),
    ({"topologyAwareScheduling": {"enabled": True, "levels": LEVELS}}, True),
]


@pytest.mark.parametrize(("manifest", "expected"), DEFAULT_TOPOLOGIES)
def test_there_is_a_default_topology_when_it_has_levels_and_they_are_used(manifest: Any, expected: bool) -> None:
    assert Configuration(manifest or {}).has_default_topology is expected


MARKED: list[tuple[Any, str, list[int]]] = [
    ([{"name": "volcano"}], "default-scheduler", []),
    ([{"name": "volcano"}, {"name": "kai-scheduler", "default": True}], "kai-scheduler", [1]),
    ([{"name": "volcano", "default": True}, {"name": "kai-scheduler", "default": True}], "volcano", [0, 1]),
    ([{"name": "volcano", "default": False}], "default-scheduler", []),
]


@pytest.mark.parametrize(("profiles", "default", "marked"), MARKED)
def test_a_profile_may_be_marked_as_the_default(profiles: Any, default: str, marked: list[int]) -> None:
    found = Configuration({"scheduler": {"profiles": profiles}})
    assert (found.default_scheduler, found.marked_defaults) == (default, marked)


def test_a_name_wins_over_a_mark() -> None:
    profiles = [{"name": "volcano"}, {"name": "kai-scheduler", "default": True}]
    assert Configuration({"scheduler": {"profiles": profiles, "defaultProfileName": "volcano"}}).default_scheduler == "volcano"


KAI_TOPOLOGIES: list[tuple[Any, bool]] = [
    ([], False),
    ([{"name": "volcano"}], False),
    ([{"name": "kai-scheduler"}], True),
    ([{"name": "kai-scheduler", "config": {"createTopologyResources": True}}], True),
    ([{"name": "kai-scheduler", "config": {"createTopologyResources": False}}], False),
    ([{"name": "volcano", "config": {"createTopologyResources": True}}], False),
]


@rows(("profiles", "expected"), KAI_TOPOLOGIES)
def test_kais_topologies_are_made_where_kai_has_a_profile_that_does_not_opt_out(profiles: Any, expected: bool) -> None:
    assert Configuration({"scheduler": {"profiles": profiles}}).makes_kai_topologies is expected
