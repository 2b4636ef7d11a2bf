"""Kubeconfigs: found, merged, and a context of them chosen."""

from __future__ import annotations

import pwd
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from applier.errors import CredentialsError
from applier.transport.login.kubeconfig import KubeconfigEntry, choose, locate, read
from tests.suite.rows import rows


def write(path: Path, current: str = "", *, cluster: Any = None, user: Any = None, names: tuple[str, ...] = ("one",)) -> Path:
    """A kubeconfig in which each name is a context with a cluster and a user of the same name."""
    content: dict[str, Any] = {"apiVersion": "v1", "kind": "Config", "current-context": current}
    content["clusters"] = [{"name": name, "cluster": cluster or {"server": f"https://{path.stem}-{name}"}} for name in names]
    content["users"] = [{"name": name, "user": user or {"token": "t"}} for name in names]
    content["contexts"] = [{"name": name, "context": {"cluster": name, "user": name, "namespace": path.stem}} for name in names]
    path.write_text(yaml.safe_dump(content))
    return path


def test_the_file_that_is_asked_for_counts_alone(tmp_path: Path) -> None:
    asked = write(tmp_path / "a")
    assert locate(str(asked), {"KUBECONFIG": str(write(tmp_path / "b"))}) == [asked]


def test_a_file_that_is_asked_for_must_exist(tmp_path: Path) -> None:
    with pytest.raises(CredentialsError, match=r"there is no kubeconfig .*nowhere"):
        locate(str(tmp_path / "nowhere"), {})


def test_the_environment_names_several_files_of_which_some_may_be_missing(tmp_path: Path) -> None:
    first, last = write(tmp_path / "a"), write(tmp_path / "c")
    assert locate("", {"KUBECONFIG": f"{first}:{tmp_path / 'b'}::{last}:{first}"}) == [first, last]


def test_else_the_home_has_one(tmp_path: Path) -> None:
    (tmp_path / ".kube").mkdir()
    assert locate("", {"HOME": str(tmp_path)}) == []
    path = write(tmp_path / ".kube" / "config")
    assert locate("", {"HOME": str(tmp_path)}) == [path]


