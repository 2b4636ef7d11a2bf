"""Reads the files of a command line as inputs of the compiler."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from grove_cli.errors import UnreadableInput
from grove_cli.reading.files import STDIN, STDIN_NAME, InputFile, read_all, read_one
from grove_compiler.graph.diagnostic import Diagnostic, has_errors
from grove_compiler.graph.node import Manifest
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.source.document import Document, objects_in
from grove_compiler.source.reader import read_bytes

if TYPE_CHECKING:
    from grove_cli.reading.silencers import Silenced
    from grove_compiler.compile import Inputs


class InputReader:
    """Reads files once, and retains their text and errors for messages."""

    def __init__(self) -> None:
        self.problems: list[Diagnostic] = []
        self.snapshot_documents: list[Document] = []
        self._files: dict[str, InputFile] = {}

    def read(
        self,
        files: Sequence[str],
        settings: Settings,
        *,
        config: str | None = None,
        snapshot: str | None = None,
        old: str | None = None,
    ) -> Inputs:
        """Returns the inputs of a compilation. Raises `UnreadableInput` for files that cannot be read or are empty.

        What is no input in a folder is named on standard error.
        """
        from grove_compiler.compile import Inputs  # whoever only reads manifests needs no compiler

        return Inputs(
            documents=self.documents(files, config=config, others=(snapshot, old)),
            snapshot=self.snapshot(snapshot) if snapshot else [],
            old=self._former(old) if old else [],
            config=self.configuration(config) if config else None,
            settings=settings,
            is_complete=not has_errors(self.problems),
        )

    def documents(self, files: Sequence[str], *, config: str | None = None, others: Sequence[str | None] = ()) -> list[Document]:
        """Returns the documents of files and folders, of folders without files that options name. Raises `UnreadableInput` as `read`."""
        read = read_all(files, (config, *others))
        documents = self._sorted_out(read, config) if any(file.is_found for file in read) else self._all(read)
        if not documents and not self.problems:
            raise UnreadableInput([f"{file.name}: empty: it contains no manifest" for file in read])
        return documents

    def configuration(self, given: str | InputFile) -> Document | None:
        """Returns the document of a configuration, which a path names or which is given; none for an invalid one, which adds a problem.

        A ConfigMap stands for the configuration in its data, as operators have it mounted (`kubectl get cm -o yaml`).
        """
        file = given if isinstance(given, InputFile) else self._read_one(given)
        documents, path = self._out_of_config_map(self._documents(file), file.name), file.name
        if len(documents) != 1 and not self.problems:
            raise UnreadableInput([f"{path}: expected one OperatorConfiguration, found {len(documents) or 'no'} documents"])
        kind = documents[0].value.get("kind") if documents and isinstance(documents[0].value, dict) else None
        if isinstance(kind, str) and kind != "OperatorConfiguration":
            raise UnreadableInput([f"{path}: expected one OperatorConfiguration, found a {kind}"])
        return documents[0] if documents else None

    def _out_of_config_map(self, documents: list[Document], path: str) -> list[Document]:
        """Returns the configuration in the data of a ConfigMap; other documents unchanged.

        Findings name it as the file and the key (`operator.yaml#config.yaml`) and count lines within the key's text.
        """
        given = documents[0].value if len(documents) == 1 else None
        if not isinstance(given, dict) or given.get("kind") != "ConfigMap":
            return documents
        data = given.get("data")
        texts = {key: text for key, text in data.items() if isinstance(text, str)} if isinstance(data, dict) else {}
        found = [key for key, text in texts.items() if "OperatorConfiguration" in text]
        if len(found) != 1:
            keys = ", ".join(found or texts) or "nothing"
            raise UnreadableInput([f"{path}: expected a ConfigMap with one OperatorConfiguration in its data, found {keys}"])
        return self._documents(InputFile(f"{path}#{found[0]}", texts[found[0]].encode()))

    def find_file(self, name: str) -> InputFile | None:
        """Returns the file that a finding names, if it was read here."""
        return self._files.get(name)

    def silence(
        self, findings: Sequence[Diagnostic], entries: Sequence[str] = (), rules: Mapping[str, InputFile] | None = None
    ) -> tuple[list[Diagnostic], list[Silenced]]:
        """Returns the findings that remain, and those that comments or options silence; see `silencers`."""
        files = (*self._files.values(), *(rules or {}).values())
        if not entries and not any(b"grove:ignore" in file.data for file in files):
            return list(findings), []
        from grove_cli.reading.silencers import silence  # most inputs silence nothing

        return silence(findings, self._files, entries, rules=rules)

    def _all(self, files: Sequence[InputFile]) -> list[Document]:
        return [document for file in files for document in self._documents(file)]

    def _sorted_out(self, files: Sequence[InputFile], config: str | None) -> list[Document]:
        from grove_cli.reading.skipped import skip_others  # only for folders

        result = skip_others([(file, self._documents(file)) for file in files], config)
        if not result.documents and result.skipped and not self.problems:
            raise UnreadableInput(
                [f"{name}: not a manifest, or part of a golden case; pass the file itself to compile it" for name in result.skipped]
            )
        if sys.stderr:
            sys.stderr.write(result.notice(config))
        return result.documents

    def _read_one(self, path: str) -> InputFile:
        if path == STDIN and STDIN_NAME in self._files:
            raise UnreadableInput([f"{STDIN_NAME}: already read; only one of the inputs can be -"])
        return read_one(path)

    def lists(self, paths: Sequence[str]) -> list[Document]:
        """Returns the documents of files and folders with objects as kubectl prints them. Raises `UnreadableInput`."""
        return [document for file in read_all(paths) for document in self._listed(file)]

    def _not_empty(self, path: str) -> list[Document]:
        """Reads the file of an option."""
        return self._listed(self._read_one(path))

    def _listed(self, file: InputFile) -> list[Document]:
        """Returns the documents of a file. An empty one is an error, as the preceding program has probably failed."""
        documents = self._documents(file)
        if not documents and not self.problems:
            raise UnreadableInput([f"{file.name}: empty; kubectl prints a List even where nothing exists"])
        return documents

    def _former(self, path: str) -> list[Document]:
        """Reads the former manifests. What is none would match nothing, so that no change would be checked."""
        documents = self._not_empty(path)
        for document in documents:
            for at, item in objects_in(document.value):
                if not isinstance(item, dict) or not isinstance(item.get("kind"), str):
                    message = "expected a former manifest: a map with `apiVersion`, `kind`, `metadata` and `spec`"
                    self.problems.append(document.finding("input/not-an-object", message, at))
        return documents

    def _documents(self, file: InputFile) -> list[Document]:
        self._files[file.name] = file
        documents, problems = read_bytes(file.data, file.name)
        self.problems += problems
        return documents

    def snapshot(self, path: str) -> list[Manifest]:
        """Returns the objects of a file in the format of kubectl. Errors are added to `problems`."""
        from grove_cli.reading.snapshot import read_objects  # only with --snapshot

        self.snapshot_documents = documents = self._not_empty(path)
        return [result for document in documents for result in read_objects(document, self.problems.append)]
