"""Where a server is, and by which proxy it is reached."""

from __future__ import annotations

import pytest

from applier.errors import CredentialsError
from applier.transport.login.find import bypassed, proxy_url, server_url
from tests.suite.rows import rows

SERVERS = {
    ("https://10.0.0.1:6443/base/", False): "https://10.0.0.1:6443/base",
    ("https://[fd00::1]:6443", False): "https://[fd00::1]:6443",
    ("localhost:8080", False): "http://localhost:8080",
    ("localhost:8443", True): "https://localhost:8443",
}


@pytest.mark.parametrize("case", SERVERS, ids=str)
def test_a_server_has_a_url(case: tuple[str, bool]) -> None:
    assert server_url(case[0], "s", encrypted=case[1]) == SERVERS[case]


@rows("given", ["https://", "https://[::1", "https://a:b", "https://a:0", "https://a:70000", "https://a b", "https://a\nb"])
def test_an_address_that_is_none_is_said(given: str) -> None:
    with pytest.raises(CredentialsError, match="which is not an address such as https://host:6443") as raised:
        server_url(given, "context 'one'", encrypted=True)
    assert "\n" not in str(raised.value)


def test_a_password_in_an_address_is_not_said() -> None:
    with pytest.raises(CredentialsError, match="has a server with a name or password in it; put them into the user") as raised:
        server_url("https://me:hunter2@a", "context 'one'", encrypted=True)
    assert "hunter2" not in str(raised.value)


PROXIES: dict[str, tuple[str, str, dict[str, str], str]] = {
    "none": ("https://a", "", {}, ""),
    "of the kubeconfig": ("https://a", "http://p:1", {"HTTPS_PROXY": "http://q:2", "NO_PROXY": "*"}, "http://p:1"),
    "of the environment": ("https://a", "", {"HTTPS_PROXY": "http://q:2", "HTTP_PROXY": "http://r:3"}, "http://q:2"),
    "of the environment, in small letters": ("https://a", "", {"https_proxy": "http://q:2", "HTTPS_PROXY": "http://r:3"}, "http://q:2"),
    "for plain servers": ("http://a", "", {"HTTPS_PROXY": "http://q:2", "HTTP_PROXY": "http://r:3"}, "http://r:3"),
    "without a scheme": ("https://a", "", {"HTTPS_PROXY": "q:2"}, "http://q:2"),
    "not for this host": ("https://a.b", "", {"HTTPS_PROXY": "http://q:2", "NO_PROXY": "b"}, ""),
    "not for this machine": ("https://127.0.0.1:6443", "", {"HTTPS_PROXY": "http://q:2"}, ""),
}


@rows("case", PROXIES.values(), ids=PROXIES)
def test_a_server_is_reached_by_a_proxy(case: tuple[str, str, dict[str, str], str]) -> None:
    server, given, environment, proxy = case
    assert proxy_url(server, given, environment, "s") == proxy


BROKEN: dict[str, tuple[str, dict[str, str], str]] = {
    "another protocol": (
        "socks4://me:hunter2@p",
        {},
        "context 'one': its proxy-url has the scheme 'socks4', which is not supported",
    ),
    "no host": ("http://", {}, "context 'one': its proxy-url is not an address such as http://host:3128"),
    "another protocol in the environment": ("", {"HTTPS_PROXY": "ftp://p"}, "the proxy of HTTPS_PROXY has the scheme 'ftp'"),
}


@pytest.mark.parametrize("case", BROKEN.values(), ids=BROKEN)
def test_a_proxy_that_cannot_be_used_is_said_without_its_password(case: tuple[str, dict[str, str], str]) -> None:
    given, environment, says = case
    with pytest.raises(CredentialsError) as raised:
        proxy_url("https://a", given, environment, "context 'one'")
    assert str(raised.value).startswith(says)
    assert "hunter2" not in str(raised.value)


DIRECT = [
    ("localhost", ""),
    ("LOCALHOST.", ""),
    ("127.8.8.8", ""),
    ("::1", ""),
    ("a", "*"),
    ("a", "b, A"),
    ("x.a", "a"),
    ("x.a", ".a"),
    ("x.a", "*.a"),
    ("a", "a:443"),
    ("10.1.2.3", "10.0.0.0/8"),
    ("10.1.2.3", "10.1.2.3"),
    ("10.1.2.3", "10.1.2.3:443"),
    ("fd00::1", "fd00::/8"),
    ("fd00::1", "fd00::1"),
    ("fd00::1", "[fd00::1]:443"),
]
PROXIED = [
    ("a", ""),
    ("xa", "a"),
    ("a", ".a"),
    ("a", "x.a"),
    ("a", "a:80"),
    ("a", ":443"),
    ("11.1.2.3", "10.0.0.0/8"),
    ("10.1.2.3", "10.0.0.0/99"),
    ("10.1.2.3", "2.3"),
    ("a", "10.0.0.0/8"),
    ("fd00::1", "[fd00::1]:80"),
]


@rows("case", DIRECT, ids=str)
def test_some_hosts_need_no_proxy(case: tuple[str, str]) -> None:
    assert bypassed(case[0], 443, case[1])


@rows("case", PROXIED, ids=str)
def test_others_do(case: tuple[str, str]) -> None:
    assert not bypassed(case[0], 443, case[1])
