"""Runs an exec plugin: a program that returns a token or a client certificate (client.authentication.k8s.io); renews what it returned.

The implementation in the `kubernetes` package is not used: it lets plugins read our standard input, hides their prompts from users, has no
time-out, ignores `interactiveMode` and an authority in a file, and takes 0.4 s to import.
"""

from __future__ import annotations

import asyncio
import base64
import datetime
import json
import os
import re
import shutil
import subprocess
import sys
from asyncio.subprocess import Process
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, NamedTuple

from applier.errors import CredentialsError
from applier.transport.clocks import certificate_times
from applier.transport.login.credentials import bearer
from applier.transport.login.kubeconfig import Chosen, KubeconfigEntry

EARLY = 60.0  # seconds before their expiry that credentials are renewed; half of their remaining life if that is shorter
MIN_INTERVAL = 5.0  # seconds between two renewals, whatever the expiry


class Granted(NamedTuple):
    """Holds issued credentials. `pair` is a client certificate and its key; `until` is the expiry, None without one."""

    header: str
    pair: tuple[str, str]
    until: datetime.datetime | None

    def __repr__(self) -> str:
        """Omits the secrets."""
        return f"<granted until {self.until}>"


def utc_now() -> datetime.datetime:
    """Returns the current time of this machine."""
    return datetime.datetime.now(datetime.UTC)


class Plugin:
    """Issues credentials by `issue` at the first request, and again before they expire. `issue` raises `CredentialsError`."""

    def __init__(self, issue: Callable[[], Awaitable[Granted]], now: Callable[[], datetime.datetime] = utc_now) -> None:
        self.issue, self.now = issue, now
        self.granted: Granted | None = None
        self.pair = ("", "")
        self._renew_at: datetime.datetime | None = None

    def authorization(self) -> str:
        """Returns the Authorization header of the last credentials; empty before the first."""
        return self.granted.header if self.granted else ""

    def due(self) -> bool:
        """Reports whether there are no credentials yet, or they expire soon."""
        return self.granted is None or (self._renew_at is not None and self.now() >= self._renew_at)

    async def renew(self) -> bool:
        """Issues credentials; returns whether they differ from the last ones.

        Raises `CredentialsError`, unless this is an early renewal of credentials that are still valid, which is tried again later.
        """
        before, early = self.granted, self.due()
        try:
            self.granted = await self.issue()
        except CredentialsError:
            if not (early and before and before.until and before.until > self.now()):
                raise
            self._renew_at = self.now() + datetime.timedelta(seconds=MIN_INTERVAL)
            return False
        self.pair = self.granted.pair
        self._renew_at = self._next_renewal()
        return before is None or before[:2] != self.granted[:2]

    def _next_renewal(self) -> datetime.datetime | None:
        """Returns when to renew. A plugin that caches its token returns it until it expires: each renewal then halves the wait."""
        assert self.granted is not None
        if self.granted.until is None:
            return None
        now = self.now()
        left = (self.granted.until - now).total_seconds()
        least = min(MIN_INTERVAL, left) if left > 0 else MIN_INTERVAL  # expired by our clock, perhaps not by the server's
        return now + datetime.timedelta(seconds=max(left - EARLY, left / 2, least))


VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
MODES = ("Never", "IfAvailable", "Always")
EXTENSION = "client.authentication.k8s.io/exec"
TIMEOUT = 60.0  # seconds that a plugin may take
INTERACTIVE_TIMEOUT = 300.0  # seconds that it may take if a person has to log in
KILL_TIMEOUT = 1.0  # seconds to wait for a killed plugin
TAIL = 300  # characters of a plugin's last output in errors


