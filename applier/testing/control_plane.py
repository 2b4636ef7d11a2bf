"""The control plane as tests get it: one that they start, or one that another process has started."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self

from applier.testing import assets, startup
from applier.testing.plane import CONTROLLER_MANAGER, RunningPlane


class ControlPlane(RunningPlane):
    """A `RunningPlane` that knows how to start. Get one from `start` or `attach`."""

    @classmethod
    def start(
        cls,
        *,
        parts: Sequence[str] = (CONTROLLER_MANAGER,),
        users: Mapping[str, Iterable[str]] | None = None,
        audit: bool = True,
        api_server_flags: Sequence[str] = (),
        folder: Path | None = None,
        programs: assets.Assets | None = None,
        ready_within: float = 60.0,
    ) -> Self:
        """Starts one and returns when it is ready, a few seconds later. It ends with `stop`, with the `with` block, or with this process.

        `users` adds to `admin`, `viewer` and `nobody`: names with their groups. `api_server_flags` come last, so they win. `folder` must
        not exist; a temporary one is the default. Raises `NotBuilt` where a program is missing, and `ControlPlaneError`, with the reason
        from the log, where a server does not come up within `ready_within` seconds; the logs are kept then.
        """
        options = startup.Options(tuple(parts), dict(users or {}), audit, tuple(api_server_flags), ready_within)
        return startup.start(cls, options, programs or assets.find(), folder)
