"""What `grove apply` and `grove plan` print: lines as kubectl's, progress, tables, accounts for programs."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
from rich.console import Console

from applier.events import Finished, Planned, Ready, Started, Throttled, Waiting, WaveStarted
from applier.outcome import ABSENT, Action, Conflict, FieldChange, Outcome, Owner, Step
from applier.plan.reasons import RECREATE, what_conflicts
from applier.ref import Ref
from grove_cli.cluster.apply.progress import ApplyProgress, in_progress
from grove_cli.cluster.lines import CLIENT, OutcomeLines, WaitLines
from grove_cli.cluster.listeners import Relay
from grove_cli.cluster.step_lines import plan_text
from grove_cli.cluster.words import name_of, outcomes_report, reason_of, steps_report, tally
from grove_cli.terminal import Terminal
from tests.suite.rows import rows

PLAIN = Terminal(colours=False, width=100, wraps=False)
NARROW = Terminal(colours=False, width=40, wraps=True)
WEB = Ref("apps", "Deployment", "shop", "web")
SETTINGS = Ref("", "ConfigMap", "shop", "settings")
EDIT = Owner("kubectl-edit", "Update", "2026-01-01T00:00:00Z")


def outcome(ref: Ref, action: Action, reason: str = "") -> Outcome:
    return Outcome(Step(ref, action), action, reason, uid="7f", seconds=0.25)


def lines(*outcomes: Outcome, suffix: str = "", quiet: bool = False) -> list[str]:
    found: list[str] = []
    printer = OutcomeLines(PLAIN, suffix=suffix, quiet=quiet)
    printer.out = found.append
    for one in outcomes:
        printer.sink(Finished(one))
    printer.flush()
    return [line for lines in found for line in lines.splitlines()]


@pytest.mark.parametrize(("ref", "name"), [(WEB, "deployment.apps/web"), (SETTINGS, "configmap/settings")])
def test_objects_have_kubectls_names(ref: Ref, name: str) -> None:
    assert name_of(ref) == name


@rows("action", [action for action in Action if action not in (Action.HELD, Action.FAILED)])
def test_what_was_done_is_a_line(action: Action) -> None:
    assert lines(outcome(WEB, action)) == [f"deployment.apps/web {action}"]


@pytest.mark.parametrize("action", [Action.HELD, Action.FAILED])
def test_what_was_not_done_goes_to_standard_error_with_its_reason(action: Action, capsys: pytest.CaptureFixture[str]) -> None:
    assert lines(outcome(WEB, action, "no quota\nleft")) == []
    assert capsys.readouterr().err == f"grove: Deployment.apps/shop/web: {action}: no quota left\n"


HELM, ARGO = Owner("helm", "Apply", ""), Owner("argo cd", "Update", "")


@pytest.mark.parametrize(
    ("owners", "options"),
    [
        ((HELM,), "--force-conflicts=helm"),
        ((HELM, ARGO, HELM), "--force-conflicts=helm --force-conflicts='argo cd'"),
        ((), "--force-conflicts"),
    ],
)
def test_the_way_out_by_force_names_the_option_and_whose_fields_are_in_the_way(owners: tuple[Owner, ...], options: str) -> None:
    found = [Conflict(("data", str(number)), owner) for number, owner in enumerate(owners)]
    step = Step(WEB, Action.HELD, what_conflicts(found), conflicts=found)
    for said in (reason_of(step), reason_of(Outcome(step, Action.HELD, step.reason))):
        assert said.endswith(f"take it ({options}), drop it (remove it from the manifest), or share it (use the same value)")


def test_what_cannot_be_changed_in_place_names_what_the_program_has_for_it() -> None:
    assert reason_of(Step(WEB, Action.HELD, f"x cannot be changed; {RECREATE}")) == (
        "x cannot be changed; it would have to be recreated: delete it and apply again, or allow it in its rule (policy.recreate)"
    )


def test_a_dry_run_says_so_on_each_line() -> None:
    assert lines(outcome(WEB, Action.CREATED), suffix=CLIENT) == ["deployment.apps/web created (dry run)"]


def test_what_stays_as_it_is_can_be_left_out() -> None:
    assert lines(outcome(WEB, Action.UNCHANGED), outcome(SETTINGS, Action.CREATED), quiet=True) == ["configmap/settings created"]


def test_lines_of_a_wave_have_the_order_of_the_graph_whatever_is_done_sooner() -> None:
    found: list[str] = []
    printer = OutcomeLines(PLAIN)
    printer.out = found.append
    printer.order = {WEB: 0, SETTINGS: 1}
    for event in (Finished(outcome(SETTINGS, Action.CREATED)), Finished(outcome(WEB, Action.CREATED)), WaveStarted(1, 1)):
        assert found == []
        printer.sink(event)
    assert found == ["deployment.apps/web created\nconfigmap/settings created"]


def test_each_outcome_is_told_once() -> None:
    found: list[str] = []
    printer = OutcomeLines(PLAIN)
    printer.out = found.append
    one, two = outcome(WEB, Action.CREATED), outcome(SETTINGS, Action.UNCHANGED)
    printer.sink(Finished(one))
    printer.rest([one, two])
    assert found == ["deployment.apps/web created", "configmap/settings unchanged"]


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (Waiting(WEB, "1 of 3 pods"), "deployment.apps/web waits: 1 of 3 pods\n"),
        (Waiting(WEB, "waits for finalizer a/b"), "deployment.apps/web waits for finalizer a/b\n"),
        (Ready(WEB, 2.345), "deployment.apps/web ready after 2.3 s\n"),
        (Throttled(1.5, 4), "the server throttles requests: next attempt in 1.5 s\n"),
        (Started(Step(WEB, Action.CREATED)), ""),
    ],
)
async def test_what_is_waited_for_goes_to_standard_error(event: Waiting, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    WaitLines().sink(event)
    assert capsys.readouterr().err == line


def test_events_go_to_every_sink() -> None:
    first: list[object] = []
    second: list[object] = []
    Relay(first.append, second.append)(Ready(WEB, 1))
    assert first == second == [Ready(WEB, 1)]


@pytest.mark.parametrize(
    ("writing", "waiting", "text"),
    [
        ([], {}, ""),
        ([WEB], {SETTINGS: "why"}, "deployment.apps/web"),
        ([WEB, SETTINGS, WEB, WEB, WEB], {}, "deployment.apps/web, configmap/settings, deployment.apps/web and 2 more"),
        ([], {WEB: "1 of 3 pods", SETTINGS: ""}, "waits for deployment.apps/web and 1 more: 1 of 3 pods"),
    ],
)
def test_progress_says_what_is_under_way(writing: list[Ref], waiting: dict[Ref, str], text: str) -> None:
    assert in_progress(writing, waiting) == text


@pytest.fixture
def progress() -> Iterator[ApplyProgress]:
    with ApplyProgress() as found:
        found.console = found.progress.live.console = Console(file=io.StringIO())
        yield found


def test_the_bar_counts_what_is_written(progress: ApplyProgress) -> None:
    progress.sink(Planned({Action.CREATED: 2, Action.UNCHANGED: 5}, 1))
    progress.sink(Started(Step(WEB, Action.CREATED)))
    assert progress.describe() == "deployment.apps/web"
    progress.sink(Finished(outcome(WEB, Action.CREATED)))
    progress.sink(Finished(outcome(SETTINGS, Action.UNCHANGED)))
    [task] = progress.progress.tasks
    assert (task.completed, task.total, progress.describe()) == (1, 2, "")


def test_there_is_no_bar_for_nothing(progress: ApplyProgress) -> None:
    progress.sink(Planned({Action.UNCHANGED: 5}, 1))
    assert progress.progress.tasks == []


def test_there_is_a_bar_for_waiting(progress: ApplyProgress) -> None:
    progress.sink(Waiting(WEB, "1 of 3 pods"))
    assert progress.describe() == "waits for deployment.apps/web: 1 of 3 pods"
    progress.sink(Ready(WEB, 1))
    assert progress.describe() == ""


def test_being_throttled_is_told_until_something_is_written_again(progress: ApplyProgress) -> None:
    progress.sink(Throttled(1.5, 4))
    assert progress.describe() == "the server throttles requests: 1.5 s, 4 at once"
    progress.sink(Started(Step(WEB, Action.CREATED)))
    assert progress.describe() == "deployment.apps/web"


def test_a_plan_is_a_table_by_wave() -> None:
    steps = [
        Step(SETTINGS, Action.CREATED),
        Step(WEB, Action.CONFIGURED, "spec.replicas", wave=1),
        Step(SETTINGS, Action.UNCHANGED, wave=1),
    ]
    assert plan_text(steps, PLAIN).splitlines() == [
        "wave 1",
        "  created     ConfigMap/shop/settings",
        "wave 2",
        "  configured  Deployment.apps/shop/web  spec.replicas",
        "",
        "Plan: 1 created, 1 configured, 1 unchanged",
    ]


def test_a_plan_of_nothing_says_so() -> None:
    assert plan_text([], PLAIN) == "Plan: nothing\n"


def test_a_step_that_is_not_sure_says_so() -> None:
    assert "(to be validated by the server)" in plan_text([Step(WEB, Action.CONFIGURED, "no schema", unsure=True)], PLAIN)


def test_a_table_fits_a_narrow_terminal() -> None:
    steps = [Step(Ref("", "ConfigMap", "n" * 60, "x" * 60), Action.CONFIGURED, "a reason that is long " * 5)]
    assert max(map(len, plan_text(steps, NARROW).splitlines())) <= NARROW.width


def test_counts_stand_in_the_order_of_the_actions() -> None:
    assert tally({Action.FAILED: 1, Action.CREATED: 2}) == "2 created, 1 failed"


def test_a_program_gets_every_object_and_a_summary() -> None:
    report = outcomes_report([outcome(WEB, Action.CREATED), outcome(SETTINGS, Action.HELD, "no")])
    assert report["summary"] == {"created": 1, "held": 1}
    assert report["objects"][1] == {
        "kind": "ConfigMap",
        "namespace": "shop",
        "name": "settings",
        "action": "held",
        "reason": "no",
        "uid": "7f",
        "seconds": 0.25,
    }


def test_a_program_gets_fields_and_who_holds_them() -> None:
    change = FieldChange(("spec", "replicas"), 1, ABSENT, (EDIT,))
    step = Step(WEB, Action.CONFIGURED, changes=[change], conflicts=[Conflict(("spec", "x.y/z"), EDIT)])
    [value] = steps_report([step])["objects"]
    owner = {"manager": "kubectl-edit", "operation": "Update", "time": "2026-01-01T00:00:00Z"}
    assert value["changes"] == [{"path": "spec.replicas", "old": 1, "owners": [owner]}]
    assert value["conflicts"] == [{"path": 'spec["x.y/z"]', "owner": owner}]


def test_null_is_a_value() -> None:
    [value] = steps_report([Step(WEB, Action.CONFIGURED, changes=[FieldChange(("a",), ABSENT, None)])])["objects"]
    assert value["changes"] == [{"path": "a", "new": None}]
