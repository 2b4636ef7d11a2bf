"""Says which looks of an operator are written down, and where, as its configuration asks."""

from __future__ import annotations

import tempfile
from functools import cache

from grove_compiler.graph.node import Manifest
from grove_compiler.replay.bundle import RecordedStep
from grove_operator.controller.bundle_folder import BundleFolder
from grove_operator.controller.log import Log
from grove_operator.controller.recorder import Keeping, Why

PREFIX = "grove-replay-"


def keeping(config: Manifest, log: Log) -> Keeping:
    """Returns what the section `replay` of a configuration asks for. What cannot be written is told once, and keeps nothing else."""

    @cache
    def folder() -> BundleFolder:
        # A name in a folder for all that anybody could guess might be there already, and somebody else's.
        return BundleFolder(config["folder"] or tempfile.mkdtemp(prefix=PREFIX), config["bundles"])

    told = ""

    def keep(taken: RecordedStep, why: Why) -> None:
        nonlocal told
        try:
            path = folder().write(taken, why)
        except OSError as error:
            trouble = f"{error.filename or config['folder']}: {error.strerror or error}"
            if trouble != told:
                log.line("bundle not written", "error", why=trouble)
            told = trouble
            return
        told = ""
        if why != "step":
            log.line("bundle written", "error" if why == "failed" else "info", key=taken.key, file=path)

    return Keeping(config["inMemory"], bool(config["folder"]), keep)
