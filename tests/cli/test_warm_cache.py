"""Compiled rules are marshalled code: they are believed only when nobody but the user can have written them."""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable
from pathlib import Path

import pytest

from grove_cli import warm_cache

NAME = "0123"
PAYLOAD = b"compiled rules"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("GROVE_CACHE_DIR", str(folder))
    return folder


def entry(cache: Path) -> Path:
    return cache / (NAME + warm_cache.SUFFIX)


class TestWhereItIs:
    @pytest.fixture(autouse=True)
    def home(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", "/home/somebody")
        monkeypatch.delenv("GROVE_CACHE_DIR", raising=False)
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def test_it_is_in_the_home_folder(self) -> None:
        assert warm_cache.folder() == "/home/somebody/.cache/grove"

    def test_it_is_where_the_desktop_keeps_its_caches(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
        assert warm_cache.folder() == "/caches/grove"

    def test_a_relative_cache_home_does_not_count(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", "caches")
        assert warm_cache.folder() == "/home/somebody/.cache/grove"

    def test_a_user_without_a_home_has_none(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """As an arbitrary user ID in a container: a folder named ~ would lie wherever the command was run."""
        monkeypatch.delenv("HOME")
        monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)
        monkeypatch.chdir(tmp_path)
        assert not warm_cache.store(NAME, PAYLOAD)
        assert warm_cache.read(NAME) is None
        assert list(tmp_path.iterdir()) == []

    def test_our_own_variable_comes_first(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
        monkeypatch.setenv("GROVE_CACHE_DIR", "/elsewhere")
        assert warm_cache.folder() == "/elsewhere"


@pytest.mark.usefixtures("cache")
class TestWhatIsRemembered:
    def test_what_was_stored_is_read_again(self) -> None:
        assert warm_cache.store(NAME, PAYLOAD)
        assert warm_cache.read(NAME) == PAYLOAD

    def test_nothing_is_read_where_nothing_was_stored(self) -> None:
        assert warm_cache.read(NAME) is None

    def test_a_later_entry_replaces_an_earlier_one(self) -> None:
        warm_cache.store(NAME, b"first")
        warm_cache.store(NAME, b"second")
        assert warm_cache.read(NAME) == b"second"

    def test_storing_leaves_no_other_file_behind(self, cache: Path) -> None:
        warm_cache.store(NAME, PAYLOAD)
        assert [path.name for path in cache.iterdir()] == [NAME + warm_cache.SUFFIX]

    def test_folder_and_entry_are_the_users_own(self, cache: Path) -> None:
        warm_cache.store(NAME, PAYLOAD)
        assert (cache.stat().st_mode & 0o777, entry(cache).stat().st_mode & 0o777) == (0o700, 0o600)

    def test_only_the_newest_entries_are_kept(self, cache: Path) -> None:
        for number in range(warm_cache.MAX_ENTRIES + 3):
            warm_cache.store(f"entry{number}", PAYLOAD)
            os.utime(cache / f"entry{number}{warm_cache.SUFFIX}", ns=(number, number))
        warm_cache.store("last", PAYLOAD)
        names = {path.name.removesuffix(warm_cache.SUFFIX) for path in cache.iterdir()}
        assert len(names) == warm_cache.MAX_ENTRIES
        assert {"last", f"entry{warm_cache.MAX_ENTRIES + 2}"} <= names
        assert "entry0" not in names

    def test_files_that_are_not_entries_are_never_removed(self, cache: Path) -> None:
        cache.mkdir(mode=0o700)
        (cache / "thesis.tex").write_text("years of work")
        os.utime(cache / "thesis.tex", ns=(0, 0))
        for number in range(warm_cache.MAX_ENTRIES + 3):
            warm_cache.store(f"entry{number}", PAYLOAD)
        assert (cache / "thesis.tex").read_text() == "years of work"


def writable_by_the_group(path: Path) -> None:
    path.chmod(0o660)


def writable_by_everybody(path: Path) -> None:
    path.chmod(0o602)


def in_a_folder_that_the_group_may_write(path: Path) -> None:
    path.parent.chmod(0o770)


def in_a_folder_that_everybody_may_write(path: Path) -> None:
    path.parent.chmod(0o1777)


def a_link(path: Path) -> None:
    path.rename(path.parent / "elsewhere")
    path.symlink_to("elsewhere")


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DOUBTFUL = [
    writable_by_the_group,
    writable_by_everybody,
    in_a_folder_that_the_group_may_write,
    in_a_folder_that_everybody_may_write,
    a_link,
    a_pipe,
    a_folder,
]


@pytest.mark.parametrize("doubtful", DOUBTFUL, ids=lambda spoil: spoil.__name__)
def test_an_entry_is_not_believed_when_it_is(doubtful: Callable[[Path], None], cache: Path) -> None:
    warm_cache.store(NAME, PAYLOAD)
    doubtful(entry(cache))
    assert warm_cache.read(NAME) is None


def test_an_entry_of_somebody_else_is_not_believed(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warm_cache.store(NAME, PAYLOAD)
    monkeypatch.setattr(os, "geteuid", lambda: cache.stat().st_uid + 1)
    assert warm_cache.read(NAME) is None


class TestWhereNothingCanBeStored:
    def test_a_folder_that_others_may_write_is_not_used(self, cache: Path) -> None:
        cache.mkdir()
        cache.chmod(0o777)
        assert not warm_cache.store(NAME, PAYLOAD)
        assert list(cache.iterdir()) == []

    def test_a_file_in_the_folders_place_is_left_alone(self, cache: Path) -> None:
        cache.write_text("not a folder")
        assert not warm_cache.store(NAME, PAYLOAD)
        assert cache.read_text() == "not a folder"

    def test_a_folder_below_a_device_cannot_be_made(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GROVE_CACHE_DIR", "/dev/null/cache")
        assert not warm_cache.store(NAME, PAYLOAD)

    def test_a_full_disk_leaves_nothing_half_written(self, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(source: str, target: str) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "replace", full)
        assert not warm_cache.store(NAME, PAYLOAD)
        assert list(cache.iterdir()) == []


def test_a_shipped_entry_is_read_whoever_owns_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "entry"
    path.write_bytes(PAYLOAD)
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    assert warm_cache.read_installed(str(path)) == PAYLOAD