class ExecPlugin:
    """Runs the exec plugin of a context's user. Raises `CredentialsError` for an invalid configuration."""

    def __init__(self, chosen: Chosen, timeout: float = TIMEOUT) -> None:
        value = chosen.user.value["exec"]
        self.chosen, self.timeout = chosen, timeout
        self.given = KubeconfigEntry(value if isinstance(value, dict) else {}, chosen.user.file, f"the exec plugin of {chosen.label}")
        self.command, self.version = self.given.text("command"), self.given.text("apiVersion")
        self.mode = self.given.text("interactiveMode") or "IfAvailable"
        self.label = f"{chosen.label}: its exec plugin {self.command!r}"
        if not self.command:
            raise CredentialsError(f"{chosen.label}: its exec plugin has no command")
        if self.version not in VERSIONS:
            named = f"has the apiVersion {self.version!r}" if self.version else "has no apiVersion"
            raise CredentialsError(f"{self.label} {named}; {' and '.join(VERSIONS)} are supported")
        if self.mode not in MODES:
            raise CredentialsError(f"{self.label} has the interactiveMode {self.mode!r}; expected one of {', '.join(MODES)}")
        self.arguments, self.environment = self.given.texts("args"), self._variables()

    def _variables(self) -> dict[str, str]:
        rows = self.given.value.get("env") or []
        if not isinstance(rows, list) or not all(isinstance(row, dict) and row.get("name") for row in rows):
            raise CredentialsError(f"{self.label} has an env that is not a list of named variables")
        entries = [KubeconfigEntry(row, self.given.file, f"the environment of {self.given.label}") for row in rows]
        return {entry.text("name"): entry.text("value") for entry in entries}

    async def run(self) -> Granted:
        """Runs the plugin and parses its output. Kills it when cancelled."""
        interactive = self._interactive()
        on_terminal = sys.stderr is not None and sys.stderr.isatty()  # then its messages go there directly
        limit = INTERACTIVE_TIMEOUT if interactive or on_terminal else self.timeout
        process = await self._start(interactive, on_terminal)
        messages = bytearray()
        try:
            async with asyncio.timeout(limit):
                answer, _ = await asyncio.gather(_all_of(process.stdout, bytearray()), _all_of(process.stderr, messages))
                code = await process.wait()
        except TimeoutError:
            last = _quoted(messages)
            raise CredentialsError(f"{self.label} has not finished after {limit:g} s{last}; does it wait for a login?") from None
        finally:
            await _end(process)
        if code:
            how = f"was ended by signal {-code}" if code < 0 else f"failed with exit code {code}"
            raise CredentialsError(f"{self.label} {how}{_quoted(messages)}")
        return self._read(answer)

    async def _start(self, interactive: bool, on_terminal: bool) -> Process:
        try:
            return await asyncio.create_subprocess_exec(
                self._program(),
                *self.arguments,
                stdin=None if interactive else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=None if on_terminal else subprocess.PIPE,
                env=os.environ | self.environment | {"KUBERNETES_EXEC_INFO": json.dumps(self._info(interactive), default=str)},
            )
        except (OSError, ValueError) as error:
            raise CredentialsError(f"{self.label} cannot be run: {getattr(error, 'strerror', None) or error}") from None

    def _interactive(self) -> bool:
        """Reports whether the plugin may prompt a person."""
        terminal = sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()
        if self.mode == "Always" and not terminal:
            raise CredentialsError(
                f"{self.label} needs a terminal to prompt, and standard input is not one; run it in a terminal, or log in first"
            )
        return terminal and self.mode != "Never"

    def _program(self) -> str:
        """Returns the path of the command. One with a slash is relative to its kubeconfig; any other is searched in PATH."""
        if os.sep in self.command:
            beside = str(self.chosen.user.file.absolute().parent / self.command)
            program = beside if os.path.exists(beside) else None
        else:
            program = shutil.which(self.command)
        if program:
            return program
        hint = _one_line(self.given.text("installHint")) or "install it, or put it on PATH"
        raise CredentialsError(f"{self.label} is not installed; {hint}")

    def _info(self, interactive: bool) -> dict[str, Any]:
        """Returns the input of a plugin: an ExecCredential."""
        spec: dict[str, Any] = {"interactive": interactive}
        if self.given.flag("provideClusterInfo"):
            spec["cluster"] = self._cluster()
        return {"apiVersion": self.version, "kind": "ExecCredential", "spec": spec}

    def _cluster(self) -> dict[str, Any]:
        cluster = self.chosen.cluster
        names = ("server", "tls-server-name", "insecure-skip-tls-verify", "proxy-url", "disable-compression")
        info = {name: cluster.value[name] for name in names if cluster.value.get(name)}
        if authority := cluster.pem("certificate-authority"):
            info["certificate-authority-data"] = base64.b64encode(authority.encode()).decode()
        for extension in cluster.value.get("extensions") or []:
            if isinstance(extension, dict) and extension.get("name") == EXTENSION:
                info["config"] = extension.get("extension")
        return info

    def _read(self, answer: bytes) -> Granted:
        """Parses the output of the plugin. Errors never quote it, since it is secret."""
        try:
            given = json.loads(answer)
        except ValueError:
            raise CredentialsError(f"{self.label} did not answer with JSON; it must print an ExecCredential") from None
        if not isinstance(given, dict) or given.get("kind") != "ExecCredential" or not isinstance(given.get("status"), dict):
            raise CredentialsError(f"{self.label} did not answer with an ExecCredential that has a status")
        if given.get("apiVersion") != self.version:
            raise CredentialsError(f"{self.label} answers in {given.get('apiVersion')}, but the kubeconfig requests {self.version}")
        status = KubeconfigEntry(given["status"], self.chosen.user.file, f"the answer of {self.given.label}")
        token = bearer(status.text("token"), f"the token of {self.given.label}")
        pair = (status.text("clientCertificateData"), status.text("clientKeyData"))
        if bool(pair[0]) != bool(pair[1]) or not (token or pair[0]):
            raise CredentialsError(f"{self.label} returned neither a token nor a client certificate with its key")
        ends = (self._moment(status.text("expirationTimestamp")), certificate_times(pair[0])[1])
        return Granted(token, pair, min((end for end in ends if end), default=None))

    def _moment(self, given: str) -> datetime.datetime | None:
        """Parses an RFC 3339 time; None for an empty one."""
        try:
            end = datetime.datetime.fromisoformat(given) if given else None
        except ValueError:
            raise CredentialsError(f"{self.label} returned the expiry {given!r}, which is not a time (RFC 3339)") from None
        return end.replace(tzinfo=datetime.UTC) if end and end.tzinfo is None else end


async def _all_of(stream: asyncio.StreamReader | None, read: bytearray) -> bytes:
    """Reads a stream to its end into `read`, so that the output of a plugin that hangs is available before that."""
    while stream is not None and (piece := await stream.read(65536)):
        read += piece
    return bytes(read)


async def _end(process: Process) -> None:
    """Kills the plugin. Does not wait for its child processes, which may hold its pipes."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), KILL_TIMEOUT)


ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[^\x20-\x7e\u00a0-\U0010ffff]")


def _one_line(text: str) -> str:
    """Returns a text without line breaks, colours and other terminal escapes."""
    return " ".join(ESCAPES.sub(" ", text).split())


def _quoted(output: bytearray) -> str:
    """Formats a plugin's last output for an error; empty if the terminal has shown it."""
    line = _one_line(output.decode("utf-8", "replace"))
    return f": {line if len(line) <= TAIL else '… ' + line[-TAIL:]}" if line else ""
