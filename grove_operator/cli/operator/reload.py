"""Takes over rules and settings that change while the operator runs: what is wrong never counts, and what was right before goes on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from grove_compiler.record import record

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from grove_compiler.engine.runtime.program import Program
    from grove_compiler.source.document import Document
    from grove_compiler.step import Context
    from grove_operator.controller.log import Log
    from grove_operator.controller.operator import Operator
    from grove_operator.rulebook import Rulebook

    Announce = Callable[["EventType", str, str, str], Awaitable[None]]

PAUSE = 10.0
"""Seconds between two looks at the files. A kubelet takes up to a minute to bring a ConfigMap that has changed."""
AT_ONCE = ("logLevel", "logFormat")
"""Fields of the configuration that count as soon as they change; all else does after a restart."""

Outcome = Literal["taken", "refused"]
EventType = Literal["Normal", "Warning"]


async def _to_nobody(*_: str) -> None:
    """Announces nothing."""


@record
class Files:
    """What is looked at: folders of rules, and the file of the configuration, empty where there is none."""

    folders: Sequence[str]
    config: str


class Reload:
    """Looks at the files of an operator as long as it runs. `count` hears what became of rules that had changed, and `announce` tells
    people what was wrong with them: type, reason and message of an event, and the occurrence that it is about.

    Rules are built `aside`, in a thread: that may take a second, in which the lease has to be renewed.
    """

    def __init__(
        self,
        files: Files,
        context: Context,
        document: Document | None,
        operator: Operator,
        log: Log,
        count: Callable[[Outcome], None],
        aside: Callable[[Callable[[], Program]], Awaitable[Program]] = asyncio.to_thread,
        announce: Announce = _to_nobody,
    ) -> None:
        self._aside, self._announce = aside, announce
        self._files, self._context, self._document, self._operator, self._log = files, context, document, operator, log
        self._count = count
        self._rules = self._key()
        self._config = document.value if document else None
        self._told = ""
        self._is_refused = False

    async def run(self) -> None:
        """Looks until it is cancelled. Whatever is wrong with the files is told, once until they change again."""
        while True:
            await asyncio.sleep(PAUSE)
            await self.look()

    async def look(self) -> None:
        """Looks once."""
        if self._files.folders and (key := self._key()) != self._rules:
            self._rules = key
            await self._take_rules()
        if self._files.config:
            await self._take_config()

    def _key(self) -> str:
        book = self._read()
        return book if isinstance(book, str) else book.key

    def _read(self) -> Rulebook | str:
        """Reads the rules as they are now, or why they cannot be read."""
        from grove_operator import rulebook

        try:
            return rulebook.read(self._files.folders, may_be_empty=True)
        except rulebook.UnreadableRules as error:
            return str(error)

    async def _take_rules(self) -> None:
        from grove_compiler.compile import VOCABULARY
        from grove_compiler.engine.sources import InvalidRules
        from grove_compiler.graph.diagnostic import has_errors
        from grove_compiler.step import Context
        from grove_operator import rulebook
        from grove_operator.controller.rule_trial import first_harm

        book = self._read()
        if isinstance(book, str):
            return await self._refuse(book)
        try:
            program = await self._aside(lambda: book.program(VOCABULARY))
        except rulebook.UnreadableRules as error:
            return await self._refuse(str(error))
        except InvalidRules as error:
            return await self._refuse("; ".join(f"{one.file}:{one.line}: {one.message}" for one in error.diagnostics))
        program.name = book.name
        made = Context(program, self._context.settings, self._document)
        if has_errors(made.findings):
            return await self._refuse("; ".join(one.message for one in made.findings if one.severity == "error"))
        if harm := await first_harm(self._operator.cache, self._context, made, time.time):
            return await self._refuse(harm)
        self._operator.take_over(made)
        self._count("taken")
        self._log.line("rules taken", rules=len(program.rules))
        if self._is_refused:
            self._is_refused = False
            await self._announce("Normal", "RulesTaken", f"the new rules count, {len(program.rules)} of them", self._rules)
        return None

    async def _refuse(self, why: str) -> None:
        self._count("refused")
        self._is_refused = True
        self._log.line("rules refused", "error", why=why, meanwhile="the last good ones go on")
        await self._announce("Warning", "RulesRefused", f"the last good rules go on, for the new ones are wrong: {why}", self._rules)

    async def _take_config(self) -> None:
        """Takes what counts at once, and names what waits for a restart."""
        from grove_compiler.step import Context
        from grove_operator.reading.files import UnreadableInput
        from grove_operator.reading.inputs import InputReader

        reader = InputReader()
        try:
            document = reader.configuration(self._files.config)
        except UnreadableInput as error:
            return await self._tell(str(error))
        if document is None:
            return await self._tell("; ".join(one.message for one in reader.problems))
        if document.value == self._config:
            return await self._tell("")
        made = Context(self._context.program, self._context.settings, document)
        errors = [f"{one.path}: {one.message}" if one.path else one.message for one in made.findings if one.severity == "error"]
        if errors:
            return await self._tell("; ".join(errors))
        before, self._config = self._config or {}, document.value
        changed = sorted(key for key in {*before, *self._config} if before.get(key) != self._config.get(key))
        self._log.configure(made.config.manifest)
        self._log.line("configuration read again", changed=", ".join(changed))
        if waits := [key for key in changed if key not in AT_ONCE]:
            self._log.line("a restart is needed", "error", because="they count from the start only", fields=", ".join(waits))
        return await self._tell("")

    async def _tell(self, why: str) -> None:
        is_news, self._told = bool(why) and why != self._told, why
        if is_news:
            self._log.line("configuration refused", "error", why=why, meanwhile="the last good one goes on")
            await self._announce("Warning", "ConfigurationRefused", f"the last good one goes on, for the new one is wrong: {why}", why)
