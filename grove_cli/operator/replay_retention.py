"""Configures which evaluations of an operator are recorded, and writes them as replay bundles."""

from __future__ import annotations

import tempfile
from functools import cache

from grove_compiler.graph.node import Manifest
from grove_compiler.replay.bundle import RecordedStep
from grove_operator.controller.log import Log
from grove_operator.controller.recorder import BundleFolder, Retention, Trigger

PREFIX = "grove-replay-"


def replay_retention(config: Manifest, log: Log) -> Retention:
    """Returns the retention of the section `replay` of a configuration. A write that fails is logged once per reason, and not fatal."""

    @cache
    def folder() -> BundleFolder:
        # In a shared temporary folder another user could create a folder of a predictable name first.
        return BundleFolder(config["folder"] or tempfile.mkdtemp(prefix=PREFIX), config["bundles"])

    last_error = ""

    def write(taken: RecordedStep, trigger: Trigger) -> None:
        nonlocal last_error
        try:
            path = folder().write(taken, trigger)
        except Exception as error:  # of whatever kind: what was decided must not depend on whether it can be recorded
            reason = f"{type(error).__name__}: {error}"
            if isinstance(error, OSError):
                reason = f"{error.filename or config['folder']}: {error.strerror or error}"
            if reason != last_error:
                log.line("bundle not written", "error", why=reason)
            last_error = reason
            return
        last_error = ""
        if trigger != "step":
            log.line("bundle written", "error" if trigger == "failed" else "info", key=taken.key, file=path)

    return Retention(config["inMemory"], bool(config["folder"]), write)
