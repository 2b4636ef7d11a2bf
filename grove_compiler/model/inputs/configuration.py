"""The operator's configuration as rules see it, with the defaults of shipped semantics §1.13."""

from __future__ import annotations

from dataclasses import dataclass

from grove_compiler.graph.node import Manifest
from grove_compiler.version import __version__

DEFAULT_SCHEDULER = "default-scheduler"
DEFAULT_INIT_IMAGE = "grove-initc"
KAI = "kai-scheduler"


@dataclass(slots=True, eq=False)
class SchedulerProfile:
    """A scheduler that pods may name; `config` is its own part of the configuration."""

    name: str
    config: Manifest


@dataclass(slots=True, eq=False)
class Configuration:
    """What of an OperatorConfiguration decides which objects exist and what they look like.

    `init_image` is the whole reference of the start-up init container, tag included. `topology_levels` describe the default
    topology (GREP-244); without them there is none but those that are given.
    """

    profiles: list[SchedulerProfile]
    default_scheduler: str
    topology_enabled: bool
    mnnvl_enabled: bool
    init_image: str
    topology_levels: list[Manifest]
    manifest: Manifest

    @property
    def scheduler_names(self) -> list[str]:
        return [profile.name for profile in self.profiles]

    @property
    def marked_defaults(self) -> list[int]:
        """The indices of the profiles that say they are the default."""
        entries = (self.manifest.get("scheduler") or {}).get("profiles") or []
        return [index for index, entry in enumerate(entries) if entry.get("default")]

    @property
    def has_default_topology(self) -> bool:
        """Whether the operator makes the default topology."""
        return self.topology_enabled and bool(self.topology_levels)

    @property
    def makes_kai_topologies(self) -> bool:
        """Whether KAI is enabled and its Topology objects are ours to make: so unless `createTopologyResources` says no."""
        return any(profile.name == KAI and profile.config.get("createTopologyResources") is not False for profile in self.profiles)


def read_configuration(manifest: Manifest | None = None) -> Configuration:
    """A configuration from an OperatorConfiguration, or all its defaults without one.

    `default-scheduler` is a profile always, the last when the manifest does not list it. The default profile is the one that
    `defaultProfileName` names, or that is marked so (GREP-244). An image without tag or digest gets the program's version as its tag.
    """
    manifest = manifest or {}
    scheduler, topology = manifest.get("scheduler") or {}, manifest.get("topologyAwareScheduling") or {}
    entries = scheduler.get("profiles") or []
    profiles = [SchedulerProfile(entry.get("name") or "", entry.get("config") or {}) for entry in entries]
    marked = next((entry.get("name") for entry in entries if entry.get("default")), None)
    default = (scheduler.get("defaultProfileName") or marked if profiles else "") or DEFAULT_SCHEDULER
    if all(profile.name != DEFAULT_SCHEDULER for profile in profiles):
        profiles.append(SchedulerProfile(DEFAULT_SCHEDULER, {}))
    return Configuration(
        profiles=profiles,
        default_scheduler=default,
        topology_enabled=bool(topology.get("enabled")),
        mnnvl_enabled=bool((manifest.get("network") or {}).get("autoMNNVLEnabled")),
        init_image=_with_tag((manifest.get("initContainer") or {}).get("image") or DEFAULT_INIT_IMAGE),
        topology_levels=topology.get("levels") or [],
        manifest=manifest,
    )


def _with_tag(image: str) -> str:
    name = image.rpartition("/")[2]
    return image if ":" in name or "@" in name else f"{image}:v{__version__}"
