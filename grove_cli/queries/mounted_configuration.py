"""Finds the file that a container of an operator has its configuration from, in the ConfigMap that is mounted there."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from applier.cluster import Cluster, find
from applier.errors import Forbidden
from applier.ref import Kind, Manifest

if TYPE_CHECKING:
    from grove_cli.reading.files import InputFile

CONFIG_MAP = Kind("", "v1", "ConfigMap")
OPTION = "--config"


class MountedFile(NamedTuple):
    """A file of a container: the ConfigMap that is mounted there, and the key of its content."""

    config_map: str
    key: str


def mounted_configuration(deployment: Manifest) -> MountedFile | None:
    """Returns what the option `--config` of an operator's container names; none where that is no file of a ConfigMap."""
    spec = ((deployment.get("spec") or {}).get("template") or {}).get("spec") or {}
    volumes = {volume.get("name"): volume.get("configMap") for volume in spec.get("volumes") or ()}
    for container in spec.get("containers") or ():
        for path in _configurations([*(container.get("command") or ()), *(container.get("args") or ())]):
            for mount in container.get("volumeMounts") or ():
                if (source := volumes.get(mount.get("name"))) and (name := _name_within(path, mount)):
                    keys = {item.get("path"): item.get("key") for item in source.get("items") or ()}
                    return MountedFile(source.get("name") or "", keys.get(name, name))
    return None


async def read_mounted(cluster: Cluster, namespace: str, mounted: MountedFile) -> InputFile | None:
    """Returns the file, named after its ConfigMap; none where that is not there, or may not be read. Raises `ClusterError`."""
    from grove_cli.reading.files import InputFile

    try:
        found = await find(cluster, await cluster.resource(CONFIG_MAP), namespace, mounted.config_map)
    except Forbidden:
        return None
    text = ((found or {}).get("data") or {}).get(mounted.key)
    return InputFile(f"ConfigMap {namespace}/{mounted.config_map}#{mounted.key}", text.encode()) if isinstance(text, str) else None


def _configurations(words: Sequence[str]) -> Iterator[str]:
    """Yields the values of the option in a command line."""
    for word, following in pairwise([*words, ""]):
        if word == OPTION and following:
            yield following
        elif word.startswith(f"{OPTION}="):
            yield word.removeprefix(f"{OPTION}=")


def _name_within(path: str, mount: Manifest) -> str:
    """Returns the name that a path has in a mounted volume; empty if it is not in that."""
    folder = posixpath.normpath(mount.get("mountPath") or "/")
    if path == folder:
        return str(mount.get("subPath") or "")
    return path.removeprefix(f"{folder}/") if path.startswith(f"{folder}/") else ""
