"""The command line's files as the compiler takes them, and their text for messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grove_compiler.compile import Inputs
from grove_compiler.source.reader import read_bytes

from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.model.settings import Settings
from grove_compiler.source.document import Document
from grove_operator.cli.files import InputFile, UnreadableInput, read_all, read_one
from grove_operator.cli.findings import Text


class InputReader:
    """Reads files once, keeps their text, and collects what is wrong with them."""

    def __init__(self) -> None:
        self.problems: list[Diagnostic] = []
        self._texts: dict[str, bytes] = {}

    def read(
        self,
        files: Sequence[str],
        settings: Settings,
        *,
        config: str | None = None,
        snapshot: str | None = None,
        old: str | None = None,
    ) -> Inputs:
        """Everything that a compilation needs. Raises `UnreadableInput` for what cannot be looked at or holds nothing."""
        read = read_all(files)
        documents = [document for file in read for document in self._documents(file)]
        if not documents and not self.problems:
            raise UnreadableInput([f"{file.name}: empty, there is no manifest in it" for file in read])
        return Inputs(
            documents=documents,
            snapshot=self._snapshot(snapshot) if snapshot else [],
            old=self._documents(read_one(old)) if old else [],
            config=self._single(config) if config else None,
            settings=settings,
        )

    def find_text(self, name: str) -> Text | None:
        data = self._texts.get(name)
        return None if data is None else Text(name, data)

    def _documents(self, file: InputFile) -> list[Document]:
        self._texts[file.name] = file.data
        documents, problems = read_bytes(file.data, file.name)
        self.problems += problems
        return documents

    def _single(self, path: str) -> Document | None:
        documents = self._documents(read_one(path))
        if len(documents) != 1 and not self.problems:
            raise UnreadableInput([f"{path}: expected one OperatorConfiguration, found {len(documents) or 'no'} documents"])
        return documents[0] if documents else None

    def _snapshot(self, path: str) -> list[dict[str, Any]]:
        """The objects in a snapshot; `List` objects, as kubectl prints them, count as their items."""
        objects: list[dict[str, Any]] = []
        for document in self._documents(read_one(path)):
            items = document.value.get("items") if isinstance(document.value, dict) else None
            values = items if isinstance(items, list) else [document.value]
            for position, value in enumerate(values):
                if isinstance(value, dict) and isinstance(value.get("kind"), str):
                    objects.append(value)
                else:
                    where = f"items[{position}]" if items is values else ""
                    line, column = document.place(("items", position) if where else ())
                    message = "not a Kubernetes object: expected a map with apiVersion, kind and metadata"
                    self.problems.append(Diagnostic("snapshot/not-an-object", "error", message, where, path, line, column))
        return objects
