"""Says how much of what is random a run tries: one setting for properties and simulations, `EFFORT`.

`check` is for a change that one is writing, `test` for a commit, `night` for an unattended run; a number is a multiple of
`test`. What is tried below `night` is the same each time, so that nobody meets a failure that somebody else has put there.
"""

from __future__ import annotations

import math
import os

from hypothesis import settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

VARIABLE = "EFFORT"
LEVELS = {"check": 0.2, "test": 1.0, "night": 100.0}
LEAST = 5
"""Runs of anything, however small the effort is."""
PROPERTY = 100
"""Examples of a property that says nothing about it: Hypothesis' own number."""


class UnknownEffort(ValueError):
    """Reports an effort that is neither a level nor a number."""


def effort() -> float:
    """Returns the multiple of the usual number of runs. Raises `UnknownEffort`."""
    given = os.environ.get(VARIABLE, "test")
    try:
        factor = LEVELS[given] if given in LEVELS else float(given)
    except ValueError:
        factor = math.nan
    if not 0 <= factor < math.inf:
        raise UnknownEffort(f"{VARIABLE}={given} is neither a number nor one of {', '.join(LEVELS)}")
    return factor


def runs(usual: int) -> int:
    """Returns how often something is to be tried that is usually tried so often."""
    return max(min(LEAST, usual), round(usual * effort()))


def is_repeatable() -> bool:
    """Returns whether each run is to try the same."""
    return effort() <= 1


def load_profile() -> None:
    """Sets what holds for all properties. They have no time limit of their own: a busy machine is no counterexample."""
    settings.register_profile("effort", deadline=None, max_examples=runs(PROPERTY), derandomize=is_repeatable())
    settings.load_profile("effort")
    if is_repeatable():
        # Hypothesis draws constants of the program's modules, of those that are imported: a test would try one thing alone and another
        # one in the suite, where it fails for nobody who looks into it.
        providers._get_local_constants = Constants
