"""Knows the folder of a development cluster: what is in it, and which process keeps the cluster.

The keeper holds the lock on the file `keeper` for as long as it lives, however it ends, and the file has its process id. So a process id
is only ever used while its process is the keeper: after a crash or a restart of the machine the lock is free.
"""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import shutil
import time
from pathlib import Path
from typing import Any, NamedTuple

import click

from grove_cli.cluster.session import Failed
from grove_cli.warm_cache import user_folder

TAKING = 2.0
"""Seconds in which a new keeper gets the lock, which others may hold for a moment, to see whether it is free."""

LEAVING = 10.0
"""Seconds in which servers end whose keeper has ended."""


class DevCluster(NamedTuple):
    """A cluster that is ready. `ended` are the processes that have ended by themselves since."""

    nodes: int
    gpus: int
    operator: bool
    kubernetes: str
    ended: tuple[str, ...] = ()


def _usual_path() -> Path | None:
    base = user_folder("XDG_STATE_HOME", ".local", "state")
    return Path(base) / "dev" if base else None


class Folder:
    """Represents the folder of a development cluster, which need not exist."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.keeper, self.starting, self.output = path / "keeper", path / "grove-dev.lock", path / "keeper.log"
        self.state, self.kubeconfig, self.configuration = path / "state.json", path / "kubeconfig", path / "operator.yaml"
        self.cluster, self.bin = path / "cluster", path / "bin"

    @classmethod
    def chosen(cls, given: str | None) -> Folder:
        """Returns the folder of `--folder`, else `grove/dev` in `$XDG_STATE_HOME` or `~/.local/state`.

        Raises `UsageError` for a user without a home.
        """
        path = Path(os.path.expanduser(given)).absolute() if given else _usual_path()
        if path is None:
            raise click.UsageError("the current user has no home directory; specify --folder")
        return cls(path)

    @property
    def option(self) -> str:
        """The option that names this folder to `grove dev`, after a space; nothing for the usual folder."""
        return "" if self.path == _usual_path() else f" --folder {shlex.quote(str(self.path))}"

    @property
    def logs(self) -> Path:
        """The folder of the logs of servers and operator."""
        return self.cluster / "logs"

    @property
    def is_ours(self) -> bool:
        """Whether `prepare` has created it. Of any other folder nothing is ever deleted."""
        return self.starting.exists()

    def prepare(self) -> None:
        """Creates the folder. Raises `Failed` for one that is somebody else's."""
        if self.path.is_dir() and not self.is_ours and any(self.path.iterdir()):
            raise Failed(f"{self.path} is not empty, and not a directory of `grove dev`: choose another one")
        self.path.mkdir(parents=True, exist_ok=True)
        self.path.chmod(0o700)  # tokens are in it
        self.starting.touch()

    def clear(self) -> None:
        """Deletes what a cluster leaves. Of one whose keeper was killed servers may write for another moment."""
        for folder in (self.cluster, self.bin):
            deadline = time.monotonic() + LEAVING
            while folder.exists() and time.monotonic() < deadline:
                shutil.rmtree(folder, ignore_errors=True)
        for file in (self.state, self.kubeconfig, self.configuration, self.output, self.keeper):
            file.unlink(missing_ok=True)

    def forget(self) -> None:
        """Deletes what `prepare` has created; the folder only if nothing of somebody else is in it."""
        if not self.is_ours:
            return
        self.starting.unlink(missing_ok=True)
        if self.path.is_dir() and not any(self.path.iterdir()):
            self.path.rmdir()

    def keep(self) -> bool:
        """Makes this process the keeper until it ends. Returns False where another one is."""
        file = os.open(self.keeper, os.O_RDWR | os.O_CREAT, 0o600)  # never closed: its end releases the lock
        deadline = time.monotonic() + TAKING
        while not _locked(file, fcntl.LOCK_EX):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        os.ftruncate(file, 0)
        os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
        return True

    def kept_by(self) -> int | None:
        """Returns the process id of the keeper; none where there is no keeper."""
        try:
            file = os.open(self.keeper, os.O_RDONLY)
        except FileNotFoundError:
            return None
        try:
            # Shared, so that whoever looks at the same time does not see a keeper in us.
            free = _locked(file, fcntl.LOCK_SH)
            text = b"" if free else os.pread(file, 32, 0)
        finally:
            os.close(file)
        return int(text) if text.strip().isdigit() else None

    def publish(self, state: DevCluster) -> None:
        """Writes that the cluster is ready, or what has changed of it."""
        partial = self.state.with_name(".state.json")
        partial.write_text(json.dumps(state._asdict()), "utf-8")
        partial.rename(self.state)

    def running(self) -> DevCluster | None:
        """Returns the cluster that is ready and still kept."""
        return self.ready() if self.kept_by() is not None else None

    def ready(self) -> DevCluster | None:
        """Returns the cluster that is ready; none where there is none, not yet, or in a file that is damaged: it is started anew then."""
        try:
            value: dict[str, Any] = json.loads(self.state.read_text("utf-8"))
            return DevCluster(**{**value, "ended": tuple(value["ended"])})
        except (FileNotFoundError, ValueError, TypeError, KeyError):
            return None


def _locked(file: int, kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
