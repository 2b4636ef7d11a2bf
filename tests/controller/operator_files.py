"""Files of an operator that runs: a folder of rules and a configuration, which change under it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

from applier.ref import Kind
from grove_cli.operator.reload import Reload, Reports
from grove_cli.operator.start_files import StartFiles
from grove_compiler.engine.runtime.program import Program
from grove_compiler.source.document import Document
from grove_operator.controller.log import Log, OperatorEvents

from .whole import WholeOperator

SERVICE = Kind("", "v1", "Service")
CONFIG = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration"}
MARK = """
rule: mine/mark
doc: Services are marked.
patch: Service
forEach: {replica: set.replicas}
do:
  - {op: add, path: /metadata/annotations, value: {mine: "VALUE"}}
"""
FAILS = MARK.replace('{mine: "VALUE"}', '{mine: "{{ 1 // (set.replica_count - set.replica_count) }}"}')


class Setting:
    """A folder of rules, a configuration, and what is said about them."""

    def __init__(self, folder: Path) -> None:
        self.rules, self.config, self.log = folder / "rules", folder / "config.yaml", io.StringIO()
        self.rules.mkdir()
        self.counted: list[str] = []
        self.write_config()

    def write_config(self, **fields: object) -> None:
        self.config.write_text(json.dumps({**CONFIG, "logFormat": "text", **fields}))

    def write(self, text: str) -> None:
        (self.rules / "mine.yaml").write_text(text)

    def reload(self, world: WholeOperator, events: OperatorEvents | None = None) -> Reload:
        log = Log(self.log, {"logFormat": "text"})
        document = Document(json.loads(self.config.read_text()))
        files = StartFiles([str(self.rules)], str(self.config), world.operator._context.program, document)
        reports = Reports(log, self.counted.append, events.record if events else no_event)
        return Reload(files, world.operator._context, world.operator, reports, at_once)

    def told(self) -> str:
        return self.log.getvalue()


async def at_once(build: Callable[[], Program]) -> Program:
    """Where time is virtual nobody waits for a thread."""
    return build()


def marks(world: WholeOperator) -> set[str]:
    return {(one["metadata"].get("annotations") or {}).get("mine", "") for one in world.of(SERVICE)}


async def no_event(*_: str) -> None:
    """Where no cluster has an object for events."""
