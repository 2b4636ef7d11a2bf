"""The events of one run, with secrets where secrets can be."""

from __future__ import annotations

from applier.errors import Forbidden
from applier.events import Adapted, Event, Finished, Planned, Ready, Retried, RunEnded, Started, Throttled, Waiting, WaveStarted
from applier.outcome import ABSENT, Action, FieldChange, ItemKey, Outcome, Owner, Step
from applier.ref import Ref

WEB, PASSWORD, SAME = Ref("apps", "Deployment", "shop", "web"), Ref("", "Secret", "shop", "password"), Ref("", "ConfigMap", "shop", "same")
EDITOR = Owner("kubectl-edit", "Update", "2026-01-01T00:00:00Z")
IMAGE = FieldChange(("spec", "containers", ItemKey((("name", "main"),)), "args", 0), "hunter2", "hunter3", (EDITOR,))
CHANGED = Step(WEB, Action.CONFIGURED, "1 field differs", [IMAGE], uid="u1", wave=1)
CREATED = Step(PASSWORD, Action.CREATED, "is missing", [FieldChange(("data", "password"), ABSENT, "hunter2")])
QUIET = Step(SAME, Action.UNCHANGED, uid="u3", wave=1)
DENIED = Outcome(CHANGED, Action.FAILED, "a webhook denied it", seconds=0.25, error=Forbidden(403, "Forbidden", "a webhook denied it"))

RUN: list[Event] = [
    Planned({Action.CREATED: 1, Action.CONFIGURED: 1, Action.UNCHANGED: 1}, 2),
    WaveStarted(0, 1),
    Started(CREATED),
    Throttled(1.5, 8),
    Adapted(20, 512.5),
    Retried(PASSWORD, 2, "429 Too Many Requests"),
    Finished(Outcome(CREATED, Action.CREATED, uid="u2", seconds=0.02)),
    WaveStarted(1, 2),
    Started(CHANGED),
    Finished(DENIED),
    Finished(Outcome(QUIET, Action.UNCHANGED, uid="u3")),
    Waiting(PASSWORD, "no reason to wait"),
    Ready(PASSWORD, 3.0),
    RunEnded({Action.CREATED: 1, Action.FAILED: 1, Action.UNCHANGED: 1}, 4.5, 7),
]
