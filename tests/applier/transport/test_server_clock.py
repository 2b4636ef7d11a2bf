"""The server's time: found in the dates of its responses, whatever the clock of this machine says, then or later."""

from __future__ import annotations

import datetime
import math
import time
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from applier.transport import ApiCluster
from applier.transport.server_clock import INTERVAL, ServerClock, date_of

from .scripted import CONFIG_MAPS, Answer, Scripted, config_map, status

NOW = 1_800_000_000.0
NO_DATES = (
    "",
    "soon",
    "Sun, 29 Nov 2026 12:42 GMT",
    "Sun, 31 Feb 2026 12:42:42 GMT",
    f"Sun, {10**20} Feb 2026 12:42:42 GMT",
    "Sun, 29 Nov 2026 12:42:42 CET",
    "1 2 3 4 5 6",
)
OBJECT = "/api/v1/namespaces/ns/configmaps/a"


def written(seconds: float) -> dict[str, str]:
    """The header of a server that has this time."""
    return {"Date": format_datetime(datetime.datetime.fromtimestamp(math.floor(seconds), datetime.UTC), usegmt=True)}


class Machine:
    """A machine whose clock is `ahead` of the server's by so many seconds, and whose monotonic clock began whenever."""

    def __init__(self, ahead: float) -> None:
        self.elapsed, self.ahead = 0.0, ahead
        self.clock = ServerClock(lambda: self.server + self.ahead, lambda: 77.0 + self.elapsed)

    @property
    def server(self) -> float:
        return NOW + self.elapsed

    def ask(self, there: float = 0.01, back: float = 0.01) -> None:
        """Asks the server, whose answer takes so long, and which dates it when the request comes."""
        began = 77.0 + self.elapsed
        self.elapsed += there
        headers = written(self.server)
        self.elapsed += back
        self.clock.note(headers, began)


@pytest.mark.parametrize("ahead", [3600.0, -3600.0, 3.0, -3.0, 86400.0 * 400])
def test_the_time_of_a_server_is_known_to_a_second_from_its_first_response_on(ahead: float) -> None:
    machine = Machine(ahead)
    assert machine.clock() == pytest.approx(machine.server + ahead)
    machine.ask()
    assert machine.server - 1.03 <= machine.clock() <= machine.server
    for _ in range(40):
        machine.elapsed += 1.37
        machine.ask()
        assert machine.server - 1.03 <= machine.clock() <= machine.server
    assert machine.clock() == pytest.approx(machine.server, abs=0.1)


@given(fraction=st.floats(0, 1), asked=st.lists(st.tuples(st.floats(0, 40), st.floats(0, 20), st.floats(0, 20)), max_size=20))
def test_where_both_clocks_are_right_no_response_changes_anything(fraction: float, asked: list[tuple[float, float, float]]) -> None:
    machine = Machine(0.0)
    machine.elapsed = fraction
    for pause, there, back in asked:
        machine.elapsed += pause
        machine.ask(there, back)
        assert machine.clock() == pytest.approx(machine.server, abs=1e-5)


def test_a_response_that_a_cache_has_kept_does_not_tell_the_time() -> None:
    machine = Machine(0.0)
    machine.clock.note({**written(NOW - 7200.0), "Age": "7200"}, 77.0)
    assert machine.clock() == pytest.approx(machine.server)


def test_a_machine_whose_clock_is_set_later_keeps_the_time_of_the_server() -> None:
    machine = Machine(0.0)
    machine.ask()
    machine.ahead = 7200.0
    machine.elapsed += 5
    assert machine.clock() == pytest.approx(machine.server)
    machine.ask()
    assert machine.clock() == pytest.approx(machine.server)


def test_a_server_whose_clock_is_set_is_followed() -> None:
    machine = Machine(0.0)
    machine.ask()
    machine.elapsed += INTERVAL
    machine.clock.note(written(machine.server - 500.0), 77.0 + machine.elapsed)
    assert machine.clock() == pytest.approx(machine.server - 500.0, abs=1.03)


def told(machine: Machine, *later: float) -> None:
    """Servers answer, one every five seconds, whose clocks are so far from the right time."""
    for seconds in later:
        machine.elapsed += 5.0
        machine.clock.note(written(machine.server + seconds), 77.0 + machine.elapsed)


def test_of_servers_with_different_times_the_earliest_counts() -> None:
    machine = Machine(0.0)
    machine.ask()
    told(machine, *[3600.0, 3600.0, 0.0] * 20)
    assert machine.clock() == pytest.approx(machine.server)
    told(machine, *[0.0, -600.0, 0.0, 0.0] * 20)
    assert machine.clock() == pytest.approx(machine.server - 600.0, abs=1.03)


def test_a_server_whose_clock_is_set_ahead_is_followed_once_that_is_sure() -> None:
    machine = Machine(0.0)
    machine.ask()
    told(machine, *[3600.0] * 6)
    assert machine.clock() == pytest.approx(machine.server)
    told(machine, 3601.0)
    assert machine.clock() == pytest.approx(machine.server + 3600.0, abs=1.03)


@pytest.mark.parametrize("text", NO_DATES)
def test_what_is_no_date_changes_nothing(text: str) -> None:
    machine = Machine(9.0)
    machine.clock.note({"Date": text}, 77.0)
    machine.clock.note({}, 77.0)
    assert date_of(text) is None
    assert machine.clock() == pytest.approx(machine.server + 9.0)


async def test_a_connection_tells_the_time_of_its_server_and_not_that_of_a_proxy_that_fails(cluster: ApiCluster, server: Scripted) -> None:
    hour = written(time.time() - 3600.0)
    server.on("GET", OBJECT, status(403, "Forbidden", "no")._replace(headers=written(0.0)), Answer(200, config_map(), headers=hour))
    assert cluster.clock() == pytest.approx(time.time(), abs=5.0)
    with pytest.raises(Exception, match="no"):
        await cluster.get(CONFIG_MAPS, "ns", "a")
    assert cluster.clock() == pytest.approx(time.time(), abs=5.0)
    await cluster.get(CONFIG_MAPS, "ns", "a")
    assert cluster.clock() == pytest.approx(time.time() - 3600.0, abs=5.0)
