"""Definitions (CRDs): once one is written, its kind is waited for, so that objects of it can follow."""

from __future__ import annotations

from applier.execute.state import Run
from applier.ref import Kind, Manifest


async def established(run: Run, definition: Manifest) -> None:
    """Waits until the server serves what a definition defines. Raises `UnknownKind` with the reason when that takes too long."""
    if not run.dry_run:
        await run.cluster.await_established(served_by(definition), run.patience.established)


def served_by(definition: Manifest) -> list[Kind]:
    """The kinds that a definition makes the server serve, one for each served version."""
    spec = definition["spec"]
    return [Kind(spec["group"], version["name"], spec["names"]["kind"]) for version in spec["versions"] if version.get("served")]
