"""Defines the option `-l` of commands that read objects of a cluster."""

from __future__ import annotations

import click

from grove_cli.cluster.options import GIVEN


def _selector(_: click.Context, __: click.Parameter, value: str) -> str:
    """Validates a selector here, as kubectl does, so that a mistake costs no request."""
    if value:
        from kube_objects.label_selector import Selector  # only with -l

        try:
            Selector(value)
        except ValueError as error:
            raise click.BadParameter(f"{error}.") from None
    return value


selector_option = click.option(
    "-l",
    "--selector",
    default="",
    metavar="SELECTOR",
    type=GIVEN,
    callback=_selector,
    help="Select by label: app=web,tier!=cache.",
)
