"""What all edits of sets have in common: those of rollouts and those of training workloads."""

from __future__ import annotations

from applier.errors import ApplierError


class EditRefused(ApplierError):
    """An edit does not apply to the state of the set. The message has the alternative."""
