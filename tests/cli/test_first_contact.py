"""An operator that starts before its API server waits for it, and says so."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine
from pathlib import Path

import pytest

from applier.errors import ClusterError, Forbidden, ServerFailure, Unreachable, Untrusted
from applier.testing.virtual_time import in_virtual_time, run_virtual
from grove_cli.cluster.session import Failed
from grove_cli.operator import first_contact
from grove_cli.operator.first_contact import WITHIN, first_answer
from tests.cli.running import run
from tests.cli.test_operator import KUBECONFIG


def server(*failures: Exception) -> Callable[[], Coroutine[None, None, str]]:
    """One that fails so often, each time in its own way, and then responds."""
    left = list(failures)

    async def ask() -> str:
        if left:
            raise left.pop(0)
        return "1.35"

    return ask


@in_virtual_time
async def test_it_is_asked_again_until_it_responds(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        await first_answer(server(Unreachable("refused"), ServerFailure(503, "ServiceUnavailable", "not yet"), Unreachable("refused")))
        == "1.35"
    )
    assert capsys.readouterr().err == "grove: waiting for the API server, 90 s more: refused\n"


@in_virtual_time
async def test_what_is_waited_for_is_told_every_few_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    await first_answer(server(*[Unreachable("refused")] * 15))
    assert [line.split(":")[1] for line in capsys.readouterr().err.splitlines()] == [
        f" waiting for the API server, {left} s more" for left in (90, 80, 70)
    ]


@in_virtual_time
async def test_it_is_given_up_in_the_end_with_the_last_reason() -> None:
    clock = asyncio.get_running_loop().time
    with pytest.raises(Unreachable, match="refused"):
        await first_answer(server(*[Unreachable("refused")] * 1000))
    assert WITHIN - 5 < clock() <= WITHIN


@pytest.mark.parametrize("error", [Forbidden(403, "Forbidden", "no"), Untrusted("a wrong certificate")], ids=["no right", "no trust"])
def test_what_waiting_does_not_solve_ends_it_at_once(error: ClusterError, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(type(error)):
        run_virtual(first_answer(server(error)))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("command", ["run", "webhooks"])
def test_both_programs_wait(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(told: str) -> None:
        raise Failed(f"gave up {told}")

    monkeypatch.setattr(first_contact, "say", give_up)
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(KUBECONFIG)
    ended = run("operator", command, "--kubeconfig", str(kubeconfig))
    assert ended.code == 2
    assert re.match(r"grove: gave up waiting for the API server, \d+ s more: cannot reach", ended.err)
