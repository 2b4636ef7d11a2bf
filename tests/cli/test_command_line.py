"""The program as a whole: its version, its help, completion, and what is said about command lines that are no good."""

from __future__ import annotations

import pytest

from .processes import EXAMPLE, SET, Grove


def test_it_knows_its_version(grove: Grove) -> None:
    from grove_compiler.version import __version__

    assert grove("--version") == (0, f"grove {__version__}\n", "")


def test_help_lists_every_command(grove: Grove) -> None:
    text = grove("--help").out
    assert all(f"  {command} " in text for command in ("compile", "lint", "crds", "rules", "test", "completion"))


@pytest.mark.parametrize("words", ["", "compile", "rollout status"])
def test_help_is_asked_for_as_of_kubectl_too(grove: Grove, words: str) -> None:
    asked = grove("help", *words.split())
    assert (asked.code, asked.out) == (0, grove(*words.split(), "--help").out)


@pytest.mark.parametrize("command", ["compile", "lint", "graph"])
def test_files_are_named_as_to_kubectl(grove: Grove, command: str) -> None:
    folder = grove.file("sets/more/a.yaml", SET).partition("/")[0]
    assert grove(command, "-R", "-f", folder) == grove(command, folder)


@pytest.mark.parametrize("option", ["-k", "--kustomize"])
def test_of_a_folder_for_kustomize_it_is_said_what_to_do(grove: Grove, option: str) -> None:
    ended = grove("apply", option, "overlays/prod")
    assert (ended.code, "kustomize build DIR | grove apply -" in ended.err) == (2, True)


@pytest.mark.parametrize("group", ["get", "job", "operator", "preflight", "dev"])
def test_a_group_says_of_each_command_a_whole_sentence(grove: Grove, group: str) -> None:
    listed = grove(group, "--help").out.partition("Commands:")[2]
    assert listed
    assert "..." not in listed


@pytest.mark.parametrize("command", ["", "compile", "lint", "crds", "rules", "test", "completion"])
def test_help_comes_with_examples(grove: Grove, command: str) -> None:
    ended = grove(*command.split(), "--help")
    assert ended.code == 0
    assert "Examples:" in ended.out


def test_no_command_at_all_is_misuse_and_shows_the_help(grove: Grove) -> None:
    ended = grove()
    assert ended.code == 2
    assert "Usage:" in ended.err + ended.out


def test_an_unknown_command_is_misuse_and_the_nearest_is_named(grove: Grove) -> None:
    ended = grove("compil", "a.yaml")
    assert ended.code == 2
    assert 'Did you mean "compile"?' in ended.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_it_prints_a_completion_script_for(grove: Grove, shell: str) -> None:
    ended = grove("completion", shell)
    assert (ended.code, ended.err) == (0, "")
    assert "_GROVE_COMPLETE" in ended.out


def test_it_completes_commands(grove: Grove) -> None:
    ended = grove(_GROVE_COMPLETE="bash_complete", COMP_WORDS="grove comp", COMP_CWORD="1")
    assert {line.rpartition(",")[2] for line in ended.out.split()} == {"compile", "completion"}


@pytest.mark.parametrize(("words", "found"), [("grove operator ru", {"run"}), ("grove operator run --onc", {"--once"})])
def test_it_completes_commands_of_commands_and_their_options(grove: Grove, words: str, found: set[str]) -> None:
    ended = grove(_GROVE_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(words.count(" ")))
    assert {line.rpartition(",")[2] for line in ended.out.split()} == found


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["compile"], "FILE is missing"),
        (["compile", "-o", "xml", EXAMPLE], "'xml' is not one of"),
        (["compile", "--pots", EXAMPLE], "Did you mean '--pods'"),
        (["compile", "--max-objects", "0", EXAMPLE], "0 is not in the range x>=1"),
        (["compile", "--max-objects", "many", EXAMPLE], "'many' is not a valid integer"),
        (["compile", "--kube-version", "newest", EXAMPLE], "'newest' is not a valid version of Kubernetes"),
        (["compile", "--kube-version", "2.0", EXAMPLE], "'2.0' is not a valid version of Kubernetes"),
        (["compile", "-n", "No_Name", EXAMPLE], "'No_Name' is not a valid namespace"),
        (["compile", "-n", "a" * 64, EXAMPLE], "is not a valid namespace"),
        (["compile", "-n", "", EXAMPLE], "'' is not a valid namespace"),
        (["compile", "-n", "ä", EXAMPLE], "is not a valid namespace"),
        (["compile", "--strict=yes", EXAMPLE], "does not take a value"),
        (["lint", "-o", "yaml", EXAMPLE], "'yaml' is not one of"),
        (["completion", "tcsh"], "'tcsh' is not one of"),
        (["compile", "none.yaml"], "grove: none.yaml: no such file or directory"),
        (["compile", "--config", "none.yaml", EXAMPLE], "grove: none.yaml: no such file or directory"),
        (["compile", "--snapshot", "none.yaml", EXAMPLE], "grove: none.yaml: no such file or directory"),
        (["compile", "--rules", "none", EXAMPLE], "grove: none: no such file or directory"),
        (["lint", "--old", "none.yaml", EXAMPLE], "grove: none.yaml: no such file or directory"),
        (["rules", "--rules", "none"], "grove: none: no such file or directory"),
        (["compile", "-"], "grove: <stdin>: empty: it contains no manifest"),
        (["compile", "."], "grove: .: no manifests here"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else "",
)
def test_it_is_said_in_a_line_and_ends_with_two(grove: Grove, arguments: list[str], said: str) -> None:
    ended = grove(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert "Traceback" not in ended.err


def test_a_binary_file_is_misuse(grove: Grove) -> None:
    name = grove.file("a.yaml", b"\x7fELF\x00\x00")
    ended = grove("compile", name)
    assert (ended.code, ended.out, ended.err.startswith("grove: a.yaml: a binary file, not text")) == (2, "", True)


def test_every_file_that_cannot_be_read_has_a_line(grove: Grove) -> None:
    assert grove("compile", "a.yaml", "b.yaml").err.count("no such file") == 2


def test_a_configuration_must_be_one_document(grove: Grove) -> None:
    name = grove.file("config.yaml", "a: 1\n---\nb: 2\n")
    assert grove("compile", EXAMPLE, "--config", name).err == "grove: config.yaml: expected one OperatorConfiguration, found 2 documents\n"


def test_file_names_cannot_steer_the_terminal(grove: Grove) -> None:
    assert grove("compile", "\x1b[2J.yaml").err == "grove: \\x1b[2J.yaml: no such file or directory\n"
