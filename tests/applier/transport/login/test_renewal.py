"""Credentials are renewed once for all requests that wait for it."""

from __future__ import annotations

import asyncio

import pytest

from applier.errors import CredentialsError
from applier.transport.login.credentials import COOL_DOWN, Renewal

from ..scripted import raised

NONE = ("", "")


class Tokens:
    """Credentials that give these tokens in turn, each when it is asked for, and are due when a test says so."""

    def __init__(self, *answers: str | CredentialsError) -> None:
        self.answers, self.token, self.asked, self.is_due = list(answers), "first", 0, False
        self.pair = NONE
        self.time = 0.0
        self.renewal = Renewal(self, now=lambda: self.time)

    def authorization(self) -> str:
        return self.token

    def due(self) -> bool:
        return self.is_due

    async def renew(self) -> bool:
        self.asked += 1
        await asyncio.sleep(0)
        before, answer = self.token, self.answers.pop(0)
        if isinstance(answer, CredentialsError):
            raise answer
        self.token, self.is_due = answer, False
        return answer != before


async def test_what_is_not_due_is_used() -> None:
    assert await Tokens().renewal.ready() == ("first", NONE, "")


async def test_what_is_due_is_renewed_once_for_all() -> None:
    tokens = Tokens("second")
    tokens.is_due = True
    assert await asyncio.gather(*(tokens.renewal.ready() for _ in range(8))) == [("second", NONE, "")] * 8


async def test_a_token_that_comes_again_is_asked_for_once_for_all() -> None:
    tokens = Tokens("first")
    tokens.is_due = True
    await asyncio.gather(*(tokens.renewal.ready() for _ in range(8)))
    assert tokens.asked == 1


async def test_what_was_refused_is_renewed_once_for_all() -> None:
    tokens = Tokens("second")
    assert await asyncio.gather(*(tokens.renewal.after(("first", NONE, "")) for _ in range(8))) == [True] * 8


async def test_a_refusal_that_comes_late_is_answered_by_what_others_got() -> None:
    tokens = Tokens("second")
    await tokens.renewal.after(("first", NONE, ""))
    assert await tokens.renewal.after(("first", NONE, ""))
    assert tokens.asked == 1


async def test_nothing_new_is_an_answer_for_all_who_wait() -> None:
    tokens = Tokens("first")
    assert await asyncio.gather(*(tokens.renewal.after(("first", NONE, "")) for _ in range(8))) == [False] * 8


async def test_later_it_is_asked_for_again() -> None:
    tokens = Tokens("first", "second")
    await tokens.renewal.after(("first", NONE, ""))
    tokens.time += COOL_DOWN
    assert await tokens.renewal.after(("first", NONE, ""))


async def test_another_certificate_is_something_new() -> None:
    tokens = Tokens()
    tokens.pair = ("certificate", "key")
    assert await tokens.renewal.after(("first", NONE, ""))


async def test_a_failure_is_one_for_all_who_wait() -> None:
    tokens = Tokens(CredentialsError("no"))
    errors = await asyncio.gather(*(raised(lambda: tokens.renewal.after(("first", NONE, ""))) for _ in range(8)))
    assert {str(error) for error in errors} == {"no"}
    assert tokens.asked == 1


@pytest.mark.parametrize("due", [True, False])
async def test_a_while_after_a_failure_it_is_tried_again(due: bool) -> None:
    tokens = Tokens(CredentialsError("no"), "second")
    await raised(lambda: tokens.renewal.after(("first", NONE, "")))
    tokens.time += COOL_DOWN
    tokens.is_due = due
    assert (await tokens.renewal.ready() == ("second", NONE, "")) == due
    assert await tokens.renewal.after(("first", NONE, ""))


async def test_whoever_waits_goes_on_when_the_one_who_asked_gives_up() -> None:
    tokens = Tokens("second")
    first, others = (asyncio.create_task(tokens.renewal.after(("first", NONE, ""))) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    tokens.answers.append("third")
    assert await others
