"""Finds kubeconfig files, merges them by kubectl's rules, and chooses a context."""

from __future__ import annotations

import base64
import difflib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import yaml

from applier.errors import CredentialsError

MAX_FILE = 16 << 20
"""The most bytes of a file that are read."""
DEEPEST = 100
"""The deepest nesting of lists and maps that is accepted; a kubeconfig has about five levels."""


class KubeconfigEntry(NamedTuple):
    """Holds a cluster, user or context with its file: paths in it are relative to that file's folder."""

    value: dict[str, Any]
    file: Path
    label: str = ""  # what to call it in errors

    def __repr__(self) -> str:
        """Omits the value, which contains secrets."""
        return f"<{self.label or 'an entry'}>"

    def text(self, key: str) -> str:
        """Returns a string field; empty if missing. Accepts numbers: YAML reads some passwords as such. Raises `CredentialsError`."""
        given = self.value.get(key)
        if given is None or isinstance(given, str):
            return given or ""
        raise CredentialsError(f"the {key} of {self.label} is not a string in YAML; put it in quotes")

    def flag(self, key: str) -> bool:
        """Returns a boolean field; false if it is missing. Raises `CredentialsError`."""
        given = self.value.get(key)
        if given is None or isinstance(given, bool):
            return bool(given)
        raise CredentialsError(f"{self.label} has {key}: {given!r}; expected true or false, without quotes")

    def texts(self, key: str) -> list[str]:
        """Returns a field that is a list of strings; empty if it is missing. Raises `CredentialsError`."""
        given = self.value.get(key)
        if given is None or (isinstance(given, list) and all(isinstance(one, str) for one in given)):
            return given or []
        raise CredentialsError(f"the {key} of {self.label} must be a list of strings; put numbers in quotes")

    def path(self, key: str) -> Path | None:
        """Returns the path in a field; None if it is empty."""
        given = self.text(key)
        return self.file.parent / given if given else None

    def content(self, key: str) -> str:
        """Returns the text of the file in a field; empty without one. Raises `CredentialsError`, also for an empty file."""
        path = self.path(key)
        return read_text(path, f"the {key} of {self.label}") if path else ""

    def pem(self, key: str) -> str:
        """Returns a certificate or key in PEM form, from `KEY-data`, which takes precedence, or from a file; empty without either.

        Raises `CredentialsError`.
        """
        if data := self.text(f"{key}-data"):
            try:
                return base64.b64decode("".join(data.split()), validate=True).decode("ascii")
            except ValueError:  # invalid Base64, or not ASCII
                raise CredentialsError(f"the {key}-data of {self.label} is not PEM text in base64") from None
        return self.content(key)


def read_text(path: Path, label: str) -> str:
    """Reads the text of a file; `label` names it in errors.

    Raises `CredentialsError`, for an empty file too: there is no certificate in it.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CredentialsError(f"cannot read {label}: {path}: {getattr(error, 'strerror', None) or 'not text'}") from None
    if not text.strip():
        raise CredentialsError(f"{label} is empty: {path}")
    return text


@dataclass(slots=True, eq=False)
class Kubeconfig:
    """Merges several files. Of entries with the same name the first counts, and so does the first `current-context`."""

    files: list[Path] = field(default_factory=list)
    clusters: dict[str, KubeconfigEntry] = field(default_factory=dict)
    users: dict[str, KubeconfigEntry] = field(default_factory=dict)
    contexts: dict[str, KubeconfigEntry] = field(default_factory=dict)
    current: str = ""

    @property
    def label(self) -> str:
        """Returns the names of the files, for errors."""
        return os.pathsep.join(map(str, self.files))


NO_OVERRIDES: Mapping[str, Any] = MappingProxyType({})

REPLACES: Mapping[str, tuple[str, ...]] = {"token": ("tokenFile", "username", "password"), "as": ("as-uid", "as-groups", "as-user-extra")}
"""The fields of a user that a field from the command line replaces: those of one way to authenticate, or of one impersonation."""


class Chosen(NamedTuple):
    """Holds a context with its cluster and user. `label` names it in errors; `files` are all that were read, in order.

    `overrides` are fields of the user that a command line gives, and that hold however often the files are read.
    """

    context: str
    namespace: str
    cluster: KubeconfigEntry
    user: KubeconfigEntry
    label: str
    files: tuple[Path, ...] = ()
    overrides: Mapping[str, Any] = NO_OVERRIDES

    def overridden(self) -> Chosen:
        """Returns the context with the fields of the user from the command line in place of the file's."""
        if not self.overrides:
            return self
        dropped = {key for key in self.overrides for key in REPLACES.get(key, ())}
        kept = {key: value for key, value in self.user.value.items() if key not in dropped}
        return self._replace(user=self.user._replace(value={**kept, **self.overrides}))


def locate(kubeconfig: str, environment: Mapping[str, str]) -> list[Path]:
    """Returns the kubeconfig files to read: the given one, else those of KUBECONFIG, else `~/.kube/config`.

    Missing ones are left out. Raises `CredentialsError` when the one asked for is missing.
    """
    if kubeconfig:
        path = Path(kubeconfig).expanduser()
        if not path.exists():
            raise CredentialsError(f"there is no kubeconfig {path}")
        return [path]
    if named := environment.get("KUBECONFIG"):
        paths = [Path(path).expanduser() for path in dict.fromkeys(named.split(os.pathsep)) if path]
    else:
        paths = [Path(environment.get("HOME") or "~").expanduser() / ".kube" / "config"]
    return [path for path in paths if path.exists()]


