"""Whatever stands in a kubeconfig: it is taken, or refused in one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from applier.errors import CredentialsError
from applier.transport import ApiCluster
from applier.transport.login.find import find_target

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8) | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(["one", "two", "", 1])


def shaped(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """A map with some of these fields, each of which may be anything at all; or something that is not a map."""
    optional = {key.replace("_", "-"): value | ANYTHING for key, value in fields.items()}
    return st.fixed_dictionaries({}, optional=optional) | ANYTHING


def entries(singular: str, value: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    row = st.fixed_dictionaries({"name": NAMES, singular: value}) | shaped(name=NAMES)
    return st.lists(row, max_size=3) | ANYTHING


PROGRAM = shaped(
    command=st.just("sh"),
    apiVersion=st.just("client.authentication.k8s.io/v1"),
    args=st.lists(ANYTHING, max_size=2),
    env=st.lists(shaped(name=st.text(max_size=3), value=st.text(max_size=3)), max_size=2),
    interactiveMode=st.just("Never"),
)
PROVIDER = shaped(name=st.just("oidc"), config=shaped(idp_issuer_url=st.just("https://a"), id_token=st.text(), client_id=st.text()))
USER = shaped(
    token=st.text(),
    username=st.text(),
    password=st.text(),
    exec=PROGRAM,
    auth_provider=PROVIDER,
    client_certificate_data=st.text(),
    as_groups=st.lists(st.text(), max_size=2),
    as_user_extra=shaped(a=st.lists(st.text(), max_size=2)),
) | st.fixed_dictionaries({"as": st.text(), "as-groups": st.lists(st.text(), max_size=2)})
CLUSTER = shaped(
    server=st.sampled_from(["https://a", "a:1", "http://[::1", "https://", "https://a:b"]),
    certificate_authority_data=st.text(),
    proxy_url=st.text(),
    tls_server_name=st.text(),
)
KUBECONFIGS = shaped(
    current_context=NAMES,
    clusters=entries("cluster", CLUSTER),
    users=entries("user", USER),
    contexts=entries("context", shaped(cluster=NAMES, user=NAMES, namespace=st.text(max_size=3))),
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("any") / "config"


@given(content=KUBECONFIGS, context=st.sampled_from(["", "one"]))
def test_any_content_is_taken_or_refused_in_one_sentence(path: Path, content: Any, context: str) -> None:
    path.write_text(yaml.safe_dump(content))
    try:
        ApiCluster(find_target(str(path), context, {}))
    except CredentialsError as error:
        assert "\n" not in str(error)


CERTAIN = {
    "clusters": [{"name": "one", "cluster": {"server": "https://a"}}],
    "contexts": [{"name": "one", "context": {"cluster": "one", "user": "one"}}],
}


@given(user=USER, cluster=CLUSTER)
def test_any_user_and_cluster_are_taken_or_refused_in_one_sentence(path: Path, user: Any, cluster: Any) -> None:
    described = {"server": "https://a"} | (cluster if isinstance(cluster, dict) else {})
    rows = {"clusters": [{"name": "one", "cluster": described}], "users": [{"name": "one", "user": user}], "current-context": "one"}
    path.write_text(yaml.safe_dump(CERTAIN | rows))
    try:
        ApiCluster(find_target(str(path), "", {}))
    except CredentialsError as error:
        assert "\n" not in str(error)


def test_a_file_without_an_end_is_not_read_to_its_end() -> None:
    with pytest.raises(CredentialsError, match="/dev/zero is larger than 16 MiB"):
        find_target("/dev/zero", "", {})


@pytest.mark.parametrize(
    "text", ["[" * 200_000 + "]" * 200_000, "- " * 1000, "{a: " * 20_000, "? " * 1000], ids=["brackets", "items", "braces", "keys"]
)
def test_a_file_that_nests_without_reason_is_refused(tmp_path: Path, text: str) -> None:
    """libyaml would end the process: nothing holds its recursion."""
    path = tmp_path / "deep"
    path.write_text(text)
    with pytest.raises(CredentialsError, match="is nested too deeply"):
        find_target(str(path), "", {})
