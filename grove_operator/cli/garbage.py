"""Keeps pauses short in which Python looks for garbage, for programs that run on and answer meanwhile.

A review or a step leaves some hundred values that point at one another: a set and its cliques. Only the collector finds them. It looks at
what is young each time that there are so many more values than before, and at what is old when that has grown by a quarter.
"""

from __future__ import annotations

import gc

YOUNG = 2_000
"""Values between two looks, of 0.2 ms each. A look at 50,000 took 15, for no cache of a processor has so many, and four answers waited."""
LOOKS = 10
"""Looks at what is young before one at what is left of it, of 1 ms each; and as many of these before one at what is old."""


def collect_in_small_portions() -> None:
    """Lets Python look for garbage, which a program starts without, often and so for a short time."""
    gc.enable()
    gc.set_threshold(YOUNG, LOOKS, LOOKS)


def spare_what_is_there() -> None:
    """Keeps all values of now out of later looks: modules, rules and schemas, which stay as long as the program runs."""
    gc.collect()
    gc.freeze()
