"""Prints objects as a table like that of kubectl, with a line for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress

from applier.ref import Manifest
from grove_cli.queries.list_query import Found
from grove_cli.render.as_table import HEADER, WAITING, table
from grove_cli.terminal import Terminal, visible
from grove_compiler.record import record
from kube_objects.manifest import labels_of, namespace_of


@record
class Row:
    """The cells of an object, those of wide tables included; `waits` marks one that people should look at."""

    cells: tuple[str, ...]
    waits: bool = False


@record
class KindView:
    """How the objects of a kind are listed.

    `labels` select those that are ours, and `matches` those among them; `mismatch` says what another one is not. The table has `columns`,
    those in `wide` only with `-o wide`, and needs the objects of the kinds `beside`. `rows` takes what was read and the time, and returns a
    row for each object.
    """

    kind: str
    columns: tuple[str, ...]
    rows: Callable[[Found, float], Sequence[Row]]
    beside: tuple[str, ...] = ()
    wide: frozenset[str] = frozenset()
    labels: str = ""
    matches: Callable[[Manifest], bool] | None = None
    mismatch: str = ""


@record
class LabelColumns:
    """The columns that show labels, as kubectl's: one for each of `names`, and with `all` one for all labels."""

    names: Sequence[str] = ()
    all: bool = False

    @property
    def headers(self) -> list[str]:
        """The last parts of the names."""
        return [*(name.rpartition("/")[2].upper() for name in self.names), *(["LABELS"] if self.all else [])]

    def cells(self, manifest: Manifest) -> list[str]:
        """Returns the cells of an object; that of a label that it does not have is empty."""
        labels = labels_of(manifest)
        everything = ",".join(f"{key}={labels[key]}" for key in sorted(labels)) or "<none>"
        return [visible(str(cell)) for cell in (*(labels.get(name) or "" for name in self.names), *([everything] if self.all else []))]


def table_text(
    view: KindView,
    found: Found,
    now: float,
    terminal: Terminal,
    *,
    wide: bool = False,
    headers: bool = True,
    with_namespaces: bool = False,
    labels: LabelColumns | None = None,
) -> str:
    """Returns the table, with labels before a last column of sentences. On a terminal that is cut to the width, unless it is wide."""
    shown = [wide or column not in view.wide for column in view.columns]
    rows = view.rows(found, now)
    lines = [[visible(cell) for cell in compress(row.cells, shown)] for row in rows]
    head = [*compress(view.columns, shown)]
    if labels is not None:
        at = len(head) - (head[-1] == "WHY")
        head[at:at] = labels.headers
        for manifest, line in zip(found.objects, lines, strict=True):
            line[at:at] = labels.cells(manifest)
    if with_namespaces:
        head = ["NAMESPACE", *head]
        lines = [[namespace_of(manifest), *line] for manifest, line in zip(found.objects, lines, strict=True)]
    styles = [*([HEADER] if headers else []), *(WAITING if row.waits else "" for row in rows)]
    return table([head, *lines] if headers else lines, terminal._replace(wraps=terminal.wraps and not wide), styles)
