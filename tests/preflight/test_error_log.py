"""The errors that the gang controller logs."""

from __future__ import annotations

from applier.errors import Forbidden, NotSynced
from applier.loop import Result
from applier.outcome import Action, Outcome, Step
from applier.ref import Ref
from grove_compiler.preflight_gang import GangKey
from grove_operator.preflight.gangs import ErrorLog, Key, PodKey
from tests.suite.rows import rows

GANG = GangKey("training", "preflight-g", "preflight-g")
REFUSED = Outcome(
    Step(Ref("", "ConfigMap", "training", "preflight-g"), Action.CREATED, ""), Action.FAILED, error=Forbidden(403, "Forbidden", "no rights")
)


def told(*results: Result[Key]) -> list[str]:
    lines: list[str] = []
    log = ErrorLog(lines.append)
    for result in results:
        log(result)
    return lines


CASES: dict[str, tuple[list[Result[Key]], list[str]]] = {
    "success": ([Result(GANG)], []),
    "a rule that is wrong": ([Result(GANG, held="rule r: no")], ["gang training/preflight-g: rule r: no"]),
    "the same error once": ([Result(GANG, held="no"), Result(GANG, held="no")], ["gang training/preflight-g: no"]),
    "another error as well": (
        [Result(GANG, held="a"), Result(GANG, held="b")],
        ["gang training/preflight-g: a", "gang training/preflight-g: b"],
    ),
    "its end": ([Result(GANG, held="a"), Result(GANG)], ["gang training/preflight-g: a", "gang training/preflight-g: resolved"]),
    "of a pod as of a gang": ([Result(PodKey("training", "p"), held="no")], ["pod training/p: no"]),
    "what is not known yet": ([Result(GANG, held="pods", error=NotSynced("pods"))], []),
}


@rows("what", CASES)
def test_each_error_is_logged_once(what: str) -> None:
    results, lines = CASES[what]
    assert told(*results) == lines


def test_a_refused_write_is_logged_with_its_object() -> None:
    (line,) = told(Result(GANG, [REFUSED]))
    assert "preflight-g" in line
    assert "no rights" in line
