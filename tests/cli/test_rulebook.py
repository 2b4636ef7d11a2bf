"""Which rules apply, and that a warm start runs the same ones without building them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from grove_cli import rulebook, warm_cache
from grove_cli.errors import UnreadableInput
from grove_compiler.engine.runtime.compiled import Compiled
from grove_compiler.engine.runtime.program import Program
from grove_compiler.engine.sources import BUILT_IN, InvalidRules, RuleSource, Vocabulary
from grove_compiler.engine.tracing import provenance
from tests.suite.rows import rows

VOCABULARY = Vocabulary(roots={"word": str})

RULE = """
rule: thing/one
doc: There is one thing.
generate: thing.yaml
"""
TEMPLATE = """
apiVersion: example.com/v1
kind: Thing
metadata:
  name: "{{ word }}"
"""


@pytest.fixture(autouse=True)
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small package in place of the real one, and a cache of its own."""
    package = tmp_path / "package"
    write(package / "rules" / "things.yaml", RULE)
    write(package / "templates" / "thing.yaml", TEMPLATE)
    write(package / "engine" / "engine.py", "")
    monkeypatch.setattr(rulebook, "PACKAGE", str(package))
    monkeypatch.setattr(rulebook, "WARM_FOLDER", str(package / "_warm"))
    monkeypatch.setenv("GROVE_CACHE_DIR", str(tmp_path / "cache"))
    return package


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    return tmp_path / "mine"


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The keys of the rulebooks that were built and not loaded."""
    built: list[str] = []
    build = rulebook.Rulebook.build

    def counted(self: rulebook.Rulebook, vocabulary: Vocabulary) -> Program:
        built.append(self.key)
        return build(self, vocabulary)

    monkeypatch.setattr(rulebook.Rulebook, "build", counted)
    return built


def write(path: Path, text: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def rename(rule: str, id: str) -> str:
    return rule.replace("thing/one", id)


def names(program: Program) -> list[str]:
    return [node.object["metadata"]["name"] for node in program.generate({"word": "hello"}, 10)]


def ids(program: Program) -> list[str]:
    return sorted(rule.id for rule in program.rules)


class TestWhichRulesApply:
    def test_what_ships_applies_by_itself(self) -> None:
        assert names(rulebook.read().program(VOCABULARY)) == ["hello"]

    def test_files_beside_each_other_are_rules(self, mine: Path) -> None:
        write(mine / "more.yaml", rename(RULE, "thing/two").replace("thing.yaml", "mine.yaml"))
        write(mine / "templates" / "mine.yaml", TEMPLATE.replace("word", "word | upper"))
        assert ids(rulebook.read([str(mine)]).program(VOCABULARY)) == ["thing/one", "thing/two"]

    def test_a_folder_without_folders_may_hold_templates(self, mine: Path) -> None:
        """As a ConfigMap is mounted: its files are links into a folder that nobody is to see."""
        write(mine / "..data" / "rules.yaml", rename(RULE, "thing/two").replace("thing.yaml", "of/mine.yaml"))
        write(mine / "..data" / "templates.of.mine.yaml", TEMPLATE.replace("word", "word | upper"))
        for name in ("rules.yaml", "templates.of.mine.yaml"):
            (mine / name).symlink_to(mine / "..data" / name)
        assert names(rulebook.read([str(mine)]).program(VOCABULARY)) == ["hello", "HELLO"]

    def test_a_file_of_rules_may_be_called_templates(self, mine: Path) -> None:
        write(mine / "templates.yaml", "disable: [thing/one]")
        assert ids(rulebook.read([str(mine)]).program(VOCABULARY)) == []

    def test_a_folder_may_hold_a_folder_of_rules(self, mine: Path) -> None:
        write(mine / "rules" / "more.yaml", "disable: [thing/one]")
        assert ids(rulebook.read([str(mine)]).program(VOCABULARY)) == []

    def test_a_template_of_ones_own_replaces_the_shipped_one(self, mine: Path) -> None:
        write(mine / "templates" / "thing.yaml", TEMPLATE.replace("word", "word | upper"))
        assert names(rulebook.read([str(mine)]).program(VOCABULARY)) == ["HELLO"]

    def test_later_folders_win(self, tmp_path: Path) -> None:
        for folder, name in (("first", "word | upper"), ("second", "word | trim")):
            write(tmp_path / folder / "templates" / "thing.yaml", TEMPLATE.replace("word", name))
        assert names(rulebook.read([str(tmp_path / "first"), str(tmp_path / "second")]).program(VOCABULARY)) == ["hello"]

    def test_a_rule_says_where_it_comes_from(self, mine: Path) -> None:
        write(mine / "more.yaml", RULE)
        assert [rule.origin for rule in rulebook.read([str(mine)]).program(VOCABULARY).rules] == [str(mine)]

    def test_other_files_and_hidden_ones_are_no_rules(self, mine: Path) -> None:
        write(mine / "more.yaml", RULE)
        write(mine / "readme.md", "# not YAML: [")
        write(mine / ".draft.yaml", "not: [finished")
        assert [file.name for file in rulebook.read([str(mine)]).files if file.origin != BUILT_IN] == ["rules/more.yaml"]

    def test_a_file_is_found_by_the_name_that_findings_use(self, mine: Path) -> None:
        write(mine / "things.yaml", RULE)
        found = rulebook.read([str(mine)]).find("rules/things.yaml")
        assert found is not None
        assert found.path == str(mine / "things.yaml")

    def test_wrong_rules_are_reported_with_file_and_line(self, mine: Path) -> None:
        write(mine / "more.yaml", RULE.replace("generate", "generat"))
        with pytest.raises(InvalidRules) as caught:
            rulebook.read([str(mine)]).program(VOCABULARY)
        assert {(finding.file, finding.line > 0) for finding in caught.value.diagnostics} == {("rules/more.yaml", True)}


class TestWhatCannotBeRead:
    def test_a_missing_folder_is_named(self, mine: Path) -> None:
        with pytest.raises(UnreadableInput, match=f"^{mine}: no such file or directory$"):
            rulebook.read([str(mine)])

    def test_a_file_in_the_folders_place_is_named(self, mine: Path) -> None:
        write(mine, RULE)
        with pytest.raises(UnreadableInput, match=f"^{mine}: not a directory$"):
            rulebook.read([str(mine)])

    def test_a_folder_without_rules_is_named(self, mine: Path) -> None:
        mine.mkdir()
        with pytest.raises(UnreadableInput, match="no rules here"):
            rulebook.read([str(mine)])

    def test_a_folder_that_is_named_like_a_rule_file_is_named(self, mine: Path) -> None:
        """Also where others are read, or where there may be none."""
        write(mine / "first.yaml", RULE)
        (mine / "more.yaml").mkdir(parents=True)
        with pytest.raises(UnreadableInput, match=f"^{mine}/more.yaml: expected a file of rules or a template, found a folder$"):
            rulebook.read([str(mine)], may_be_empty=True)

    def test_text_that_is_not_utf_8_is_named(self, mine: Path) -> None:
        write(mine / "more.yaml", b"rule: \xff")
        with pytest.raises(UnreadableInput, match=r"more\.yaml: not UTF-8 text \(byte 6\)"):
            rulebook.read([str(mine)]).program(VOCABULARY)

    def test_a_rule_file_larger_than_any_rule_is_named(self, mine: Path) -> None:
        write(mine / "more.yaml", b"#" * (rulebook.MAX_RULE_FILE + 1))
        with pytest.raises(UnreadableInput, match=r"more\.yaml: larger than 1 MiB"):
            rulebook.read([str(mine)])


class TestTheKey:
    def test_equal_rules_have_equal_keys(self) -> None:
        assert rulebook.read().key == rulebook.read().key

    def test_an_edit_changes_it(self, shipped: Path) -> None:
        before = rulebook.read().key
        write(shipped / "rules" / "things.yaml", RULE + "# more\n")
        assert rulebook.read().key != before

    def test_another_name_changes_it(self, shipped: Path) -> None:
        before = rulebook.read().key
        os.rename(shipped / "rules" / "things.yaml", shipped / "rules" / "stuff.yaml")
        assert rulebook.read().key != before

    def test_text_that_moves_to_another_file_changes_it(self, shipped: Path) -> None:
        write(shipped / "rules" / "a.yaml", "12")
        write(shipped / "rules" / "b.yaml", "3")
        before = rulebook.read().key
        write(shipped / "rules" / "a.yaml", "1")
        write(shipped / "rules" / "b.yaml", "23")
        assert rulebook.read().key != before

    def test_the_folder_that_rules_come_from_changes_it(self, tmp_path: Path) -> None:
        for folder in ("first", "second"):
            write(tmp_path / folder / "rules.yaml", RULE)
        assert rulebook.read([str(tmp_path / "first")]).key != rulebook.read([str(tmp_path / "second")]).key

    def test_a_release_changes_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        before = rulebook.read().key
        monkeypatch.setattr(rulebook, "__version__", "99")
        assert rulebook.read().key != before


BUILD = """
import sys
from grove_compiler.compile import VOCABULARY
from grove_cli import rulebook
book = rulebook.read()
book.build(VOCABULARY)
imported = {module.__file__ for name, module in sys.modules.items() if name.split(".")[0] in ("grove_compiler", "kube_objects")}
print(*sorted(imported - {entry.path for entry in rulebook._code_below_rules()}))
"""


def test_all_that_a_build_imports_is_in_the_key_of_the_cache() -> None:
    assert subprocess.run([sys.executable, "-c", BUILD], capture_output=True, check=True, text=True).stdout.strip() == ""


class TestWarmStarts:
    def test_the_second_start_does_not_build(self, builds: list[str]) -> None:
        first, second = (rulebook.read().program(VOCABULARY) for _ in range(2))
        assert len(builds) == 1
        assert names(first) == names(second) == ["hello"]

    def test_an_edited_rule_is_built_again(self, builds: list[str], shipped: Path) -> None:
        rulebook.read().program(VOCABULARY)
        write(shipped / "templates" / "thing.yaml", TEMPLATE.replace("word", "word | upper"))
        assert names(rulebook.read().program(VOCABULARY)) == ["HELLO"]
        assert len(builds) == 2

    def test_an_edited_engine_builds_again(self, builds: list[str], shipped: Path) -> None:
        rulebook.read().program(VOCABULARY)
        write(shipped / "engine" / "engine.py", "# edited")
        rulebook.read().program(VOCABULARY)
        assert len(builds) == 2

    @rows("package", ["engine", "graph", "kube", "model", "source", ".", "../kube_objects"])
    def test_an_edit_of_what_rules_are_compiled_with_builds_again(self, package: str, shipped: Path) -> None:
        before = rulebook._fingerprint_of_code()
        write(shipped / package / "new.py", "")
        assert rulebook._fingerprint_of_code() != before

    def test_what_the_wheel_holds_is_not_built(self, builds: list[str], shipped: Path) -> None:
        book = rulebook.read()
        write(shipped / "_warm" / book.key, book.build(VOCABULARY).dump())
        builds.clear()
        assert names(book.program(VOCABULARY)) == ["hello"]
        assert builds == []

    def test_rules_of_ones_own_do_not_run_what_the_wheel_holds(self, shipped: Path, mine: Path) -> None:
        book = rulebook.read()
        write(shipped / "_warm" / book.key, book.build(VOCABULARY).dump())
        write(mine / "templates" / "thing.yaml", TEMPLATE.replace("word", "word | upper"))
        assert names(rulebook.read([str(mine)]).program(VOCABULARY)) == ["HELLO"]

    @pytest.mark.parametrize("content", [b"", b"no marshalled code", b"(\x03\x00\x00\x00"], ids=["empty", "text", "cut short"])
    def test_an_entry_that_holds_no_program_is_built_again(self, builds: list[str], content: bytes) -> None:
        rulebook.read().program(VOCABULARY)
        for name in os.listdir(warm_cache.folder()):
            warm_cache.store(name.removesuffix(warm_cache.SUFFIX), content)
        assert names(rulebook.read().program(VOCABULARY)) == ["hello"]
        assert len(builds) == 2

    def test_no_cache_only_costs_time(self, builds: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GROVE_CACHE_DIR", "/dev/null/nowhere")
        assert [names(rulebook.read().program(VOCABULARY)) for _ in range(2)] == [["hello"], ["hello"]]
        assert len(builds) == 2


class TestWarmExplanations:
    @pytest.fixture
    def compilations(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        """How many files each set of rules had that was compiled for explanations."""
        compiled: list[int] = []
        compile_traced = provenance.traced_rules

        def counted(sources: Sequence[RuleSource], vocabulary: Vocabulary) -> Compiled:
            compiled.append(len(sources))
            return compile_traced(sources, vocabulary)

        monkeypatch.setattr(provenance, "traced_rules", counted)
        return compiled

    def test_the_second_start_does_not_compile(self, compilations: list[int]) -> None:
        first, second = (rulebook.read().traced(VOCABULARY) for _ in range(2))
        assert compilations == [2]
        assert (repr(first.rules), first.codes, first.places) == (repr(second.rules), second.codes, second.places)

    def test_it_is_not_taken_for_the_program_nor_the_program_for_it(self) -> None:
        book = rulebook.read()
        traced = [book.traced(VOCABULARY).codes]
        assert [names(book.program(VOCABULARY)) for _ in range(2)] == [["hello"], ["hello"]]
        assert traced == [book.traced(VOCABULARY).codes]

    def test_an_edited_rule_and_an_edited_engine_are_compiled_again(self, compilations: list[int], shipped: Path) -> None:
        rulebook.read().traced(VOCABULARY)
        write(shipped / "templates" / "thing.yaml", TEMPLATE.replace("word", "word | upper"))
        rulebook.read().traced(VOCABULARY)
        write(shipped / "engine" / "engine.py", "# edited")
        rulebook.read().traced(VOCABULARY)
        assert compilations == [2, 2, 2]

    def test_a_damaged_entry_is_compiled_again(self, compilations: list[int]) -> None:
        rulebook.read().traced(VOCABULARY)
        for name in os.listdir(warm_cache.folder()):
            warm_cache.store(name.removesuffix(warm_cache.SUFFIX), b"no marshalled code")
        assert [rule.id for rule in rulebook.read().traced(VOCABULARY).rules] == ["thing/one"]
        assert compilations == [2, 2]