def test_a_user_id_that_nobody_knows_has_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container with an arbitrary user ID and without HOME."""
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)
    assert locate("", {}) == locate("", {"KUBECONFIG": "~/config"}) == []
    with pytest.raises(CredentialsError, match="there is no kubeconfig ~/config"):
        locate("~/config", {})


def test_of_two_entries_with_one_name_the_first_counts(tmp_path: Path) -> None:
    config = read([write(tmp_path / "a", names=("one",)), write(tmp_path / "b", "two", names=("one", "two"))])
    assert [config.clusters[name].value["server"] for name in ("one", "two")] == ["https://a-one", "https://b-two"]


def test_the_first_current_context_counts(tmp_path: Path) -> None:
    assert read([write(tmp_path / "a"), write(tmp_path / "b", "one"), write(tmp_path / "c", "two")]).current == "one"


def test_a_context_has_its_cluster_user_and_namespace(tmp_path: Path) -> None:
    chosen = choose(read([write(tmp_path / "a", "one", names=("one", "two"))]), "two")
    assert (chosen.context, chosen.namespace, chosen.cluster.value["server"], chosen.user.value) == (
        "two",
        "a",
        "https://a-two",
        {"token": "t"},
    )


def test_paths_are_relative_to_the_file_that_names_them(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    config = read([write(tmp_path / "a"), write(tmp_path / "deep" / "b", "two", names=("two",), user={"tokenFile": "t/token"})])
    assert choose(config, "").user.path("tokenFile") == tmp_path / "deep" / "t" / "token"


def test_an_empty_file_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("")
    assert read([tmp_path / "empty", write(tmp_path / "a", "one")]).current == "one"


CHOICES: dict[str, tuple[str, str, str]] = {
    "a name that is nearly right": ("", "prodution", "there is no context 'prodution'; did you mean 'production'?"),
    "a name that is like no other": ("", "x", "there is no context 'x'; there are: production, staging"),
    "a current context that is gone": ("stagin", "", "its current-context is 'stagin', which does not exist; did you mean 'staging'?"),
    "no context at all": ("", "", "has no current-context; choose one: production, staging"),
}


@pytest.mark.parametrize("case", CHOICES.values(), ids=CHOICES)
def test_a_context_that_cannot_be_chosen_is_said_with_what_can(case: tuple[str, str, str], tmp_path: Path) -> None:
    current, asked, says = case
    path = write(tmp_path / "config", current, names=("production", "staging"))
    with pytest.raises(CredentialsError) as raised:
        choose(read([path]), asked)
    assert str(path) in str(raised.value)
    assert says in str(raised.value)


BROKEN = {
    "no YAML": ("a: [", "is not YAML, line 2"),
    "a number of too many digits": ("a: " + "9" * 5000, "has a value that cannot be read: exceeds the limit"),
    "a day that no calendar has": ("a: 2020-02-31", "has a value that cannot be read: day is out of range for month"),
    "no map": ("- a", "is not a map with clusters, users and contexts"),
    "clusters that are no list": ("clusters: {a: 1}", "the clusters of the kubeconfig .* must be a list"),
    "a user without a name": ("users: [{name: a}, {user: {}}]", "has a user without a name: users[1]"),
    "a context that is not a map": ("contexts: [{name: a, context: 7}]", "has a context 'a' that is not a map"),
    "two of one name": ("users: [{name: a}, {name: b}, {name: a}]", "has two users 'a'; remove or rename one"),
    "a server that is no text": (
        "{current-context: a, clusters: [{name: a, cluster: {server: 1}}], contexts: [{name: a, context: {cluster: a}}]}",
        "the server of cluster 'a' of .* is not a string in YAML; put it in quotes",
    ),
    "no context": ("clusters: [{name: a}]", "has no context, so no cluster is selected"),
    "a server of another kind": (
        "{current-context: a, clusters: [{name: a, cluster: {server: 'ftp://x'}}], contexts: [{name: a, context: {cluster: a}}]}",
        "context 'a' of .*: its cluster has the server 'ftp://x'; an address begins with https://",
    ),
    "no server": ("{current-context: a, clusters: [{name: a}], contexts: [{name: a, context: {cluster: a}}]}", "its cluster has no server"),
    "a context without a cluster": ("{current-context: a, contexts: [{name: a, context: {}}]}", "context 'a' of .* names no cluster"),
    "a context with a cluster that is gone": (
        "{current-context: a, clusters: [{name: east}], contexts: [{name: a, context: {cluster: eas}}]}",
        "context 'a' of .* is for cluster 'eas', which does not exist; did you mean 'east'",
    ),
}


@rows("case", BROKEN.values(), ids=BROKEN)
def test_a_broken_kubeconfig_is_one_sentence_with_its_file(case: tuple[str, str], tmp_path: Path) -> None:
    content, says = case
    path = tmp_path / "config"
    path.write_text(content)
    with pytest.raises(CredentialsError, match=says.replace("[1]", r"\[1\]")) as raised:
        choose(read([path]), "")
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


UNREADABLE: dict[str, Callable[[Path], dict[str, str]]] = {
    "that is asked for": lambda folder: {"asked": str(folder)},
    "of the environment": lambda folder: {"KUBECONFIG": f"{write(folder / 'a', 'one')}:{folder}"},
    "at home": lambda folder: {"HOME": str(folder)},
}


@pytest.mark.parametrize("where", UNREADABLE.values(), ids=UNREADABLE)
def test_a_folder_is_no_kubeconfig(where: Callable[[Path], dict[str, str]], tmp_path: Path) -> None:
    (tmp_path / ".kube" / "config").mkdir(parents=True)
    environment = where(tmp_path)
    with pytest.raises(CredentialsError, match=r"cannot read the kubeconfig .*: is a directory"):
        read(locate(environment.pop("asked", ""), environment))


def test_text_that_is_not_utf_8_is_said(tmp_path: Path) -> None:
    (tmp_path / "config").write_bytes(b"a: \xff")
    with pytest.raises(CredentialsError, match="is not YAML"):
        read([tmp_path / "config"])


@pytest.mark.parametrize(("given", "text"), [("'0123'", "0123"), ("a b", "a b"), ("null", "")])
def test_text_is_as_it_is_written(given: str, text: str) -> None:
    assert KubeconfigEntry(yaml.load(f"password: {given}", yaml.CSafeLoader), Path("c")).text("password") == text


@rows("given", ["0123", "12", "1.5", "yes", "2026-01-01", "[a]"])
def test_a_password_that_yaml_would_change_is_refused(given: str) -> None:
    entry = KubeconfigEntry(yaml.load(f"password: {given}", yaml.CSafeLoader), Path("c"), "user 'a' of c")
    with pytest.raises(CredentialsError, match="the password of user 'a' of c is not a string in YAML; put it in quotes"):
        entry.text("password")


def test_a_flag_in_quotes_is_neither_true_nor_false() -> None:
    entry = KubeconfigEntry({"insecure-skip-tls-verify": "false"}, Path("c"), "cluster 'a' of c")
    with pytest.raises(CredentialsError, match="has insecure-skip-tls-verify: 'false'; expected true or false, without quotes"):
        entry.flag("insecure-skip-tls-verify")
