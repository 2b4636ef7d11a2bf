"""Which files the arguments of a command line mean, and what is said about those that cannot be read."""

from __future__ import annotations

import inspect
import io
import os
import sys
from pathlib import Path

import pytest

from grove_cli.errors import UnreadableInput
from grove_cli.reading import files
from grove_cli.reading.files import read_all, read_one


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: str, text: str = "a: 1\n") -> None:
    if os.path.dirname(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    Path(path).write_text(text)


def names(*arguments: str) -> list[str]:
    return [file.name for file in read_all(arguments)]


def problems(*arguments: str) -> list[str]:
    with pytest.raises(UnreadableInput) as caught:
        read_all(arguments)
    return caught.value.problems


@pytest.mark.usefixtures("here")
class TestWhichFiles:
    def test_files_are_read_in_the_order_of_the_arguments(self) -> None:
        write("b.yaml")
        write("a.yaml")
        assert names("b.yaml", "a.yaml") == ["b.yaml", "a.yaml"]

    def test_a_file_is_read_whatever_its_name_ends_with(self) -> None:
        write("manifest.txt")
        assert names("manifest.txt") == ["manifest.txt"]

    def test_a_folder_means_its_yaml_and_json_files_in_sorted_order(self) -> None:
        for name in ("d/c.json", "d/a.yaml", "d/b.yml", "d/readme.md"):
            write(name)
        assert names("d") == ["d/a.yaml", "d/b.yml", "d/c.json"]

    def test_a_folder_is_searched_to_the_bottom(self) -> None:
        for name in ("d/z.yaml", "d/m/a.yaml", "d/m/n/o.yaml"):
            write(name)
        assert names("d") == ["d/m/a.yaml", "d/m/n/o.yaml", "d/z.yaml"]

    def test_hidden_files_and_folders_are_left_out(self) -> None:
        for name in ("d/.git/a.yaml", "d/.hidden.yaml", "d/seen.yaml"):
            write(name)
        assert names("d") == ["d/seen.yaml"]

    def test_a_file_named_twice_is_read_once(self) -> None:
        write("d/a.yaml")
        assert names("d/a.yaml", "d", "./d/a.yaml") == ["d/a.yaml"]

    def test_a_folder_that_links_to_itself_is_walked_once(self) -> None:
        write("d/a.yaml")
        os.symlink("..", "d/loop")
        os.symlink(".", "d/same")
        assert names("d") == ["d/a.yaml"]

    def test_links_that_double_at_every_level_do_not_double_the_work(self) -> None:
        for level in range(40):
            os.makedirs(f"d/{level}", exist_ok=True)
        for level in range(39):
            for link in ("left", "right"):
                os.symlink(f"../{level + 1}", f"d/{level}/{link}")
        write("d/39/a.yaml")
        assert len(names("d/0")) == 1

    def test_the_depth_of_folders_does_not_count_against_the_recursion_limit(self) -> None:
        deep = "/".join(["d"] * 300)
        write(f"{deep}/a.yaml")
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(len(inspect.stack(0)) + 100)
        try:
            assert names("d") == [f"{deep}/a.yaml"]
        finally:
            sys.setrecursionlimit(limit)

    def test_a_pipe_in_a_folder_is_not_waited_for(self) -> None:
        write("d/a.yaml")
        os.mkfifo("d/pipe.yaml")
        assert names("d") == ["d/a.yaml"]

    def test_a_hyphen_means_standard_input_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a: 1\n")))
        assert read_all(["-", "-"]) == [("<stdin>", b"a: 1\n", False)]

    @pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
    def test_text_with_a_byte_order_mark_is_no_binary_file(self, encoding: str) -> None:
        Path("a.yaml").write_text("a: 1", encoding=encoding)
        assert read_one("a.yaml").data.decode(encoding) == "a: 1"

    def test_text_may_hold_any_language(self) -> None:
        write("a.yaml", "name: größer 集群 🐙\n")
        assert read_one("a.yaml").data.decode() == "name: größer 集群 🐙\n"


@pytest.mark.usefixtures("here")
class TestWhatCannotBeRead:
    def test_a_missing_file_is_named(self) -> None:
        assert problems("none.yaml") == ["none.yaml: no such file or directory"]

    def test_every_problem_is_reported_not_just_the_first(self) -> None:
        write("good.yaml")
        assert problems("one.yaml", "good.yaml", "two.yaml") == [
            "one.yaml: no such file or directory",
            "two.yaml: no such file or directory",
        ]

    def test_a_folder_without_manifests_is_a_problem(self) -> None:
        write("d/readme.md")
        assert problems("d") == ["d: no manifests here (no *.yaml, *.yml or *.json file)"]

    def test_each_folder_without_manifests_is_a_problem(self) -> None:
        os.mkdir("d")
        os.mkdir("e")
        assert [problem.partition(":")[0] for problem in problems("d", "e")] == ["d", "e"]

    def test_a_link_to_nothing_in_a_folder_is_a_problem(self) -> None:
        write("d/a.yaml")
        os.symlink("gone", "d/b.yaml")
        assert problems("d") == ["d/b.yaml: no such file or directory"]

    def test_a_link_that_leads_to_itself_is_a_problem(self) -> None:
        os.symlink("a.yaml", "a.yaml")
        assert problems("a.yaml") == ["a.yaml: too many levels of symbolic links"]

    def test_links_in_a_circle_in_a_folder_are_named_one_by_one(self) -> None:
        write("d/good.yaml")
        os.symlink("b.yaml", "d/a.yaml")
        os.symlink("a.yaml", "d/b.yaml")
        os.symlink("other", "d/other")
        assert problems("d") == [f"d/{name}: too many levels of symbolic links" for name in ("a.yaml", "b.yaml")]

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_a_file_without_permission_is_a_problem(self) -> None:
        write("a.yaml")
        os.chmod("a.yaml", 0)
        assert problems("a.yaml") == ["a.yaml: permission denied"]

    def test_a_binary_file_is_a_problem(self) -> None:
        Path("a.yaml").write_bytes(b"\x7fELF\x02\x01\x01\x00\x00")
        assert problems("a.yaml") == ["a.yaml: a binary file, not text: there is a NUL byte in line 1; if it is UTF-16, save it as UTF-8"]

    def test_of_a_nul_byte_in_a_text_the_line_is_told(self) -> None:
        Path("a.yaml").write_bytes(b"a: 1\nb: \0\n")
        assert "NUL byte in line 2" in problems("a.yaml")[0]

    def test_an_empty_name_is_a_problem(self) -> None:
        assert problems("") == ["'': no such file or directory"]

    def test_a_file_without_an_end_is_not_read_to_its_end(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(files, "MAX_FILE", 1 << 20)
        assert problems("/dev/zero") == ["/dev/zero: larger than 1 MiB"]

    def test_a_file_that_is_too_large_is_a_problem(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(files, "MAX_FILE", 1 << 20)
        write("a.yaml", "#" * ((1 << 20) + 1))
        assert problems("a.yaml") == ["a.yaml: larger than 1 MiB"]

    def test_files_that_are_too_large_together_are_a_problem(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(files, "MAX_BYTES", 1 << 20)
        for name in ("a.yaml", "b.yaml"):
            write(name, "#" * (600 << 10))
        assert problems("a.yaml", "b.yaml") == ["b.yaml: the files before and including this one are larger than 1 MiB"]

    def test_too_many_files_are_a_problem(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(files, "MAX_FILES", 2)
        for name in ("d/a.yaml", "d/b.yaml", "d/c.yaml"):
            write(name)
        assert problems("d") == ["more than 2 files"]

    def test_standard_input_that_is_closed_is_a_problem(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.stdin", None)
        assert problems("-") == ["<stdin>: closed"]
