"""New tokens in an old kubeconfig: nothing else in it changes."""

from __future__ import annotations

import stat
import time
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from applier.errors import CredentialsError
from applier.transport.login import write_back as module
from applier.transport.login.write_back import write_back
from tests.suite.rows import rows

BLOCK = """\
# mine
users:
- name: other
  user: {token: t}   # of the other cluster
- name: jane
  user:
    auth-provider:
      name: oidc
      config:
        client-id: grove
        id-token: OLD  # an hour
        refresh-token: "OLDER"
current-context: one
"""
FORMS = {
    "block": BLOCK,
    "flow": "{users: [{name: jane, user: {auth-provider: {name: oidc, config: {client-id: g, id-token: OLD, refresh-token: OLDER}}}}]}",
    "JSON": '{"users": [{"name": "jane", "user": {"auth-provider": {"config": {"id-token": "OLD", "refresh-token": "OLDER"}}}}]}',
    "a field that is missing": BLOCK.replace("        id-token: OLD  # an hour\n", ""),
    "a field that is missing in a flow": "{users: [{name: jane, user: {auth-provider: {config: {refresh-token: OLDER}}}}]}",
    "text over several lines": BLOCK.replace("OLD  # an hour", "|\n          OLD\n          OLDER"),
    "folded text": BLOCK.replace("OLD  # an hour", ">-\n          OLD\n          OLDER"),
    "no value": BLOCK.replace("OLD  # an hour", ""),
    "Windows": BLOCK.replace("\n", "\r\n"),
    "another alphabet": BLOCK.replace("# mine", "# мой 😀"),
}


def tokens(path: Path) -> dict[str, str]:
    users = {one["name"]: one["user"] for one in yaml.load(path.read_bytes(), yaml.CSafeLoader)["users"]}
    return dict(users["jane"]["auth-provider"]["config"])


@rows("text", FORMS.values(), ids=FORMS)
def test_tokens_are_replaced_in_every_form(text: str, tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_bytes(text.encode())
    write_back(path, "jane", {"id-token": "NEW", "refresh-token": "NEWER"})
    now = tokens(path)
    assert (now["id-token"], now["refresh-token"]) == ("NEW", "NEWER")


def test_everything_else_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(BLOCK)
    write_back(path, "jane", {"id-token": "eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.e30.c2ln", "refresh-token": "NEWER"})
    expected = BLOCK.replace(" OLD ", " eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.e30.c2ln ").replace("OLDER", "NEWER")
    assert path.read_text() == expected


@given(token=st.text(min_size=1))
def test_any_token_comes_back(token: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("any") / "config"
    path.write_text(BLOCK)
    write_back(path, "jane", {"id-token": token})
    assert tokens(path)["id-token"] == token


def test_permissions_stay(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(BLOCK)
    path.chmod(0o640)
    write_back(path, "jane", {"id-token": "NEW"})
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text(BLOCK)
    (tmp_path / "config").symlink_to("real")
    write_back(tmp_path / "config", "jane", {"id-token": "NEW"})
    assert (tmp_path / "config").is_symlink()
    assert tokens(tmp_path / "real")["id-token"] == "NEW"


def test_nothing_is_left_beside_it(tmp_path: Path) -> None:
    (tmp_path / "config").write_text(BLOCK)
    write_back(tmp_path / "config", "jane", {"id-token": "NEW"})
    assert [path.name for path in tmp_path.iterdir()] == ["config"]


CHANGED = {
    "a user that is gone": "users: []",
    "a user that logs in otherwise": "users: [{name: jane, user: {token: t}}]",
    "no kubeconfig any more": "- a",
    "no YAML any more": "a: [",
    "an anchor that others refer to": BLOCK.replace("OLD  #", "&a OLD  #") + "extensions: *a\n",
}


@pytest.mark.parametrize("text", CHANGED.values(), ids=CHANGED)
def test_a_kubeconfig_that_has_become_another_one_is_left_alone(text: str, tmp_path: Path) -> None:
    (tmp_path / "config").write_text(text)
    with pytest.raises(CredentialsError, match=r"cannot save the new tokens in .*config: it was changed in the meantime"):
        write_back(tmp_path / "config", "jane", {"id-token": "NEW"})
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("config", text)]


def test_the_lock_of_a_kubectl_is_respected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAUSE", 0.0)
    (tmp_path / "config").write_text(BLOCK)
    (tmp_path / "config.lock").touch()
    with pytest.raises(CredentialsError, match=r"config\.lock exists; remove it if no kubectl is running"):
        write_back(tmp_path / "config", "jane", {"id-token": "NEW"})
    assert (tmp_path / "config").read_text() == BLOCK
    assert (tmp_path / "config.lock").exists()


def test_a_kubectl_that_is_done_soon_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config").write_text(BLOCK)
    (tmp_path / "config.lock").touch()
    monkeypatch.setattr(time, "sleep", lambda seconds: (tmp_path / "config.lock").unlink())
    write_back(tmp_path / "config", "jane", {"id-token": "NEW"})
    assert tokens(tmp_path / "config")["id-token"] == "NEW"
