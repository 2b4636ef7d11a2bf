"""The operator's configuration as rules see it, with the defaults of shipped semantics §1.13."""

from __future__ import annotations

from dataclasses import dataclass

from grove_compiler.graph.node import Manifest
from grove_compiler.version import __version__

DEFAULT_SCHEDULER = "default-scheduler"
DEFAULT_INIT_IMAGE = "grove-initc"


@dataclass(slots=True, eq=False)
class SchedulerProfile:
    """A scheduler that pods may name; `config` is its own part of the configuration."""

    name: str
    config: Manifest


@dataclass(slots=True, eq=False)
class Configuration:
    """What of an OperatorConfiguration decides which objects exist and what they look like.

    `init_image` is the whole reference of the start-up init container, tag included; the shipped operator takes it from an
    environment variable, so it is no field of the manifest.
    """

    profiles: list[SchedulerProfile]
    default_scheduler: str
    topology_enabled: bool
    mnnvl_enabled: bool
    init_image: str

    @property
    def scheduler_names(self) -> list[str]:
        return [profile.name for profile in self.profiles]


def read_configuration(manifest: Manifest | None = None, init_image: str = "") -> Configuration:
    """A configuration from an OperatorConfiguration, or all its defaults without one.

    `default-scheduler` is a profile always, the last when the manifest does not list it. An `init_image` without tag or digest
    gets the program's version as its tag.
    """
    manifest = manifest or {}
    scheduler = manifest.get("scheduler") or {}
    profiles = [SchedulerProfile(entry.get("name") or "", entry.get("config") or {}) for entry in scheduler.get("profiles") or []]
    default = (scheduler.get("defaultProfileName") if profiles else "") or DEFAULT_SCHEDULER
    if all(profile.name != DEFAULT_SCHEDULER for profile in profiles):
        profiles.append(SchedulerProfile(DEFAULT_SCHEDULER, {}))
    return Configuration(
        profiles=profiles,
        default_scheduler=default,
        topology_enabled=bool((manifest.get("topologyAwareScheduling") or {}).get("enabled")),
        mnnvl_enabled=bool((manifest.get("network") or {}).get("autoMNNVLEnabled")),
        init_image=_with_tag(init_image or DEFAULT_INIT_IMAGE),
    )


def _with_tag(image: str) -> str:
    name = image.rpartition("/")[2]
    return image if ":" in name or "@" in name else f"{image}:v{__version__}"
