"""When those who hand out credentials are asked again."""

from __future__ import annotations

import datetime

import pytest

from applier.errors import CredentialsError
from applier.transport.login.exec_plugin import EARLY, MIN_INTERVAL, Granted, Plugin, utc_now
from tests.suite.rows import rows

from ..scripted import raised


class Grants:
    """A plugin whose answers are given here, and a clock that stands still until it is set."""

    def __init__(self) -> None:
        self.time = utc_now()
        self.answers: list[Granted | CredentialsError] = []
        self.plugin = Plugin(self.ask, lambda: self.time)

    async def ask(self) -> Granted:
        answer = self.answers.pop(0)
        if isinstance(answer, CredentialsError):
            raise answer
        return answer

    def grant(self, token: str, seconds: float | None) -> None:
        """The next answer: a token that ends so many seconds from now on."""
        until = None if seconds is None else self.time + datetime.timedelta(seconds=seconds)
        self.answers.append(Granted(f"Bearer {token}", ("", ""), until))

    def later(self, seconds: float) -> None:
        self.time += datetime.timedelta(seconds=seconds)


DUE: dict[str, tuple[float | None, float, bool]] = {
    "an hour, at once": (3600, 0, False),
    "an hour, well before its end": (3600, 3600 - EARLY - 1, False),
    "an hour, shortly before its end": (3600, 3600 - EARLY, True),
    "half a minute, at once": (30, 0, False),
    "half a minute, at half of it": (30, 15, True),
    "a few seconds, before their end": (3, 2.9, False),
    "a few seconds, at their end": (3, 3, True),
    "one that has ended by our clock, at once": (-60, 0, False),
    "one that has ended by our clock, later": (-60, MIN_INTERVAL, True),
    "one without an end, much later": (None, 1e6, False),
}


@rows("case", DUE.values(), ids=DUE)
async def test_a_plugin_is_asked_again_before_its_answer_ends_but_not_at_each_request(case: tuple[float | None, float, bool]) -> None:
    seconds, later, due = case
    grants = Grants()
    grants.grant("a", seconds)
    await grants.plugin.renew()
    grants.later(later)
    assert grants.plugin.due() == due


async def test_nothing_was_asked_at_first() -> None:
    grants = Grants()
    assert (grants.plugin.due(), grants.plugin.authorization()) == (True, "")


async def test_a_failure_to_renew_early_leaves_what_holds() -> None:
    grants = Grants()
    grants.grant("a", 3600)
    await grants.plugin.renew()
    grants.later(3600 - EARLY)
    grants.answers.append(CredentialsError("offline"))
    assert not await grants.plugin.renew()
    assert (grants.plugin.authorization(), grants.plugin.due()) == ("Bearer a", False)


FATAL: dict[str, float] = {"when it was refused long before its end": 10, "after its end": 3601}


@pytest.mark.parametrize("later", FATAL.values(), ids=FATAL)
async def test_a_failure_to_renew_is_said(later: float) -> None:
    grants = Grants()
    grants.grant("a", 3600)
    await grants.plugin.renew()
    grants.later(later)
    grants.answers.append(CredentialsError("offline"))
    assert str(await raised(grants.plugin.renew)) == "offline"
