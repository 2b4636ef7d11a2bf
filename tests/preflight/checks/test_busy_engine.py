"""An engine that diagnoses for somebody else is asked again, for as long as the check has time."""

from __future__ import annotations

import pytest

from preflight_images.dcgm_diag.check import ProcessResult, until_free

IN_USE, RUNS_ALREADY, KILLED = 222, 217, 203


class Engine:
    """Ends in these ways, one after the other; its clock goes on by what is slept."""

    def __init__(self, *codes: int) -> None:
        self.codes, self.now = list(codes), 0.0

    def run(self) -> ProcessResult:
        return ProcessResult(self.codes.pop(0), "", "")

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def asked(self, tries: int = 10, end: float = 300.0) -> int:
        return until_free(self.run, tries, 10.0, end, lambda: self.now, self.sleep).code


ENDS = {
    "free at once": ([0], 0),
    "free a while later": ([IN_USE, RUNS_ALREADY, 0], 20),
    "free and then a failure": ([IN_USE, 226], 10),
    "killed, which nobody repeats": ([KILLED], 0),
}


@pytest.mark.parametrize("how", ENDS)
def test_the_engine_is_asked_until_it_is_free(how: str) -> None:
    codes, slept = ENDS[how]
    engine = Engine(*codes)
    assert (engine.asked(), engine.now, engine.codes) == (codes[-1], slept, [])


def test_an_engine_that_stays_busy_is_given_up_after_so_many_tries() -> None:
    engine = Engine(*[IN_USE] * 5)
    assert (engine.asked(tries=3), len(engine.codes)) == (IN_USE, 2)


def test_nobody_is_asked_once_the_time_of_the_check_is_over() -> None:
    engine = Engine(*[IN_USE] * 5)
    assert (engine.asked(end=25.0), engine.now) == (IN_USE, 20)
