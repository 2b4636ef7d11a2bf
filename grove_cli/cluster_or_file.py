"""Runs commands that read a cluster, or recorded objects with `--snapshot`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from grove_cli.cluster import session as sessions
from grove_cli.cluster.session import Session, say
from grove_cli.cluster.target import ClusterFlags
from grove_cli.exit_codes import EXIT_ERROR
from kube_objects.words import listed

if TYPE_CHECKING:
    from applier.ref import Manifest
    from grove_cli.operator.read_objects import ReadObjects
    from grove_compiler.step import StepContext

T = TypeVar("T")
ALL = ""
"""Stands for all namespaces."""


def run(
    target: ClusterFlags,
    snapshot: str | None,
    live: Callable[[Session], Awaitable[T]],
    recorded: Callable[[Sequence[Manifest]], T],
    show: Callable[[T], int],
) -> int:
    """Shows what is read of a cluster, or selected of the objects of a file, and returns the exit code."""

    async def from_cluster(session: Session) -> int:
        return show(await live(session))

    def from_file(path: str) -> int:
        from grove_cli.operator.read_objects import in_file

        return show(recorded(in_file(path).objects))

    return sessions.attempt(lambda: from_file(snapshot)) if snapshot else sessions.run(from_cluster, target)


def run_with_rules(
    target: ClusterFlags,
    snapshot: str | None,
    start: tuple[str | None, tuple[str, ...]],
    show: Callable[[ReadObjects, str, StepContext], int],
    *,
    all_namespaces: bool = False,
) -> int:
    """Shows all objects that an operator watches, by the rules and the configuration with which it starts, and returns the exit code.

    `start` are the file of the configuration and the folders of rules. `show` also gets the namespace, which is empty for all.
    """

    async def from_cluster(session: Session) -> int:
        from grove_cli.operator.read_objects import in_cluster
        from grove_cli.operator.start_files import as_installed, live_context, read_start_files

        files = await as_installed(read_start_files(*start), session.cluster)
        context = await live_context(files, session)
        namespace = ALL if all_namespaces else session.namespace
        read = await in_cluster(session.cluster, context, namespace, partial=True)
        if unread := [*read.unread, *filter(None, [files.unknown])]:
            say(f"waits are told as the operator has reported them: you may not read {listed(unread)}")
        return show(read._replace(unread=unread), namespace, context)

    def from_file(path: str) -> int:
        from grove_cli.operator.read_objects import in_file
        from grove_cli.operator.start_files import recorded_context

        return show(in_file(path), ALL if all_namespaces else target.namespace, recorded_context(*start))

    return sessions.attempt(lambda: from_file(snapshot)) if snapshot else sessions.run(from_cluster, target, findings=EXIT_ERROR)
