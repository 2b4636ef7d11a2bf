"""Caches compiled rules between processes.

An entry contains marshalled Python code, so it is only trusted if its folder belongs to the user and is not writable for others; otherwise
the rules are compiled again. Truncated entries are detected by the reader, as a program begins with its checksum. A second checksum here
would take 0.9 ms of each start.
"""

from __future__ import annotations

import os
import stat

SUFFIX = ".grove-rules"
MAX_ENTRIES = 24


def folder() -> str:
    """Returns `$GROVE_CACHE_DIR`, else `grove` in `$XDG_CACHE_HOME` or `~/.cache`; empty for a user without a home, who gets no cache."""
    return os.environ.get("GROVE_CACHE_DIR") or user_folder("XDG_CACHE_HOME", ".cache")


def user_folder(variable: str, *usual: str) -> str:
    """Returns `grove` in a base directory of the XDG specification, by its variable or as usual in the home; empty without a home."""
    base = os.environ.get(variable) or ""
    if not os.path.isabs(base):  # the specification says to ignore relative paths
        base = os.path.join(os.path.expanduser("~"), *usual)
    return os.path.join(base, "grove") if os.path.isabs(base) else ""


def read(name: str) -> bytes | None:
    """Returns the content of an entry; none if it does not exist or cannot be trusted."""
    where = folder()
    try:
        if not _is_ours_alone(os.stat(where)):
            return None
        return _read_file(os.path.join(where, name + SUFFIX), check_owner=True)
    except OSError:
        return None


def read_installed(path: str) -> bytes | None:
    """Returns the content of an entry that was installed with the program and is trusted as its code is."""
    try:
        return _read_file(path, check_owner=False)
    except OSError:
        return None


def store(name: str, content: bytes) -> bool:
    """Writes an entry atomically. Returns False if that is not possible."""
    where = folder()
    temporary = os.path.join(where, f".{name}.{os.getpid()}{SUFFIX}")
    try:
        os.makedirs(where, mode=0o700, exist_ok=True)
        if not _is_ours_alone(os.stat(where)):
            return False
        _write_file(temporary, content)
        os.replace(temporary, os.path.join(where, name + SUFFIX))
        _forget_oldest(where)
    except OSError:
        _remove(temporary)
        return False
    return True


def _is_ours_alone(status: os.stat_result) -> bool:
    if not hasattr(os, "geteuid"):  # Windows, where the access list of the profile folder protects it
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _read_file(path: str, *, check_owner: bool) -> bytes:
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(handle, "rb", buffering=0) as stream:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or (check_owner and not _is_ours_alone(status)):
            raise PermissionError(path)
        return stream.read()


def _write_file(path: str, content: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags, 0o600), "wb") as stream:
        stream.write(content)


def _forget_oldest(where: str) -> None:
    """Deletes all but the newest entries, as each edit of a rule creates one. Other files in the folder stay."""
    with os.scandir(where) as entries:
        ours = [entry for entry in entries if entry.name.endswith(SUFFIX)]
        dated = sorted((entry.stat(follow_symlinks=False).st_mtime_ns, entry.path) for entry in ours)
    for _, path in dated[:-MAX_ENTRIES]:
        _remove(path)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return
