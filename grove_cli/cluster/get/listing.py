"""Reads and prints what `grove get sets`, `jobs`, `gangs` and `pods` list."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import click

from applier.cluster import Cluster
from applier.ref import Manifest
from grove_cli import output as outputs
from grove_cli.cluster.get.table import KindView, LabelColumns, table_text
from grove_cli.cluster.get.watch import Drawing, watch
from grove_cli.cluster.session import Failed, Session
from grove_cli.exit_codes import EXIT_FINDINGS
from grove_cli.queries.list_query import Found, ListQuery, read_list
from grove_cli.render.kubectl.formats import parse
from grove_cli.render.kubectl.values import InvalidExpression
from grove_cli.terminal import terminal_of, visible
from grove_compiler.record import record

if TYPE_CHECKING:
    from grove_cli.render.kubectl.jsonpath import JsonPathTemplate


@record
class ListOptions:
    """The options of a listing. An empty `sort_by` is by namespace and name."""

    names: tuple[str, ...] = ()
    selector: str = ""
    all_namespaces: bool = False
    output: str = ""
    sort_by: str = ""
    label_columns: tuple[str, ...] = ()
    show_labels: bool = False
    no_headers: bool = False
    ignore_not_found: bool = False
    watch: bool = False

    def check(self) -> None:
        """Raises `click.UsageError` for options that contradict each other."""
        if self.names and self.selector:
            raise click.UsageError("name cannot be provided when a selector is specified")
        if self.names and self.all_namespaces:
            raise click.UsageError("a resource cannot be retrieved by name across all namespaces")


class ViewListing:
    """A view with the options of a command line. Raises `click.UsageError` for wrong ones."""

    def __init__(self, view: KindView, asked: ListOptions) -> None:
        asked.check()
        self._view, self._asked = view, asked
        try:
            self._format = parse(asked.output, headers=not asked.no_headers)
            self._order = _order(asked.sort_by)
        except InvalidExpression as error:
            raise click.UsageError(str(error)) from None

    async def show(self, session: Session) -> int:
        """Prints the objects, again after each change with `watch`. Returns 1 if a name does not exist. Raises `ClusterError`, `Failed`."""
        namespace = "" if self._asked.all_namespaces else session.namespace
        if self._asked.watch:
            return await watch(session, lambda: self.drawn(session.cluster, namespace), namespace, self._format.name)
        found = await self._read(session.cluster, namespace)
        if found.objects or (self._format.write is not None and len(self._asked.names) != 1):
            outputs.write_text(self._text(found))
        elif not self._asked.names and not self._asked.ignore_not_found:
            print(_nothing(namespace), file=sys.stderr)
        missing = [] if self._asked.ignore_not_found else found.missing
        for line in missing:
            print(visible(line), file=sys.stderr)
        return EXIT_FINDINGS if missing else 0

    async def drawn(self, cluster: Cluster, namespace: str) -> Drawing:
        """Returns the output for one look at a cluster, and the resources that were read. Raises `ClusterError`, `Failed`."""
        found = await self._read(cluster, namespace)
        is_empty = self._format.write is None and not found.objects
        text = "".join(f"{line}\n" for line in found.missing or [_nothing(namespace)]) if is_empty else self._text(found)
        return Drawing(outputs.encoded(text), found.kinds)

    async def _read(self, cluster: Cluster, namespace: str) -> Found:
        view, asked = self._view, self._asked
        labels = ",".join(each for each in (view.labels, asked.selector) if each)
        query = ListQuery(view.kind, namespace, asked.names, labels)
        found = await read_list(cluster, query, view.beside if self._format.write is None else ())
        if view.matches is not None:
            if asked.names:
                others = (each for each in found.objects if not view.matches(each))
                found.missing += [f"grove: {each['kind']} {each['metadata']['name']!r} {view.mismatch}" for each in others]
            found.objects = [each for each in found.objects if view.matches(each)]
        found.objects = self._sorted(found.objects)
        return found

    def _sorted(self, objects: list[Manifest]) -> list[Manifest]:
        if self._order is None or len(objects) < 2:
            return objects
        from grove_cli.render.kubectl.columns import sorted_by

        try:
            return sorted_by(self._order, objects)
        except InvalidExpression as error:
            raise Failed(str(error)) from None

    def _text(self, found: Found) -> str:
        if self._format.write is None:
            return table_text(
                self._view,
                found,
                time.time(),
                terminal_of(sys.stdout),
                wide=self._format.is_wide,
                headers=not self._asked.no_headers,
                with_namespaces=self._asked.all_namespaces,
                labels=LabelColumns(self._asked.label_columns, self._asked.show_labels),
            )
        try:
            return self._format.write(found.objects, len(self._asked.names) == 1)
        except InvalidExpression as error:
            raise Failed(str(error)) from None


def _order(path: str) -> JsonPathTemplate | None:
    if not path:
        return None
    from grove_cli.render.kubectl.jsonpath import relaxed

    return relaxed(path)


def _nothing(namespace: str) -> str:
    return f"No resources found in {namespace} namespace." if namespace else "No resources found"
