"""Connects a command to a cluster, and reports errors as messages and exit codes."""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, contextmanager
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Any

from applier.cluster import Cluster
from applier.errors import ApplierError
from applier.events import Event, Planned, Sink, nowhere
from applier.ref import Ref
from grove_cli import garbage
from grove_cli.cluster.target import REQUESTS, ClusterFlags
from grove_cli.errors import Reported
from grove_cli.exit_codes import EXIT_ERROR, EXIT_FINDINGS, EXIT_TERMINATED
from grove_cli.terminal import visible
from grove_compiler.record import record
from grove_compiler.version import __version__

if TYPE_CHECKING:
    from applier.stop import Stop
    from grove_compiler.engine.runtime.program import Program

USER_AGENT = f"grove/{__version__}"
EXTRA = {"httptools", "orjson", "python_socks", "rich"}


class Failed(Exception):
    """The command failed; `lines` are its errors."""

    def __init__(self, *lines: str) -> None:
        self.lines = lines
        super().__init__("; ".join(lines))


def program_of(folders: Sequence[str], *, may_be_empty: bool = False, named: bool = False, code: int = EXIT_FINDINGS) -> Program:
    """Returns the built-in rules and those of folders, with `named` including their hash, which takes a millisecond.

    Raises `Reported` with an exit code after printing findings about invalid ones.
    """
    from grove_cli.program import LoadedRules  # only for what rules decide: most commands do without

    rules = LoadedRules(folders, may_be_empty=may_be_empty)
    program = rules.program(code)
    if named:
        program.name = rules.book.name
    return program


class ServerWarnings:
    """Passes the server's warnings about written objects on to `tell`, which prints them unless a program logs in a way of its own."""

    def __init__(self) -> None:
        self.tell: Callable[[Ref, str], None] = _warn

    def __call__(self, ref: Ref, warning: str) -> None:
        """Tells a warning about an object."""
        self.tell(ref, warning)


@record
class Session:
    """A connection to a cluster. `namespace` is the default of manifests; `version` requests the server's `major.minor`.

    `another` opens a further connection, for another event loop; nobody is told of its requests. `clock` gives the server's time in seconds
    since the epoch.
    """

    cluster: Cluster
    namespace: str
    version: Callable[[], Awaitable[str]]
    another: Callable[[], AbstractAsyncContextManager[Cluster]]
    clock: Callable[[], float] = time.time
    warnings: ServerWarnings = field(default_factory=ServerWarnings)


@asynccontextmanager
async def open_session(target: ClusterFlags, sink: Sink) -> AsyncIterator[Session]:
    """Connects to a target. Raises `ApplierError`, and `ModuleNotFoundError` if the client is not installed."""
    from pathlib import Path

    from applier.transport.connect import connect
    from applier.transport.retries import Retries
    from applier.transport.wire import untraced
    from grove_cli.warm_cache import folder

    seconds, warnings = target.request_timeout, ServerWarnings()
    another = partial(
        connect,
        kubeconfig=target.kubeconfig,
        context=target.context,
        user=target.user,
        user_agent=USER_AGENT,
        cache_dir=Path(folder()) / "clusters",
        warn=warnings,
        retries=Retries.within(seconds) if seconds else None,
        trace=_log_request if target.verbosity >= REQUESTS else untraced,
    )
    async with another(sink=sink) as api:

        async def version() -> str:
            return minor_version(await api.version())

        yield Session(api, target.namespace or api.namespace, version, another, api.clock, warnings)


def run(
    work: Callable[[Session], Coroutine[Any, Any, int]],
    target: ClusterFlags,
    sink: Sink = nowhere,
    *,
    long: bool = False,
    findings: int = EXIT_FINDINGS,
) -> int:
    """Runs a command's work with a connection and returns its exit code. `long` is for work that may take minutes."""
    if long:
        garbage.collect_in_small_portions()

    def connected() -> int:
        from applier.transport import Terminated  # heavy: only for commands that talk to a cluster
        from applier.transport import run as run_loop

        try:
            return run_loop(_within(work, target, sink))
        except Terminated:
            return EXIT_TERMINATED

    return attempt(connected, findings=findings)


def attempt(work: Callable[[], int], *, findings: int = EXIT_ERROR) -> int:
    """Runs a command's work and returns its exit code. Prints a line for each error; returns `findings` for `Reported`."""
    try:
        return work()
    except Failed as failed:
        for line in failed.lines:
            say(line)
    except Reported:
        return findings
    except ApplierError as error:
        for each in getattr(error, "errors", (error,)):  # one line for each of several failed reads
            say(str(each))
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in EXTRA:
            raise
        from grove_cli import extras  # only for a mistake

        say(extras.missing("connecting to a cluster needs", error, "cluster"))
    return EXIT_ERROR


@contextmanager
def needing(what: str, *extras: str, otherwise: str = "") -> Iterator[None]:
    """Raises `Failed` for a library that is imported meanwhile and not installed: `what` needs it, and these extras bring it."""
    try:
        yield
    except ModuleNotFoundError as error:
        from grove_cli.extras import missing  # only for a mistake

        raise Failed(missing(what, error, *extras, otherwise=otherwise)) from None


def say(text: str) -> None:
    """Prints one line on standard error."""
    print(f"grove: {visible(' '.join(text.split()))}", file=sys.stderr)


def minor_version(version: dict[str, str]) -> str:
    """Returns `1.35` of the response of `/version`, in which providers write `35+`."""
    minor = "".join(character for character in version.get("minor", "") if character.isdecimal())
    return f"{version.get('major') or '1'}.{minor}"


class SignalExit:
    """The exit code of a run that a signal ended: 128 plus the number of the signal, 0 without one."""

    code = 0

    def by(self, number: int) -> None:
        """Records a signal, and prints a message."""
        self.code = 128 + number
        say("stopping after the requests in flight; send the signal again to abort")


@contextmanager
def graceful_once_planned(stop: Stop, ended: SignalExit, sink: Sink) -> Iterator[Sink]:
    """Yields a sink that handles signals gracefully as soon as there is a plan.

    Before that nothing is written: a signal aborts the program, even during a credential plugin that hangs.
    """
    from applier.stop import ended_by_signal

    with ExitStack() as signals:

        def watch(event: Event) -> None:
            if isinstance(event, Planned):
                signals.enter_context(ended_by_signal(stop, ended.by))
            sink(event)

        yield watch


async def _within(work: Callable[[Session], Coroutine[Any, Any, int]], target: ClusterFlags, sink: Sink) -> int:
    async with open_session(target, sink) as session:
        return await work(session)


def _log_request(method: str, path: str, status: int, seconds: float) -> None:
    say(f"{method} {path} {status or 'without an answer'} in {seconds * 1000:.0f} ms")


def _warn(ref: Ref, warning: str) -> None:
    say(f"warning: {ref}: {warning}")
