"""Writes new tokens to a kubeconfig, and preserves everything else in it: comments, order and formatting."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import yaml

from applier.errors import CredentialsError

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{20,}")
"""Matches strings that need no quotes in YAML, as tokens do."""

TRIES, PAUSE = 40, 0.05  # seconds; kubectl holds its lock for less than their product


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Locks a kubeconfig against our other processes while logging in; does nothing if it cannot be locked.

    kubectl takes its lock only to write, and does not wait for it: held for as long as an issuer takes, it would make kubectl fail.
    """
    try:
        import fcntl

        file = path.open("rb")
    except (ImportError, OSError):
        yield
        return
    with file:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def write_back(path: Path, user: str, values: Mapping[str, str]) -> None:
    """Sets fields of a user's `auth-provider.config`, under kubectl's lock. Raises `CredentialsError`."""
    path = path.resolve()
    try:
        with _locked(path):
            text = path.read_bytes().decode("utf-8")
            _replace(path, _with(text, user, values))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, LookupError) as error:
        why = getattr(error, "strerror", None) or "it was changed in the meantime"
        raise CredentialsError(f"cannot save the new tokens in {path}: {str(why).lower()}") from None


def _with(text: str, user: str, values: Mapping[str, str]) -> str:
    """Returns the text of a kubeconfig with other values.

    Raises LookupError where there is no such user with an auth-provider, or where more would change.
    """
    expected = yaml.safe_load(text)
    _config_of(expected, user).update(values)
    node = _config_node(text, user)
    edits = [_edit(node, key, _scalar(value), text) for key, value in values.items()]
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    if yaml.safe_load(text) != expected:  # for instance with anchors that other places refer to
        raise LookupError(user)
    return text


def _config_of(content: Any, user: str) -> dict[str, Any]:
    try:
        config = next(row["user"]["auth-provider"]["config"] for row in content["users"] if str(row["name"]) == user)
    except (TypeError, KeyError, StopIteration):
        raise LookupError(user) from None
    if not isinstance(config, dict) or not config:
        raise LookupError(user)
    return config


def _config_node(text: str, user: str) -> yaml.MappingNode:
    """Returns the same part as a YAML node, with its position in the text."""
    users = _value(yaml.compose(text, yaml.SafeLoader), "users")
    assert isinstance(users, yaml.SequenceNode)
    row = next(one for one in users.value if getattr(_value(one, "name"), "value", "") == user)
    config = _value(_value(_value(row, "user"), "auth-provider"), "config")
    assert isinstance(config, yaml.MappingNode)
    return config


def _edit(config: yaml.MappingNode, key: str, new: str, text: str) -> tuple[int, int, str]:
    """Returns the start and end of the text to replace, and the replacement. A missing field becomes the first one."""
    old = _value(config, key)
    if old is not None:
        start, end = old.start_mark.index, old.end_mark.index
        before = " " if text[start - 1] == ":" else ""  # the field was empty
        after = "\n" if isinstance(old, yaml.ScalarNode) and old.style in ("|", ">") else ""  # a block scalar includes its last line break
        return start, end, before + new + after
    first = config.value[0][0].start_mark
    between = ", " if config.flow_style else "\n" + " " * first.column
    return first.index, first.index, f"{key}: {new}{between}"


def _scalar(value: str) -> str:
    """Encodes a string as YAML, on one line."""
    return value if PLAIN.fullmatch(value) else str(yaml.safe_dump(value, default_style='"', width=float("inf"))).strip()


def _value(node: yaml.Node | None, key: str) -> yaml.Node | None:
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return next((value for name, value in pairs if name.value == key), None)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Holds kubectl's lock on a kubeconfig: a file beside it that must not exist."""
    lock = path.with_name(f"{path.name}.lock")
    for left in reversed(range(TRIES)):
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL, 0))
            break
        except FileExistsError:
            if not left:
                what = f"{lock} exists; remove it if no kubectl is running"
                raise CredentialsError(f"cannot save the new tokens in {path}: {what}") from None
            time.sleep(PAUSE)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def _replace(path: Path, text: str) -> None:
    """Replaces a file atomically, with the same permissions."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, path.stat().st_mode & 0o777)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
