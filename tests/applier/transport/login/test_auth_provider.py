"""The token of an identity provider is used while it is valid; whoever refreshes it is named once it is not."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from applier.errors import CredentialsError
from applier.transport.login.find import find_target
from tests.suite.rows import rows

from .test_kubeconfig import write

FAR, LONG_AGO = 4_000_000_000, 1_000_000_000


def token(end: int) -> str:
    claims = base64.urlsafe_b64encode(json.dumps({"exp": end}).encode()).decode().rstrip("=")
    return f"head.{claims}.signature"


def header(folder: Path, provider: Any) -> str:
    path = write(folder / "config", "one", user={"auth-provider": provider})
    return find_target(str(path), "", {}).credentials.authorization()


@rows("valid", [token(FAR), "opaque"])
def test_a_valid_token_is_sent(valid: str, tmp_path: Path) -> None:
    assert header(tmp_path, {"name": "oidc", "config": {"id-token": valid}}) == f"Bearer {valid}"


@rows(("config", "what"), [({"id-token": token(LONG_AGO)}, "that has expired"), ({}, "no id-token"), (None, "no id-token")])
def test_without_a_valid_token_it_is_said_who_refreshes_it(config: Any, what: str, tmp_path: Path) -> None:
    with pytest.raises(CredentialsError, match=rf"'oidc' has .*{what}; run a kubectl command, .* or use an exec plugin"):
        header(tmp_path, {"name": "oidc", "config": config})


@rows("provider", [{"name": "gcp"}, {"name": "azure", "config": {}}, {}, "oidc"])
def test_other_providers_are_not_supported(provider: Any, tmp_path: Path) -> None:
    with pytest.raises(CredentialsError, match="is no longer supported, by kubectl either; use the exec plugin of your provider"):
        header(tmp_path, provider)
