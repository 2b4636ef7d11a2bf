"""Defaults and validation of the configuration: shipped semantics §1.13, GREP-244."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from grove_compiler.api.operatorconfiguration import OperatorConfiguration
from grove_compiler.kube.defaults import apply_defaults
from grove_compiler.kube.grove_schema import DEFINITIONS, KINDS
from grove_compiler.kube.structure import check

from .manifests import changed, table_faults

EMPTY = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration"}
SCHEMA = KINDS["operator.config.grove.io/v1alpha1", "OperatorConfiguration"]

DEFAULTS = {
    "runtimeClientConnection": {"qps": 100, "burst": 120, "contentType": "", "acceptContentTypes": ""},
    "leaderElection": {
        "enabled": False,
        "leaseDuration": "15s",
        "renewDeadline": "10s",
        "retryPeriod": "2s",
        "resourceLock": "leases",
        "resourceName": "grove-operator-leader-election",
        "resourceNamespace": "",
    },
    "server": {
        "webhooks": {
            "bindAddress": "",
            "port": 2750,
            "serverCertDir": "/etc/grove-operator/webhook-certs",
            "secretName": "grove-webhook-server-cert",
            "certProvisionMode": "auto",
        },
        "healthProbes": {"bindAddress": "", "port": 2751},
        "metrics": {"bindAddress": "", "port": 2752},
    },
    "controllers": {
        "podCliqueSet": {"concurrentSyncs": 10},
        "podClique": {"concurrentSyncs": 10},
        "podCliqueScalingGroup": {"concurrentSyncs": 5},
        "podGang": {"concurrentSyncs": 5},
    },
    "logLevel": "info",
    "logFormat": "json",
    "authorizer": {"enabled": False},
    "topologyAwareScheduling": {"enabled": False},
    "network": {"autoMNNVLEnabled": False},
    "initContainer": {"image": "grove-initc"},
}


def read(manifest: dict[str, Any]) -> dict[str, Any]:
    return OperatorConfiguration.model_validate(manifest).model_dump(mode="json", exclude_none=True)


def refusal(manifest: dict[str, Any]) -> tuple[tuple[str | int, ...], str]:
    with pytest.raises(ValidationError) as caught:
        OperatorConfiguration.model_validate(manifest)
    (fault,) = caught.value.errors()
    return fault["loc"], fault["msg"].removeprefix("Value error, ")


def test_an_empty_file_has_all_defaults() -> None:
    scheduler = {"profiles": [{"name": "default-scheduler"}], "defaultProfileName": "default-scheduler"}
    assert read(EMPTY) == {**EMPTY, **DEFAULTS, "scheduler": scheduler}


def test_the_table_has_the_same_defaults_but_for_those_of_the_schedulers() -> None:
    assert apply_defaults(EMPTY, SCHEMA, DEFINITIONS) == {**EMPTY, **DEFAULTS, "scheduler": {"defaultProfileName": ""}}


def test_a_file_with_all_defaults_needs_nothing() -> None:
    whole = apply_defaults(EMPTY, SCHEMA, DEFINITIONS)
    assert apply_defaults(whole, SCHEMA, DEFINITIONS) is whole


def test_a_section_that_says_one_thing_keeps_its_other_defaults() -> None:
    manifest = changed(EMPTY, "server.metrics", {"port": 9})
    assert read(manifest)["server"]["metrics"] == {"bindAddress": "", "port": 9}
    assert apply_defaults(manifest, SCHEMA, DEFINITIONS)["server"]["metrics"] == {"port": 9, "bindAddress": ""}


def test_debugging_has_defaults_only_when_it_is_there() -> None:
    assert "debugging" not in read(EMPTY)
    assert read(changed(EMPTY, "debugging", {}))["debugging"] == {"pprofBindHost": "127.0.0.1", "pprofBindPort": 2753}


@pytest.mark.parametrize("path", ["colour", "authorizer.reconcilerServiceAccountUserName", "server.webhooks.colour"])
def test_an_unknown_key_is_a_warning(path: str) -> None:
    manifest = changed(EMPTY, path, "x")
    assert read(manifest) == read(EMPTY)
    assert [(finding.path, finding.severity) for _, finding in check(manifest, SCHEMA, DEFINITIONS)] == [(path, "warning")]


BAD = {
    "a burst below zero": ("runtimeClientConnection.burst", -1),
    "no worker": ("controllers.podGang.concurrentSyncs", 0),
    "an unknown log level": ("logLevel", "warn"),
    "an unknown log format": ("logFormat", "xml"),
    "an unknown way to certificates": ("server.webhooks.certProvisionMode", "magic"),
    "a port that is none": ("server.metrics.port", 65536),
    "a duration without a unit": ("leaderElection.leaseDuration", "15"),
    "text for a switch": ("network.autoMNNVLEnabled", "yes"),
    "an unknown scheduler": ("scheduler.profiles", [{"name": "slurm"}]),
    "a profile without a name": ("scheduler.profiles", [{}]),
    "a level that the designs do not have": ("topologyAwareScheduling.levels", [{"domain": "cage", "key": "k"}]),
    "another version": ("apiVersion", "operator.config.grove.io/v1"),
}


@pytest.mark.parametrize(("path", "value"), BAD.values(), ids=BAD)
def test_refused_by_the_model(path: str, value: Any) -> None:
    location, _ = refusal(changed(EMPTY, path, value))
    assert ".".join(map(str, location)).startswith(path)


@pytest.mark.parametrize(("path", "value"), [case for case in BAD.values() if case[0] != "apiVersion"])
def test_refused_by_the_table(path: str, value: Any) -> None:
    (fault,) = table_faults(changed(EMPTY, path, value))
    assert fault.startswith(path)


LEADER = {
    "a lease no longer than its renewal": ({"leaseDuration": "10s"}, "leaseDuration must be greater than renewDeadline"),
    "a lease of no time": ({"leaseDuration": "0s"}, "leaseDuration must be greater than 0"),
    "a renewal of no time": ({"renewDeadline": "-1s"}, "renewDeadline must be greater than 0"),
    "a retry of no time": ({"retryPeriod": "0"}, "retryPeriod must be greater than 0"),
    "no lock": ({"resourceLock": ""}, "resourceLock is required"),
    "no name": ({"resourceName": ""}, "resourceName is required"),
}


@pytest.mark.parametrize(("section", "message"), LEADER.values(), ids=LEADER)
def test_leader_election_refused(section: dict[str, Any], message: str) -> None:
    assert refusal({**EMPTY, "leaderElection": {"enabled": True, **section}}) == (("leaderElection",), message)


@pytest.mark.parametrize("section", [section for section, _ in LEADER.values()], ids=LEADER)
def test_leader_election_that_is_off_is_not_looked_at(section: dict[str, Any]) -> None:
    assert (
        read({**EMPTY, "leaderElection": section})["leaderElection"] | section
        == read({**EMPTY, "leaderElection": section})["leaderElection"]
    )


PROFILES: dict[str, tuple[dict[str, Any], list[str], str]] = {
    "default-scheduler is added at the end": (
        {"profiles": [{"name": "kai-scheduler"}]},
        ["kai-scheduler", "default-scheduler"],
        "default-scheduler",
    ),
    "an order is kept": (
        {"profiles": [{"name": "default-scheduler"}, {"name": "volcano"}], "defaultProfileName": "volcano"},
        ["default-scheduler", "volcano"],
        "volcano",
    ),
    "a profile can call itself the default": (
        {"profiles": [{"name": "kai-scheduler", "default": True}]},
        ["kai-scheduler", "default-scheduler"],
        "kai-scheduler",
    ),
    "the name of the default wins": (
        {"profiles": [{"name": "kai-scheduler", "default": True}], "defaultProfileName": "default-scheduler"},
        ["kai-scheduler", "default-scheduler"],
        "default-scheduler",
    ),
    "an empty list is as none": ({"profiles": []}, ["default-scheduler"], "default-scheduler"),
}


@pytest.mark.parametrize(("section", "names", "default"), PROFILES.values(), ids=PROFILES)
def test_profiles(section: dict[str, Any], names: list[str], default: str) -> None:
    scheduler = OperatorConfiguration.model_validate({**EMPTY, "scheduler": section}).scheduler
    assert ([profile.name for profile in scheduler.profiles], scheduler.default_profile_name) == (names, default)


BAD_PROFILES: dict[str, tuple[dict[str, Any], str, str]] = {
    "a profile twice": (
        {"profiles": [{"name": "volcano"}, {"name": "volcano"}]},
        "profiles",
        "profile names must be unique: volcano",
    ),
    "a default that is no profile": ({"defaultProfileName": "volcano"}, "defaultProfileName", "volcano is none of the profiles"),
    "two defaults": (
        {"profiles": [{"name": "volcano", "default": True}, {"name": "kai-scheduler", "default": True}]},
        "profiles",
        "only one profile can be the default",
    ),
}


@pytest.mark.parametrize(("section", "field", "message"), BAD_PROFILES.values(), ids=BAD_PROFILES)
def test_profiles_refused(section: dict[str, Any], field: str, message: str) -> None:
    assert refusal({**EMPTY, "scheduler": section}) == (("scheduler", field), message)


def test_a_profile_has_the_settings_of_its_scheduler() -> None:
    profiles = [{"name": "kai-scheduler", "config": {"createTopologyResources": False}}]
    (kai, _) = OperatorConfiguration.model_validate({**EMPTY, "scheduler": {"profiles": profiles}}).scheduler.profiles
    assert kai.config is not None
    assert (kai.config.create_topology_resources, kai.config.gang_scheduling) == (False, None)


ZONE, HOST = {"domain": "zone", "key": "zone"}, {"domain": "host", "key": "host"}
BAD_LEVELS = {
    "no level": ([], "levels must have at least one level"),
    "a domain twice": ([ZONE, {**HOST, "domain": "zone"}], "domain must be unique across all levels: zone"),
    "a key twice": ([ZONE, {**HOST, "key": "zone"}], "key must be unique across all levels: zone"),
}


@pytest.mark.parametrize(("levels", "message"), BAD_LEVELS.values(), ids=BAD_LEVELS)
def test_levels_refused(levels: list[dict[str, str]], message: str) -> None:
    section = {"enabled": True, "levels": levels}
    assert refusal({**EMPTY, "topologyAwareScheduling": section}) == (("topologyAwareScheduling",), message)


@pytest.mark.parametrize("levels", [levels for levels, _ in BAD_LEVELS.values()], ids=BAD_LEVELS)
def test_levels_that_are_off_are_not_compared(levels: list[dict[str, str]]) -> None:
    assert read({**EMPTY, "topologyAwareScheduling": {"levels": levels}})["topologyAwareScheduling"]["levels"] == levels


@pytest.mark.parametrize("section", [{"enabled": True}, {"enabled": True, "levels": [ZONE, HOST]}])
def test_topology_aware_scheduling_with_and_without_a_default_topology(section: dict[str, Any]) -> None:
    assert read({**EMPTY, "topologyAwareScheduling": section})["topologyAwareScheduling"] == section
