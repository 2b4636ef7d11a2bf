"""Runs a case: reads its files, compiles, compares, and writes the expectations anew on request."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

from grove_cli import rulebook
from grove_cli.errors import UnreadableInput
from grove_cli.golden.asserts import compare_asserts, read_asserts
from grove_cli.golden.case import ASSERTS, EXPECTED, EXPECTED_FINDINGS, INPUT, INPUTS, OPTIONS, RULES, Case
from grove_cli.golden.differences import Mismatch, compare_objects
from grove_cli.golden.expected_findings import compare_findings, describe, read_expected_findings, unexpected
from grove_cli.golden.options import CaseOptions, read_options
from grove_cli.golden.outcome import CaseOutcome, Placed
from grove_cli.reading.files import InputFile, read_one
from grove_cli.reading.inputs import InputReader
from grove_compiler.compile import VOCABULARY
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.engine.runtime.program import Program
from grove_compiler.engine.sources import InvalidRules
from grove_compiler.graph.diagnostic import Diagnostic, errors_of, has_errors
from grove_compiler.graph.node import Manifest
from grove_compiler.record import record
from grove_compiler.source.document import Document
from grove_compiler.source.reader import read_bytes
from grove_compiler.source.yaml_writer import write_yaml

T = TypeVar("T")


@record
class CaseResult:
    """The compared results of a case."""

    objects: list[Manifest]
    findings: list[Diagnostic]


class Broken(Exception):
    """A case that cannot be run, for errors of its own or of its rules."""

    def __init__(self, problems: Sequence[Diagnostic]) -> None:
        self.problems = list(problems)
        super().__init__()


class Runner:
    """Runs cases sequentially. `rules` are folders for all of them; each combination of rules is built once."""

    def __init__(self, rules: Sequence[str] = (), update: bool = False) -> None:
        self.rules = list(rules)
        self.update = update
        self._files: dict[str, InputFile] = {}
        self._programs: dict[tuple[str, ...], Program] = {}

    def run(self, case: Case) -> CaseOutcome:
        """Runs a case and returns its outcome. Errors are part of the outcome and not raised."""
        try:
            return self._run(case)
        except Broken as broken:
            return CaseOutcome(case.name, "broken", problems=broken.problems)
        except UnreadableInput as error:
            problems = [Diagnostic("case/unreadable", "error", problem) for problem in error.problems]
            return CaseOutcome(case.name, "broken", problems=problems)

    def find_file(self, name: str) -> InputFile | None:
        """Returns a file that a finding names, if it was read here."""
        return self._files.get(name)

    def _run(self, case: Case) -> CaseOutcome:
        if case.problems:
            raise Broken(case.problems)
        options = self._options(case)
        result = self._compile(case, options)
        if not any(case.has(file) for file in (EXPECTED, EXPECTED_FINDINGS, ASSERTS)):
            return self._first(case, result)
        of_findings, of_objects = self._compare_findings(case, options, result), self._compare_objects(case, options, result)
        of_asserts = self._compare_asserts(case, result)
        if self.update:
            outcome = self._update(case, result, of_findings, of_objects)
            # Assertions are written by hand, so that an update never changes them.
            return CaseOutcome(case.name, "failed", outcome.differences + of_asserts, written=outcome.written) if of_asserts else outcome
        differences = of_findings + of_objects + of_asserts
        return CaseOutcome(case.name, "failed" if differences else "passed", differences)

    # -- what goes in ----------------------------------------------------------------------------------------------------------

    def _documents(self, path: str) -> list[Document]:
        file = read_one(path)
        self._files[path] = file
        return _valid(*read_bytes(file.data, path))

    def _options(self, case: Case) -> CaseOptions:
        if not case.has(OPTIONS):
            return CaseOptions()
        return _valid(*read_options(self._documents(case.path(OPTIONS))))

    def _compile(self, case: Case, options: CaseOptions) -> CaseResult:
        program = self._program(case, options)
        reader = InputReader()
        given = {name: case.path(file) for name, file in INPUTS.items() if case.has(file)}
        inputs = reader.read([case.path(INPUT)], options.settings, **given)
        result = compile_inputs(inputs, program)
        objects = [node.object for node in result.graph.nodes] if not has_errors(result.diagnostics) else []
        compared = [manifest for manifest in objects if not options.kinds or manifest["kind"] in options.kinds]
        findings, _ = reader.silence(reader.problems + result.diagnostics, options.ignore)
        return CaseResult(compared, findings)

    def _program(self, case: Case, options: CaseOptions) -> Program:
        own = [os.path.normpath(case.path(folder)) for folder in options.rules] + ([case.path(RULES)] if case.has(RULES) else [])
        folders = tuple(self.rules + own)
        if folders not in self._programs:
            self._programs[folders] = self._build(folders)
        return self._programs[folders]

    def _build(self, folders: tuple[str, ...]) -> Program:
        try:
            book = rulebook.read(folders)
            return book.program(VOCABULARY)
        except InvalidRules as error:
            for finding in error.diagnostics:
                file = book.find(finding.file)
                if file is not None:
                    finding.file = file.path
                    self._files[file.path] = InputFile(file.path, file.data)
            raise Broken(error.diagnostics) from None

    # -- what comes out --------------------------------------------------------------------------------------------------------

    def _compare_objects(self, case: Case, options: CaseOptions, result: CaseResult) -> list[Placed]:
        if not case.has(EXPECTED):
            return []
        documents = self._documents(case.path(EXPECTED))
        wrong = [document for document in documents if not isinstance(document.value, dict)]
        if wrong:
            message = "an expected object is a map with apiVersion, kind and metadata"
            raise Broken([Diagnostic("case/expected", "error", message, file=document.file, line=document.line) for document in wrong])
        expected = [document for document in documents if not options.kinds or document.value.get("kind") in options.kinds]
        differences = compare_objects([document.value for document in expected], result.objects)
        return [_placed(difference, expected, case.path(EXPECTED)) for difference in differences]

    def _compare_findings(self, case: Case, options: CaseOptions, result: CaseResult) -> list[Placed]:
        path = case.path(EXPECTED_FINDINGS)
        if not case.has(EXPECTED_FINDINGS):
            wrong = result.findings if options.strict else errors_of(result.findings)
            return [_placed(difference, [], path) for difference in unexpected(wrong)]
        documents = self._documents(path)
        differences = compare_findings(_valid(*read_expected_findings(documents)), result.findings)
        return [_placed(difference, documents, path) for difference in differences]

    def _compare_asserts(self, case: Case, result: CaseResult) -> list[Placed]:
        if not case.has(ASSERTS):
            return []
        documents = self._documents(case.path(ASSERTS))
        asserts = _valid(*read_asserts(documents, case.path(ASSERTS)))
        return [_placed(difference, documents, case.path(ASSERTS)) for difference in compare_asserts(asserts, result.objects)]

    # -- what is expected from now on ------------------------------------------------------------------------------------------

    def _first(self, case: Case, result: CaseResult) -> CaseOutcome:
        if not self.update:
            message = f"no expectations: {EXPECTED}, {EXPECTED_FINDINGS} and {ASSERTS} are missing"
            raise Broken([Diagnostic("case/nothing-expected", "error", message, file=case.name, hint="grove test --update writes them")])
        return self._written(case, result, first_expectations(result.findings))

    def _update(self, case: Case, result: CaseResult, of_findings: list[Placed], of_objects: list[Placed]) -> CaseOutcome:
        """Writes the expectations that differ. Those that hold stay unchanged, in whatever words they are written."""
        if of_findings and not case.has(EXPECTED_FINDINGS):
            return CaseOutcome(case.name, "failed", of_findings)  # an update does not accept unexpected errors
        stale = [name for name, differences in ((EXPECTED, of_objects), (EXPECTED_FINDINGS, of_findings)) if differences]
        return self._written(case, result, stale)

    def _written(self, case: Case, result: CaseResult, names: list[str]) -> CaseOutcome:
        for name in names:
            former = read_one(case.path(name)).data if case.has(name) else b""
            data = objects_text(result.objects, former) if name == EXPECTED else findings_text(result.findings, former)
            with open(case.path(name), "wb") as stream:
                stream.write(data)
        return CaseOutcome(case.name, "updated" if names else "passed", written=names)


def _valid(content: T, problems: list[Diagnostic]) -> T:
    """Returns the content of a file of a case. Raises `Broken` with the problems, if there are any."""
    if problems:
        raise Broken(problems)
    return content


def _placed(difference: Mismatch, documents: Sequence[Document], file: str) -> Placed:
    if not 0 <= difference.document < len(documents):
        return Placed(difference)
    return Placed(difference, file, documents[difference.document].place(difference.at)[0])


def first_expectations(findings: Sequence[Diagnostic]) -> list[str]:
    """Returns the files of a new case: objects unless there are errors, and findings if there are any."""
    names = [] if has_errors(list(findings)) else [EXPECTED]
    return [*names, EXPECTED_FINDINGS] if findings else names


def objects_text(objects: Sequence[Manifest], former: bytes) -> bytes:
    """Returns `expected.yaml` for objects, with the leading comments of the old file."""
    return _head(former) + write_yaml(objects).encode("utf-8", "backslashreplace")


def findings_text(findings: Sequence[Diagnostic], former: bytes) -> bytes:
    """Returns `expected-findings.yaml` for findings, with the leading comments of the old file."""
    return _head(former) + write_yaml([[describe(finding) for finding in findings]]).encode("utf-8", "backslashreplace")


def _head(former: bytes) -> bytes:
    """Returns the leading comments of a file."""
    lines = []
    for line in former.splitlines(keepends=True):
        if not line.startswith(b"#"):
            break
        lines.append(line if line.endswith(b"\n") else line + b"\n")
    return b"".join(lines)
