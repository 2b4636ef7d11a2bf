"""The commands from end to end: what they print, where, and how they end."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = str(ROOT / "tests" / "cli" / "manifests" / "one-clique.yaml")
KAI = str(ROOT / "tests" / "cli" / "manifests" / "kai")

SET = """\
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata:
  name: demo
spec:
  replicas: 1
  template:
    cliques:
      - name: web
        spec:
          roleName: web
          replicas: 1
          podSpec:
            containers:
              - name: web
                image: nginx
"""


INTERRUPTED = """
import os, signal, sys
from grove_operator.cli import entry
from grove_operator.reading import files

class Interrupting:
    class buffer:
        def read(size):
            os.kill(os.getpid(), signal.SIGINT)

sys.stdin = Interrupting
entry.main()
"""
"""The program, with a standard input that somebody interrupts."""


class Ended(NamedTuple):
    """How a command line ended."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rules")


@pytest.fixture
def grove(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Grove]:
    """Runs the program in this process, its streams caught as bytes, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROVE_CACHE_DIR", str(cache))
    monkeypatch.delenv("GROVE_TRACEBACK", raising=False)
    yield Grove(tmp_path)


class Grove:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def file(self, name: str, content: str | bytes) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    def __call__(self, *arguments: str, stdin: str | bytes = "", **environment: str) -> Ended:
        whole = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
        command = [sys.executable, "-m", "grove_operator", *arguments]
        given = stdin if isinstance(stdin, bytes) else stdin.encode()
        ended = subprocess.run(command, input=given, capture_output=True, cwd=self.folder, env=whole, check=False, timeout=60)
        return Ended(ended.returncode, ended.stdout.decode(), ended.stderr.decode())


def kinds(text: str) -> list[str]:
    return [document["kind"] for document in yaml.safe_load_all(text)]


class TestTheProgram:
    def test_it_knows_its_version(self, grove: Grove) -> None:
        from grove_compiler.version import __version__

        assert grove("--version") == (0, f"grove {__version__}\n", "")

    def test_help_lists_every_command(self, grove: Grove) -> None:
        text = grove("--help").out
        assert all(f"  {command} " in text for command in ("compile", "lint", "crds", "rules", "test", "completion"))

    @pytest.mark.parametrize("command", ["", "compile", "lint", "crds", "rules", "test", "completion"])
    def test_help_comes_with_examples(self, grove: Grove, command: str) -> None:
        ended = grove(*command.split(), "--help")
        assert ended.code == 0
        assert "Examples:" in ended.out

    def test_no_command_at_all_is_misuse_and_shows_the_help(self, grove: Grove) -> None:
        ended = grove()
        assert ended.code == 2
        assert "Usage:" in ended.err + ended.out

    def test_an_unknown_command_is_misuse_and_the_nearest_is_named(self, grove: Grove) -> None:
        ended = grove("compil", "a.yaml")
        assert ended.code == 2
        assert 'Did you mean "compile"?' in ended.err

    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_it_prints_a_completion_script_for(self, grove: Grove, shell: str) -> None:
        ended = grove("completion", shell)
        assert (ended.code, ended.err) == (0, "")
        assert "_GROVE_COMPLETE" in ended.out

    def test_it_completes_commands(self, grove: Grove) -> None:
        ended = grove(_GROVE_COMPLETE="bash_complete", COMP_WORDS="grove comp", COMP_CWORD="1")
        assert {line.rpartition(",")[2] for line in ended.out.split()} == {"compile", "completion"}


class TestMisuse:
    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["compile"], "Missing argument"),
            (["compile", "-o", "xml", EXAMPLE], "'xml' is not one of"),
            (["compile", "--pots", EXAMPLE], "Did you mean one of: '--pods'"),
            (["compile", "--max-objects", "0", EXAMPLE], "0 is not in the range x>=1"),
            (["compile", "--max-objects", "many", EXAMPLE], "'many' is not a valid integer"),
            (["compile", "--kube-version", "newest", EXAMPLE], "'newest' is no version of Kubernetes"),
            (["compile", "--kube-version", "2.0", EXAMPLE], "'2.0' is no version of Kubernetes"),
            (["compile", "-n", "No_Name", EXAMPLE], "'No_Name' is no namespace"),
            (["compile", "-n", "a" * 64, EXAMPLE], "is no namespace"),
            (["compile", "-n", "", EXAMPLE], "'' is no namespace"),
            (["compile", "-n", "ä", EXAMPLE], "is no namespace"),
            (["compile", "--strict=yes", EXAMPLE], "does not take a value"),
            (["lint", "-o", "yaml", EXAMPLE], "'yaml' is not one of"),
            (["completion", "tcsh"], "'tcsh' is not one of"),
            (["compile", "none.yaml"], "grove: none.yaml: no such file or directory"),
            (["compile", "--config", "none.yaml", EXAMPLE], "grove: none.yaml: no such file or directory"),
            (["compile", "--snapshot", "none.yaml", EXAMPLE], "grove: none.yaml: no such file or directory"),
            (["compile", "--rules", "none", EXAMPLE], "grove: none: no such file or directory"),
            (["lint", "--old", "none.yaml", EXAMPLE], "grove: none.yaml: no such file or directory"),
            (["rules", "--rules", "none"], "grove: none: no such file or directory"),
            (["compile", "-"], "grove: <stdin>: empty, there is no manifest in it"),
            (["compile", "."], "grove: .: no manifests here"),
        ],
        ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else "",
    )
    def test_it_is_said_in_a_line_and_ends_with_two(self, grove: Grove, arguments: list[str], said: str) -> None:
        ended = grove(*arguments)
        assert (ended.code, ended.out) == (2, "")
        assert said in ended.err
        assert "Traceback" not in ended.err

    def test_a_binary_file_is_misuse(self, grove: Grove) -> None:
        name = grove.file("a.yaml", b"\x7fELF\x00\x00")
        assert grove("compile", name) == (2, "", "grove: a.yaml: a binary file, not text\n")

    def test_every_file_that_cannot_be_read_has_a_line(self, grove: Grove) -> None:
        assert grove("compile", "a.yaml", "b.yaml").err.count("no such file") == 2

    def test_a_configuration_must_be_one_document(self, grove: Grove) -> None:
        name = grove.file("config.yaml", "a: 1\n---\nb: 2\n")
        assert (
            grove("compile", EXAMPLE, "--config", name).err == "grove: config.yaml: expected one OperatorConfiguration, found 2 documents\n"
        )

    def test_file_names_cannot_steer_the_terminal(self, grove: Grove) -> None:
        assert grove("compile", "\x1b[2J.yaml").err == "grove: \\x1b[2J.yaml: no such file or directory\n"


class TestCompile:
    def test_yaml_is_the_objects_in_apply_order(self, grove: Grove) -> None:
        ended = grove("compile", EXAMPLE)
        assert (ended.code, ended.err) == (0, "")
        assert kinds(ended.out)[0] == "ServiceAccount"
        assert {"PodClique", "PodGang", "Service"} <= set(kinds(ended.out))

    def test_json_is_a_list_of_the_same_objects(self, grove: Grove) -> None:
        printed = json.loads(grove("compile", EXAMPLE, "-o", "json").out)
        assert (printed["apiVersion"], printed["kind"]) == ("v1", "List")
        assert printed["items"] == list(yaml.safe_load_all(grove("compile", EXAMPLE).out))

    def test_names_are_those_of_kubectl(self, grove: Grove) -> None:
        names = grove("compile", EXAMPLE, "-o", "name").out.splitlines()
        assert {"podclique.grove.io/hello-0-web", "podgang.scheduler.grove.io/hello-0", "service/hello-0"} <= set(names)

    def test_pods_are_printed_on_request(self, grove: Grove) -> None:
        without, with_pods = (grove("compile", EXAMPLE, *flags).out for flags in ([], ["--pods"]))
        assert (kinds(without).count("Pod"), kinds(with_pods).count("Pod")) == (0, 2)

    def test_the_summary_counts_and_draws(self, grove: Grove) -> None:
        text = grove("compile", EXAMPLE, "-o", "summary").out
        assert text.startswith("PodCliqueSet default/hello\n")
        assert "└─ clique hello-0-web" in text

    def test_standard_input_is_a_hyphen(self, grove: Grove) -> None:
        assert grove("compile", "-", stdin=SET).out == grove("compile", grove.file("a.yaml", SET)).out

    def test_a_folder_is_all_its_manifests(self, grove: Grove) -> None:
        grove.file("d/a.yaml", SET)
        grove.file("d/e/b.json", json.dumps(yaml.safe_load(SET.replace("demo", "other"))))
        names = grove("compile", "d", "-o", "name").out
        assert "podgang.scheduler.grove.io/demo-0\n" in names
        assert "podgang.scheduler.grove.io/other-0\n" in names

    def test_the_namespace_is_for_manifests_that_name_none(self, grove: Grove) -> None:
        named = SET.replace("name: demo", "name: named\n  namespace: mine")
        ended = grove("compile", "-n", "theirs", "-", stdin=f"{SET}---\n{named}")
        spaces = {
            (document["metadata"]["name"].split("-")[0], document["metadata"]["namespace"]) for document in yaml.safe_load_all(ended.out)
        }
        assert {("demo", "theirs"), ("named", "mine")} <= spaces

    def test_a_configuration_may_be_given_apart(self, grove: Grove) -> None:
        apart = grove("compile", f"{KAI}/workload.yaml", "--config", f"{KAI}/operator-configuration.yaml")
        assert (apart.code, apart.out) == (0, grove("compile", KAI).out)
        assert "PodGroup" in kinds(apart.out)

    def test_a_snapshot_may_be_a_list_as_kubectl_prints_it(self, grove: Grove) -> None:
        snapshot = grove.file("now.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": []}))
        assert grove("compile", EXAMPLE, "--snapshot", snapshot) == grove("compile", EXAMPLE)

    def test_something_else_in_a_snapshot_is_an_error_with_its_place(self, grove: Grove) -> None:
        snapshot = grove.file("now.yaml", "kind: List\nitems:\n  - 5\n")
        ended = grove("compile", EXAMPLE, "--snapshot", snapshot)
        assert ended.code == 1
        assert ended.err.startswith("now.yaml:3:5: error: expected a map")

    @pytest.mark.parametrize("version", ["1.32", "v1.32", "1.32.4", "v1.32.4-gke.1000"])
    def test_a_version_of_kubernetes_may_be_written_as_anybody_writes_it(self, grove: Grove, version: str) -> None:
        assert grove("compile", EXAMPLE, "--kube-version", version).code == 0

    def test_a_set_of_too_many_objects_is_an_error(self, grove: Grove) -> None:
        ended = grove("compile", EXAMPLE, "--max-objects", "3")
        assert (ended.code, ended.out) == (1, "")
        assert "more than 3 objects" in ended.err

    def test_equal_input_gives_equal_bytes_whatever_the_hash_seed(self, grove: Grove) -> None:
        outputs = {grove("compile", KAI, "--pods", PYTHONHASHSEED=seed).out for seed in ("0", "1", "2")}
        assert len(outputs) == 1

    @pytest.mark.parametrize("output", ["yaml", "json", "name", "summary"])
    def test_the_output_is_the_same_for_every_locale(self, grove: Grove, output: str) -> None:
        plain = grove("compile", EXAMPLE, "-o", output, LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
        assert plain == grove("compile", EXAMPLE, "-o", output, LC_ALL="C.UTF-8")


class TestFindings:
    WRONG = SET.replace("replicas: 1\n  template", "replcas: 1\n  template")

    def test_an_error_has_its_place_path_line_and_remedy(self, grove: Grove) -> None:
        ended = grove("compile", grove.file("a.yaml", self.WRONG))
        assert ended.code == 1
        first, path, excerpt, caret, remedy, summary = ended.err.splitlines()
        assert first.startswith("a.yaml:6:3: error: ")
        assert (path.strip(), excerpt.strip(), caret.strip()) == ("spec.replcas", "6 |   replcas: 1", "|   ^")
        assert (remedy.strip(), summary) == ('did you mean "replicas"?', "1 error")

    @pytest.mark.parametrize("output", ["yaml", "json", "name", "summary"])
    def test_with_an_error_nothing_is_printed(self, grove: Grove, output: str) -> None:
        assert grove("compile", grove.file("a.yaml", self.WRONG), EXAMPLE, "-o", output).out == ""

    def test_errors_of_all_files_are_reported(self, grove: Grove) -> None:
        ended = grove("compile", grove.file("a.yaml", self.WRONG), grove.file("b.yaml", "a: ["))
        assert {line.partition(":")[0] for line in ended.err.splitlines() if ": error: " in line} == {"a.yaml", "b.yaml"}

    def test_a_warning_is_printed_and_the_objects_too(self, grove: Grove) -> None:
        ended = grove("compile", "-", stdin=SET + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
        assert ended.code == 0
        assert ended.err.startswith("<stdin>:")
        assert ended.err.endswith("1 warning\n")
        assert ended.out != ""

    def test_warnings_fail_when_one_is_strict(self, grove: Grove) -> None:
        ended = grove("compile", "-", "--strict", stdin=SET + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
        assert (ended.code, ended.out) == (1, "")

    def test_wrong_rules_are_reported_like_wrong_manifests(self, grove: Grove) -> None:
        grove.file("mine/a.yaml", 'rule: my/rule\ndoc: Mine.\nvalidate: [create]\nassert: set.replica > 1\npath: spec\nmessage: "no"\n')
        ended = grove("compile", EXAMPLE, "--rules", "mine")
        assert (ended.code, ended.out) == (1, "")
        assert ended.err.startswith(f"{os.path.join('mine', 'a.yaml')}:4")
        assert "replica" in ended.err

    def test_a_rule_of_ones_own_reports_what_it_is_for(self, grove: Grove) -> None:
        rule = "{rule: my/rule, doc: Mine., validate: [create], assert: set.replicas | length > 1, path: spec, message: one is none}"
        grove.file("mine/a.yaml", rule)
        ended = grove("lint", EXAMPLE, "--rules", "mine")
        assert ended.code == 1
        assert "one is none  [my/rule]" in ended.err


class TestLint:
    def test_a_good_set_needs_no_words(self, grove: Grove) -> None:
        assert grove("lint", EXAMPLE) == (0, "", "")

    def test_json_is_for_programs(self, grove: Grove) -> None:
        ended = grove("lint", "-o", "json", grove.file("a.yaml", TestFindings.WRONG))
        report = json.loads(ended.out)
        assert (ended.code, ended.err, report["errors"], report["warnings"]) == (1, "", 1, 0)
        assert report["findings"][0]["path"] == "spec.replcas"

    def test_an_update_that_is_not_allowed_is_an_error(self, grove: Grove) -> None:
        old, new = grove.file("old.yaml", SET), grove.file("new.yaml", SET.replace("roleName: web", "roleName: other"))
        assert grove("lint", new).code == 0
        ended = grove("lint", new, "--old", old)
        assert ended.code == 1
        assert "roleName" in ended.err

    def test_an_update_that_is_allowed_needs_no_words(self, grove: Grove) -> None:
        old, new = grove.file("old.yaml", SET), grove.file("new.yaml", SET.replace("image: nginx", "image: nginx:2"))
        assert grove("lint", new, "--old", old) == (0, "", "")


class TestRulesAndCrds:
    def test_every_rule_has_a_line(self, grove: Grove) -> None:
        ended = grove("rules")
        assert ended.code == 0
        assert all("rules/" in line and len(line.split()) > 4 for line in ended.out.splitlines())

    def test_a_rule_that_one_disables_says_so(self, grove: Grove) -> None:
        first = grove("rules").out.split()[0]
        grove.file("mine/a.yaml", f"disable: [{first}]\n")
        [line] = [line for line in grove("rules", "--rules", "mine").out.splitlines() if line.split()[0] == first]
        assert "disabled" in line

    @pytest.mark.parametrize("output", ["yaml", "json"])
    def test_crds_are_printed(self, grove: Grove, output: str) -> None:
        text = grove("crds", "-o", output).out
        documents = json.loads(text)["items"] if output == "json" else list(yaml.safe_load_all(text))
        assert "podcliquesets.grove.io" in {document["metadata"]["name"] for document in documents}


class TestHowItEnds:
    def test_a_reader_that_has_gone_is_no_error_to_speak_of(self, grove: Grove) -> None:
        big = grove.file("a.yaml", SET.replace("replicas: 1\n  template", "replicas: 500\n  template"))
        command = f"{sys.executable} -m grove_operator compile {big} | head -1; exit ${{PIPESTATUS[0]}}"
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        ended = subprocess.run(["bash", "-c", command], cwd=grove.folder, env=environment, capture_output=True, check=False)
        assert (ended.returncode, ended.stderr) == (141, b"")

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a full disk at hand")
    def test_a_full_disk_is_said(self, grove: Grove) -> None:
        with open("/dev/full", "wb") as full:
            command = [sys.executable, "-m", "grove_operator", "compile", EXAMPLE]
            environment = {**os.environ, "PYTHONPATH": str(ROOT)}
            ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=environment, check=False)
        assert (ended.returncode, ended.stderr) == (2, b"grove: output: no space left on device\n")

    @pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
    def test_closed_streams_are_no_reason_to_crash(self, grove: Grove, closed: str) -> None:
        command = f"{sys.executable} -m grove_operator compile {EXAMPLE} {closed}"
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        ended = subprocess.run(["bash", "-c", command], env=environment, capture_output=True, check=False)
        assert ended.returncode == (2 if closed.startswith(">") else 0)
        assert b"Traceback" not in ended.stderr

    def test_an_interrupt_ends_it_without_a_word(self, grove: Grove) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", INTERRUPTED, "compile", "-"]
        ended = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60)
        assert (ended.returncode, ended.stdout, ended.stderr) == (130, b"", b"")

    def test_an_error_of_our_own_is_one_line_and_where_to_report_it(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        from grove_operator.cli import entry

        def broken(_: object) -> int:
            raise KeyError("surprise\nin two lines")

        monkeypatch.setattr(entry, "_invoke", broken)
        assert entry.run([]) == 2
        first, second = capsys.readouterr().err.splitlines()
        assert re.fullmatch(r"grove: internal error: KeyError: 'surprise.+ \(cli/test_command_line.py:\d+\)", first)
        assert entry.ISSUES in second

    @pytest.mark.parametrize(
        ("error", "code"),
        [(KeyboardInterrupt(), 130), (BrokenPipeError(), 141), (MemoryError(), 2), (RecursionError("too deep"), 2), (OSError(5, "I/O"), 2)],
        ids=lambda value: type(value).__name__,
    )
    def test_whatever_is_raised_has_an_exit_code(self, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int) -> None:
        from grove_operator.cli import entry

        def broken(_: object) -> int:
            raise error

        monkeypatch.setattr(entry, "_invoke", broken)
        monkeypatch.setattr(entry, "_silence_stdout", lambda: None)
        assert entry.run([]) == code

    def test_those_who_ask_see_the_traceback(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from grove_operator.cli import entry

        def broken(_: object) -> int:
            raise KeyError("surprise")

        monkeypatch.setattr(entry, "_invoke", broken)
        monkeypatch.setenv("GROVE_TRACEBACK", "1")
        with pytest.raises(KeyError):
            entry.run([])
