"""Reloads rules and settings while the operator runs. Invalid ones are rejected, and the last valid ones remain in effect."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal

from grove_cli import rulebook
from grove_cli.errors import UnreadableInput
from grove_compiler.record import record

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from grove_cli.operator.start_files import StartFiles
    from grove_compiler.engine.runtime.program import Program
    from grove_compiler.step import StepContext
    from grove_operator.controller.log import Log
    from grove_operator.controller.operator import Operator

    RecordEvent = Callable[["EventType", str, str, str], Awaitable[None]]

PAUSE = 10.0
"""Seconds between two checks of the files. A kubelet takes up to a minute to update the volume of a changed ConfigMap."""
AT_ONCE = ("logLevel", "logFormat")
"""Fields of the configuration that take effect without a restart."""

Outcome = Literal["taken", "refused"]
EventType = Literal["Normal", "Warning"]


@record
class Reports:
    """Where reloads are reported: the log, a counter of accepted and rejected rules, and an event recorder.

    `record_event` takes type, reason and message of an event, and the occurrence that it is about.
    """

    log: Log
    count: Callable[[Outcome], None]
    record_event: RecordEvent


class Reload:
    """Checks the files of an operator periodically, and applies their changes.

    `build` runs the compilation of rules in a thread: it may take a second, during which the lease has to be renewed.
    """

    def __init__(
        self,
        files: StartFiles,
        context: StepContext,
        operator: Operator,
        reports: Reports,
        build: Callable[[Callable[[], Program]], Awaitable[Program]] = asyncio.to_thread,
    ) -> None:
        self._files, self._context, self._operator = files, context, operator
        self._build, self._reports, self._log = build, reports, reports.log
        self._rules = self._key()
        self._config = files.document.value if files.document else None
        self._config_error = ""
        self._is_refused = False

    async def run(self) -> None:
        """Checks the files until it is cancelled. Each error in them is reported once, as is a failure of the check itself."""
        failure = ""
        while True:
            await asyncio.sleep(PAUSE)
            before, failure = failure, ""
            try:
                await self.check()
            except Exception as error:  # a bug of ours must not keep all later changes from taking effect
                failure = f"{type(error).__name__}: {error}"
            if failure and failure != before:
                self._log.line("files not checked", "error", why=failure, meanwhile="the last valid state stays in effect")

    async def check(self) -> None:
        """Checks the files once, and applies what has changed."""
        if self._files.folders and (key := self._key()) != self._rules:
            self._rules = key
            await self._reload_rules()
        if self._files.path:
            await self._reload_config()

    def _key(self) -> str:
        """Returns what changes with the rules, or why they cannot be read."""
        try:
            return rulebook.read(self._files.folders, may_be_empty=True).key
        except UnreadableInput as error:
            return str(error)

    async def _reload_rules(self) -> None:
        from grove_compiler.compile import VOCABULARY
        from grove_compiler.engine.sources import InvalidRules
        from grove_compiler.graph.diagnostic import errors_of
        from grove_compiler.step import StepContext
        from grove_operator.controller.evaluator import first_regression

        try:
            book = rulebook.read(self._files.folders, may_be_empty=True)
            program = await self._build(lambda: book.program(VOCABULARY))
        except UnreadableInput as error:
            return await self._refuse(str(error))
        except InvalidRules as error:
            return await self._refuse("; ".join(f"{each.file}:{each.line}: {each.message}" for each in error.diagnostics))
        program.name = book.name
        context = StepContext(program, self._context.settings, self._files.document)
        if errors := errors_of(context.findings):
            return await self._refuse("; ".join(error.message for error in errors))
        if regression := await first_regression(self._operator.cache, self._context, context, self._operator.clock):
            return await self._refuse(regression)
        self._operator.reload(context)
        self._reports.count("taken")
        self._log.line("rules reloaded", rules=len(program.rules))
        if self._is_refused:
            self._is_refused = False
            await self._reports.record_event("Normal", "RulesTaken", f"{len(program.rules)} new rules are in effect", self._rules)
        return None

    async def _refuse(self, reason: str) -> None:
        self._reports.count("refused")
        self._is_refused = True
        self._log.line("rules rejected", "error", why=reason, meanwhile="the last valid rules stay in effect")
        message = f"the new rules are invalid, and the last valid ones stay in effect: {reason}"
        await self._reports.record_event("Warning", "RulesRefused", message, self._rules)

    async def _reload_config(self) -> None:
        """Applies fields that take effect without a restart, and logs the changed ones that need one."""
        from grove_cli.reading.inputs import InputReader
        from grove_compiler.graph.diagnostic import errors_of
        from grove_compiler.step import StepContext

        reader = InputReader()
        try:
            document = reader.configuration(self._files.path)
        except UnreadableInput as error:
            return await self._report_config(str(error))
        if document is None:
            return await self._report_config("; ".join(problem.message for problem in reader.problems))
        if document.value == self._config:
            return await self._report_config("")
        context = StepContext(self._context.program, self._context.settings, document)
        messages = [f"{error.path}: {error.message}" if error.path else error.message for error in errors_of(context.findings)]
        if messages:
            return await self._report_config("; ".join(messages))
        before, self._config = self._config or {}, document.value
        changed = sorted(key for key in {*before, *self._config} if before.get(key) != self._config.get(key))
        self._log.configure(context.config.manifest)
        self._log.line("configuration reloaded", changed=", ".join(changed))
        if delayed := [key for key in changed if key not in AT_ONCE]:
            self._log.line("a restart is needed", "error", because="these fields are only read at start-up", fields=", ".join(delayed))
        return await self._report_config("")

    async def _report_config(self, error: str) -> None:
        """Reports an error once, and when there is none any more."""
        before, self._config_error = self._config_error, error
        if before and not error:
            self._log.line("configuration accepted", why="its errors are fixed")
            await self._reports.record_event("Normal", "ConfigurationTaken", "the configuration is valid again", before)
        elif error != before:
            self._log.line("configuration rejected", "error", why=error, meanwhile="the last valid one stays in effect")
            message = f"the new configuration is invalid, and the last valid one stays in effect: {error}"
            await self._reports.record_event("Warning", "ConfigurationRefused", message, error)
