"""The operator of a simulation: the one that is shipped, with the applier's loop, on a cluster in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random

from applier.errors import ApplierError
from applier.loop import Lease, Result, Timing
from applier.ref import Ref
from grove_compiler.step import Key, StepContext
from grove_operator.controller import operator as controller
from grove_operator.controller.recorder import Retention
from tests.simulation.network import Connection, Network

TIMING = Timing(duration=15.0, renew=10.0, retry=2.0)


class Operator:
    """One process after the other. `held` says why a key was last left as it is, and `deleted` what was deleted and why, in order.

    `after_write` is called after each write that changed something, with the reason of a deletion. What it finds wrong, and errors that
    nobody has foreseen, are `mistakes`. With an `identity` it stands for election. Its clock is `clock_offset` seconds ahead. Processes run
    in an event loop that somebody else turns, and that is at rest whenever anything here is called.
    """

    def __init__(
        self,
        network: Network,
        context: StepContext,
        loop: asyncio.AbstractEventLoop,
        identity: str = "",
        retention: Retention | None = None,
    ) -> None:
        self.network, self.context, self.identity, self._loop = network, context, identity, loop
        self.retention = retention or Retention()
        self.held: dict[Key, str] = {}
        self.deleted: list[tuple[Ref, str]] = []
        self.writes = 0
        self.after_write: Callable[[str], None] = lambda _: None
        self.mistakes: list[Exception] = []
        self.processes = 0
        self.clock_offset = 0.0
        self.start()

    def start(self) -> None:
        """A new process, which knows only what is in the cluster."""
        self.processes += 1
        self.connection = Connection(self.network, self._wrote)
        lease = Lease(self.connection, "default", "leader", f"{self.identity}-{self.processes}", timing=TIMING, chance=Random(0))
        self.lease = lease if self.identity else None
        options = controller.OperatorOptions(lease=self.lease, on_result=self._look_at, retention=self.retention, chance=Random(0))
        self.process = controller.Operator(self.connection, self.context, lambda: self.network.world.now + self.clock_offset, options)
        self._task = self._loop.create_task(self.process.run())

    def kill(self) -> None:
        """The process ends in the middle of what it does, and has no time to tell anybody."""
        self.connection.is_dead = True
        self._task.cancel()
        self._loop.run_until_complete(asyncio.gather(self._task, return_exceptions=True))
        self.held.clear()

    def restart(self, context: StepContext | None = None) -> None:
        """The process ends, and another one takes its place: the next version of the program, where a context is given."""
        self.kill()
        self.context = context or self.context
        self.start()

    @property
    def writes_left(self) -> int:
        """How many writes there are until the process ends; another one follows it. A write that changes nothing is none."""
        return self.connection.writes_left

    @writes_left.setter
    def writes_left(self, count: int) -> None:
        self.connection.writes_left = count

    @property
    def has_died(self) -> bool:
        return self.connection.is_dead

    @property
    def leads(self) -> bool:
        return self.lease is None or self.lease.held.is_set()

    @property
    def is_idle(self) -> bool:
        """Whether no key waits or is in work; there may be keys that are due later."""
        queue = self.process.loop.queue
        return queue.depth() == 0 and queue.active() == 0

    def _wrote(self, ref: Ref, reason: str) -> None:
        self.writes += 1
        if reason:
            self.deleted.append((ref, reason))
        try:
            self.after_write(reason)
        except AssertionError as error:  # which the loop would take for a failed request
            self.mistakes.append(error)

    def _look_at(self, result: Result[Key]) -> None:
        if result.error is not None and not isinstance(result.error, ApplierError):
            self.mistakes.append(result.error)
        if held := result.held or result.kept:
            self.held[result.key] = held
        else:
            self.held.pop(result.key, None)
