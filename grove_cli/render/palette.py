"""Assigns colours to domains; all colours are distinguishable with any kind of colour vision."""

from __future__ import annotations

from collections.abc import Iterable

from grove_cli.render.domains import Domain

TINTS = ("#cfe3f7", "#fbe3c0", "#d3ecd9", "#f3d5e3", "#e0daf3", "#f7f0bd", "#cdeef0", "#e6e0d8")
"""Light colours, as a background of dark text."""
STRONG = ("#0b6bb8", "#b35a00", "#1c7c3c", "#b0306f", "#6246b0", "#7a6a00", "#00777f", "#6b5a45")
"""The same hues for lines on white."""


def topology_colours(domains: Iterable[Domain]) -> dict[str, int]:
    """Returns the colour of each gang with a topology constraint, by its id: one per node label, of the required or else preferred domain.

    Colours are assigned from the end, where the subdued ones are, and to MNNVL domains, which are drawn on top, from the beginning.
    """
    keys: dict[str, int] = {}
    colours = {}
    for domain in domains:
        if domain.type == "topology":
            colour = keys.setdefault(domain.required or domain.preferred, -1 - len(keys) % len(TINTS))
            if domain.scope == "gang":
                colours[domain.gang] = colour
    return colours


def mnnvl_colours(domains: Iterable[Domain]) -> dict[str, int]:
    """Returns the colour of each object in a ComputeDomain, by its id: one per domain, in rotation."""
    colours: dict[str, int] = {}
    for position, domain in enumerate(domain for domain in domains if domain.type == "mnnvl"):
        colours.update((member, position % len(TINTS)) for member in domain.members)
    return colours