def read(paths: Iterable[Path]) -> Kubeconfig:
    """Reads and merges files. Raises `CredentialsError`."""
    merged = Kubeconfig()
    for path in paths:
        given = _load(path)
        merged.files.append(path)
        merged.current = merged.current or str(given.get("current-context") or "")
        for plural, kept in (("clusters", merged.clusters), ("users", merged.users), ("contexts", merged.contexts)):
            for name, entry in _entries(given, plural, path).items():
                kept.setdefault(name, entry)
    return merged


def _load(path: Path) -> dict[str, Any]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        with path.open("rb") as stream:
            text = stream.read(MAX_FILE + 1)
        if len(text) > MAX_FILE:
            raise CredentialsError(f"the kubeconfig {path} is larger than {MAX_FILE >> 20} MiB, the limit of kubeconfigs")
        if _may_nest(text) and _nests(text, loader):
            raise CredentialsError(f"the kubeconfig {path} is nested too deeply")
        given = yaml.load(text, loader)
    except OSError as error:
        raise CredentialsError(f"cannot read the kubeconfig {path}: {(error.strerror or str(error)).lower()}") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        raise CredentialsError(f"the kubeconfig {path} is not YAML{where}: {getattr(error, 'problem', None) or 'unreadable'}") from None
    except ValueError as error:  # of a value: a number of thousands of digits, a day that no calendar has
        raise CredentialsError(f"the kubeconfig {path} has a value that cannot be read: {str(error).partition(';')[0].lower()}") from None
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise CredentialsError(f"the kubeconfig {path} is not a map with clusters, users and contexts")
    return given


def _may_nest(text: bytes) -> bool:
    """Reports whether a text has enough brackets and dashes to nest too deeply; saves parsing twice, since it nearly never has."""
    return text.count(b"[") + text.count(b"{") + text.count(b"- ") + text.count(b"? ") > DEEPEST


def _nests(text: bytes, loader: Any) -> bool:
    """Reports whether values are nested too deeply for libyaml, which would crash the process."""
    depth = 0
    for event in yaml.parse(text, loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            return True
    return False


def _entries(given: dict[str, Any], plural: str, path: Path) -> dict[str, KubeconfigEntry]:
    """Returns the clusters, users or contexts of a file by name."""
    rows = given.get(plural) or []
    if not isinstance(rows, list):
        raise CredentialsError(f"the {plural} of the kubeconfig {path} must be a list")
    singular = plural[:-1]
    entries: dict[str, KubeconfigEntry] = {}
    for number, row in enumerate(rows):
        if not isinstance(row, dict) or not row.get("name"):
            raise CredentialsError(f"the kubeconfig {path} has a {singular} without a name: {plural}[{number}]")
        name, value = str(row["name"]), row.get(singular) or {}
        if not isinstance(value, dict):
            raise CredentialsError(f"the kubeconfig {path} has a {singular} {name!r} that is not a map")
        if name in entries:
            raise CredentialsError(f"the kubeconfig {path} has two {plural} {name!r}; remove or rename one")
        entries[name] = KubeconfigEntry(value, path, f"{singular} {name!r} of {path}")
    return entries


def choose(config: Kubeconfig, context: str, overrides: Mapping[str, Any] = NO_OVERRIDES) -> Chosen:
    """Returns a context by name, or the current one, with the fields of its user from the command line.

    Raises `CredentialsError` with the nearest name that exists.
    """
    name = context or config.current
    if not config.contexts:
        raise CredentialsError(f"{config.label} has no context, so no cluster is selected")
    if not name:
        raise CredentialsError(f"{config.label} has no current-context; choose one: {_listed(config.contexts)}")
    if name not in config.contexts:
        problem = "there is no context" if context else "its current-context is"
        rest = "" if context else ", which does not exist"
        raise CredentialsError(f"{config.label}: {problem} {name!r}{rest}{_nearest(name, config.contexts)}")
    entry = config.contexts[name]
    label = f"context {name!r} of {entry.file}"
    cluster = _named(config.clusters, entry, "cluster", label)
    server = cluster.text("server")
    if not server or ("://" in server and not server.startswith(("https://", "http://"))):
        what = f"has the server {server!r}" if server else "has no server"
        raise CredentialsError(f"{label}: its cluster {what}; an address begins with https:// (or http://)")
    user_name = str(entry.value.get("user") or "")
    user = _named(config.users, entry, "user", label) if user_name else KubeconfigEntry({}, entry.file, "nobody")
    namespace = entry.text("namespace") or "default"
    return Chosen(name, namespace, cluster, user, label, tuple(config.files), overrides).overridden()


def _named(entries: dict[str, KubeconfigEntry], context: KubeconfigEntry, what: str, label: str) -> KubeconfigEntry:
    name = str(context.value.get(what) or "")
    if not name:
        raise CredentialsError(f"{label} names no {what}")
    if name not in entries:
        raise CredentialsError(f"{label} is for {what} {name!r}, which does not exist{_nearest(name, entries)}")
    return entries[name]


def _nearest(name: str, names: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(names), n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; there are: {_listed(names)}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
