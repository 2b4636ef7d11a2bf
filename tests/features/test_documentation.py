"""What the documentation says of rules, objects and commands is true of them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from grove_cli.entry import run
from grove_cli.rulebook import read as read_rulebook
from grove_compiler.compile import VOCABULARY
from grove_compiler.engine.codegen import generated_rules
from grove_compiler.engine.codegen.block import Block, CompiledFunction

from .compiling import compile_folder, shipped_program

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "what-becomes-what.md").read_text()
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text()
ROW = re.compile(r"^\| (.+) \| `([a-z0-9/-]+)` in `([a-z0-9./-]+)` \|$", re.MULTILINE)
OUTPUT = re.compile(r"<!-- output: (.+) -->\n```\n(.*?)```", re.DOTALL)
LINKED = re.compile(r"`((?:grove_compiler|grove_operator|kube_objects|examples|tests|docs)/[A-Za-z0-9_./-]+)`")
PAGES = sorted((ROOT / "docs").glob("*.md"))


def rows() -> list[tuple[str, str, str]]:
    """Kind or change, rule and file of each row that names a rule."""
    return [(cells.split(" | ")[0], rule, file) for cells, rule, file in ROW.findall(PAGE)]


def test_the_table_of_kinds_lists_every_rule_that_generates_and_its_kind() -> None:
    generating = {(rule.details["kind"], rule.id, rule.file) for rule in shipped_program().rules if rule.verb == "generate"}
    listed = {(kind, rule, f"rules/{file}") for kind, rule, file in rows()}
    assert generating <= listed


def test_the_tables_name_no_rule_that_is_not_there() -> None:
    rules = {(rule.id, rule.file) for rule in shipped_program().rules if rule.verb in ("generate", "patch")}
    assert {(rule, f"rules/{file}") for _, rule, file in rows()} == rules


def test_the_picture_shows_every_object_of_its_example_and_nothing_else(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    picture = PAGE.split("```mermaid\n")[1].split("```")[0]
    shown = {(kind.lower(), name) for kind, name in re.findall(r'\["(\w+)<br/>([^"]+)"\]', picture)}
    run(["compile", str(ROOT / "examples" / "multi-node-aggregated.yaml"), "-o", "name"])
    lines = [line.split("/") for line in capfdbinary.readouterr().out.decode().split()]
    assert shown == {("podcliqueset", "deepseek")} | {(resource.split(".")[0], name) for resource, name in lines}


@pytest.mark.parametrize(("command", "text"), OUTPUT.findall(PAGE))
def test_the_output_that_is_shown_is_what_the_command_prints(
    command: str, text: str, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(ROOT)
    assert run(shlex.split(command)) == 0
    assert capfdbinary.readouterr().out.decode() == text


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    missing = [name for name in LINKED.findall(page.read_text()) if not (ROOT / name).exists()]
    assert missing == []


def test_the_table_of_labels_has_the_components_that_objects_carry() -> None:
    carried = set()
    for case in ("worked-example", "scheduler-kai", "sharing-three-levels", "mnnvl-replica", "mnnvl-pods"):
        for node in compile_folder(Path(__file__).parent / "cases" / case).graph.nodes:
            carried.add((node.object["kind"], node.object["metadata"]["labels"]["app.kubernetes.io/component"]))
    table = PAGE.split("## Labels")[1].split("## ")[0]
    stated = dict(re.findall(r"^\| (\w+) \| (.+) \|$", table, re.MULTILINE))
    assert {kind for kind, _ in carried} == stated.keys() - {"kind"}
    assert [(kind, component) for kind, component in carried if kind != "Pod" and f"`{component}`" not in stated[kind]] == []


def test_the_page_of_differences_names_only_rules_that_there_are() -> None:
    rules = {rule.id for rule in shipped_program().rules} | {"graph/collision"}
    named = set(re.findall(r"`((?:default|validate|sharing|graph)/[a-z-]+)`", (ROOT / "docs" / "differences.md").read_text()))
    assert named
    assert named - rules == set()


def test_the_rule_that_the_architecture_shows_is_one_of_ours() -> None:
    shown = ARCHITECTURE.split("```yaml\n")[1].split("```")[0]
    assert shown in (ROOT / "rules" / "services.yaml").read_text() + "\n"


def test_the_code_that_the_architecture_shows_is_what_becomes_of_that_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    functions = []

    def compiled(block: Block, rule: str) -> CompiledFunction | None:
        functions.append(block.source())
        return original(block, rule)

    original = Block.compiled
    monkeypatch.setattr(Block, "compiled", compiled)
    monkeypatch.setattr(generated_rules, "_compiled", {})
    read_rulebook().build(VOCABULARY)
    [made] = [text for text in functions if "'pcs-headless-service'" in text]
    shown = ARCHITECTURE.split("```python\n")[1].split("```")[0]
    assert _plain(made).removesuffix("return") == _plain(shown)


def _plain(code: str) -> str:
    """Code without marks, white space and the numbers in names."""
    return re.sub(r"(?<=\w)\d+|\s+", "", re.sub(r"  #@\w+$", "", code, flags=re.MULTILINE))
