"""Models the operator's configuration as rules see it, with the defaults of shipped semantics §1.13."""

from __future__ import annotations

from dataclasses import field

from grove_compiler.graph.node import Manifest
from grove_compiler.model.declared import declared
from grove_compiler.model.lazy import lazy
from grove_compiler.record import record
from grove_compiler.version import __version__

DEFAULT_SCHEDULER = "default-scheduler"
DEFAULT_INIT_IMAGE = "grove-initc"
KAI = "kai-scheduler"


@record
class EnabledScheduler:
    """A scheduler that pods may name; `config` is its section of the configuration."""

    name: str
    config: Manifest


@record(slots=False)
class Configuration:
    """The part of an OperatorConfiguration that decides which objects exist and what they look like; all defaults without one.

    Attributes are computed lazily, so that `explain` learns which fields of the manifest each of them depends on.
    """

    manifest: Manifest = field(default_factory=dict)

    topology_enabled = declared(bool, "topologyAwareScheduling.enabled")
    topology_levels = declared(list[Manifest], "topologyAwareScheduling.levels", "Those of the default topology (GREP-244).")
    mnnvl_enabled = declared(bool, "network.autoMNNVLEnabled")
    _entries = declared(list[Manifest], "scheduler.profiles")
    init_container = declared(Manifest, "initContainer", "The start-up init container.")

    @lazy
    def profiles(self) -> list[EnabledScheduler]:
        """The profiles; `default-scheduler` is always among them, as the last one when the manifest does not list it."""
        profiles = [EnabledScheduler(entry.get("name") or "", entry.get("config") or {}) for entry in self._entries]
        if all(profile.name != DEFAULT_SCHEDULER for profile in profiles):
            profiles.append(EnabledScheduler(DEFAULT_SCHEDULER, {}))
        return profiles

    @lazy
    def default_scheduler(self) -> str:
        """The name of the default profile: `defaultProfileName`, else the profile with `default: true` (GREP-244)."""
        if not self._entries:
            return DEFAULT_SCHEDULER
        marked = next((entry.get("name") for entry in self._entries if entry.get("default")), None)
        return self.manifest["scheduler"].get("defaultProfileName") or marked or DEFAULT_SCHEDULER

    def with_default_scheduler(self, name: str) -> Configuration:
        """Returns the configuration of a set whose pods have this default scheduler, as long as that is configured at all.

        A gang is scheduled by one scheduler: a pod that comes later, by another default, would wait for the others for ever.
        """
        if name == self.default_scheduler or name not in self.scheduler_names:
            return self
        if name not in self._with_default:
            scheduler = {**self.manifest["scheduler"], "defaultProfileName": name}
            self._with_default[name] = Configuration({**self.manifest, "scheduler": scheduler})
        return self._with_default[name]

    @lazy
    def _with_default(self) -> dict[str, Configuration]:
        return {}

    @lazy
    def init_image(self) -> str:
        """The image of the start-up init container; without tag or digest, the program's version is its tag."""
        image = self.init_container.get("image") or DEFAULT_INIT_IMAGE
        name = image.rpartition("/")[2]
        return image if ":" in name or "@" in name else f"{image}:v{__version__}"

    @property
    def scheduler_names(self) -> list[str]:
        return [profile.name for profile in self.profiles]

    @property
    def marked_defaults(self) -> list[int]:
        """The indices of the profiles with `default: true`."""
        return [index for index, entry in enumerate(self._entries) if entry.get("default")]

    @property
    def has_default_topology(self) -> bool:
        """Whether the operator makes the default topology."""
        return self.topology_enabled and bool(self.topology_levels)

    @property
    def makes_kai_topologies(self) -> bool:
        """Whether KAI is enabled and we make its Topology objects, which `createTopologyResources: false` turns off."""
        return any(profile.name == KAI and profile.config.get("createTopologyResources") is not False for profile in self.profiles)
