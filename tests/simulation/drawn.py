"""Draws random schedules by number: the same schedule for a number, whatever else a process has imported or drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

from tests.simulation.admission import REFUSED
from tests.simulation.forgeries import ANY_ORDER, FORGERIES, IN_ORDER
from tests.simulation.schedules import (
    Action,
    Ask,
    Autoscale,
    Break,
    Cordon,
    CutOff,
    Defaults,
    Die,
    Drain,
    Edit,
    Fail,
    Fault,
    Forge,
    GoDown,
    Late,
    Lose,
    MakeAnew,
    Meddle,
    Night,
    Pass,
    Pause,
    Proceed,
    Quota,
    Resize,
    Resume,
    Room,
    Scale,
    Slow,
    Tick,
)
from tests.simulation.sets import DEC, PRE

A = TypeVar("A", covariant=True)
Draw = Callable[[Random], A]

TAGS = ("second", "third", "broken", "busybox", "nowhere", "nowhere-else")
EDITED = ((), (0,), (1,), (0, 1))
DECLARED = "busybox"
"""What sets run first: an edit to that is taken back."""
SIZES = ((PRE, 2), (PRE, 3), (PRE, 4), (DEC, 1), (DEC, 2), (DEC, 3))
"""Cliques of the scaling group, and how many pods of each are declared: as many as have to start together, or more."""
STARTUPS = (IN_ORDER, ANY_ORDER)
SCALED = ("set", "clique", "group")
MEDDLED_WITH = ("clique", "group", "gang", "service")
LATE_KINDS = ("Pod", "PodClique", "PodCliqueScalingGroup", "PodCliqueSet", "PodGang", "ControllerRevision")
LENGTHS = (5, 5, 10, 20, 50)
"""Most events of a schedule. Most are short: what needs few events is found by many schedules, and what needs many by some."""

GOES_ON: Sequence[Draw[Pass | Tick]] = (lambda draw: Pass(draw.randint(0, 30)), lambda draw: Tick())
BAD_LUCK: Sequence[Draw[Lose | Die | CutOff | Slow | Late | Fault | Break | GoDown]] = (
    lambda draw: Lose(draw.randint(0, 30)),
    lambda draw: Die(draw.randint(0, 20), draw.randint(0, 1)),
    lambda draw: CutOff(draw.randint(1, 40), draw.randint(0, 1)),
    lambda draw: Slow(draw.randint(0, 8)),
    lambda draw: Late(draw.choice(LATE_KINDS), draw.randint(1, 60)),
    lambda draw: Late(draw.choice(LATE_KINDS), draw.randint(1, 60)),
    lambda draw: Fault(draw.randint(0, 4), draw.randint(0, 4)),
    lambda draw: Break(draw.random() < 0.5),
    lambda draw: GoDown(draw.randint(1, 100)),
)
INTERVENTIONS: Sequence[Draw[Action]] = (
    lambda draw: Edit(draw.choice(TAGS), draw.choice(EDITED)),
    lambda draw: Resize(*draw.choice(SIZES), draw.choice(("", *TAGS))),
    lambda draw: Scale(draw.choice(SCALED), draw.randint(0, 4)),
    lambda draw: Scale("set", draw.randint(0, 2)),
    lambda draw: MakeAnew(draw.randint(0, 5)),
    lambda draw: Meddle(draw.choice(MEDDLED_WITH), draw.randint(0, 30), draw.random() < 0.5),
    lambda draw: Fail(draw.randint(0, 30)),
    lambda draw: Room(draw.randint(-3, 3)),
    lambda draw: Night(),
)
REFUSALS: Sequence[Draw[Edit | Forge | Defaults | Ask | Quota | Cordon | Drain | Autoscale]] = (
    lambda draw: Edit(REFUSED, draw.choice(EDITED)),
    lambda draw: Edit(DECLARED, ()),
    lambda draw: Forge(draw.choice(STARTUPS)),
    lambda draw: Defaults(),
    lambda draw: Ask(draw.choice((1, 8, 10))),
    lambda draw: Quota(draw.randint(-3, 3)),
    lambda draw: Cordon(),
    lambda draw: Drain(draw.randint(0, 2)),
    lambda draw: Autoscale(draw.choice(SCALED), draw.randint(0, 4)),
)
"""What API servers do with what an operator writes, or let pass of what others write; and what else clusters have that are in use."""
NEVER_RUN = ("nowhere", "nowhere-else", "broken", REFUSED)
PROCEEDS: Sequence[Draw[Pass | Proceed]] = (lambda draw: Pass(draw.randint(0, 30)), lambda draw: Proceed(draw.randint(1, 6)))
EDITORS: Sequence[Draw[Action]] = (
    lambda draw: Edit(draw.choice(NEVER_RUN), draw.choice(EDITED)),
    lambda draw: Edit(DECLARED, ()),
    lambda draw: Pause(),
    lambda draw: Resume(),
    lambda draw: Forge(draw.choice(STARTUPS)),
    lambda draw: Scale(draw.choice(SCALED), draw.randint(0, 4)),
    lambda draw: Lose(draw.randint(0, 30)),
    lambda draw: Lose(draw.randint(0, 30)),
    lambda draw: Night(),
)
"""What people do with edits that cannot work: they pause, take back, replace pods by hand, go to bed."""
RESIZERS: Sequence[Draw[Action]] = (
    lambda draw: Resize(*draw.choice(SIZES), draw.choice(("second", "third"))),
    lambda draw: Resize(*draw.choice(SIZES), draw.choice(("", "second", DECLARED))),
    lambda draw: Edit(draw.choice(("second", "third", DECLARED)), (draw.choice((PRE, DEC)),)),
    lambda draw: Scale("group", draw.randint(1, 4)),
    lambda draw: Fault(draw.randint(1, 4), draw.randint(0, 2)),
    lambda draw: Die(draw.randint(0, 40), 0),
    lambda draw: Late(draw.choice(LATE_KINDS), draw.randint(1, 20)),
)
"""What people do to the sizes of cliques of a scaling group, whose pods all know how many they are, and what comes between."""
FORGERS: Sequence[Draw[Action]] = (
    *[lambda draw: Forge(draw.choice([*FORGERIES]))] * 4,
    *EDITORS,
    lambda draw: Resize(*draw.choice(SIZES), ""),
    lambda draw: Meddle(draw.choice(MEDDLED_WITH), draw.randint(0, 30), takes_label=False),
    lambda draw: Die(draw.randint(0, 20), 0),
    lambda draw: Room(draw.randint(-3, 3)),
    lambda draw: Drain(draw.randint(0, 2)),
    lambda draw: Autoscale(draw.choice(SCALED), draw.randint(0, 4)),
)
"""What goes on around edits that nobody may make: of a set that is held nothing that serves may go, and what is lost comes again."""
SOME = 5
"""How many kinds of events an eventful schedule has: with all of them at once two of a kind that matter to each other hardly ever meet."""


def drawn(number: int, goes_on: Sequence[Draw[A]], happens: Sequence[Draw[A]]) -> list[A]:
    """Draws the schedule of a number. Every other one has events of a few kinds only; of all, a third is that the world `goes_on`."""
    draw = Random(number)
    happening = draw.sample(happens, SOME) if number % 2 else happens
    length = draw.randint(1, draw.choice(LENGTHS))
    return [draw.choice(goes_on if draw.random() < 0.35 else happening)(draw) for _ in range(length)]


def schedule(number: int) -> list[Action]:
    """Draws a schedule of a set that serves."""
    return drawn(number, GOES_ON, [*INTERVENTIONS, *BAD_LUCK])


def refused_schedule(number: int) -> list[Action]:
    """Draws a schedule of a set that serves in a cluster that refuses, adds, and takes its time."""
    return drawn(number, GOES_ON, [*INTERVENTIONS, *BAD_LUCK, *REFUSALS, *REFUSALS])


def edited_schedule(number: int) -> list[Action]:
    """Draws a schedule of a set that serves and gets edits that cannot work, or that nobody may make; between them much goes on."""
    return drawn(number, PROCEEDS, EDITORS)


def resized_schedule(number: int) -> list[Action]:
    """Draws a schedule of a set that serves and the cliques of whose scaling group are declared with other numbers of pods."""
    return drawn(number, GOES_ON, RESIZERS)


def forged_schedule(number: int) -> list[Action]:
    """Draws a schedule of a set that serves and gets edits that are held, while pods are lost, rolled and scaled."""
    return drawn(number, PROCEEDS, FORGERS)
