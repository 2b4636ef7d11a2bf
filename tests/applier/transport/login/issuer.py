"""An identity provider for tests: OpenID Connect over HTTPS, with refresh tokens that can be used once."""

from __future__ import annotations

import base64
import json
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from ..certificates import OPENSSL, Pair

CLIENT = "grove"
METADATA = "/.well-known/openid-configuration"


class Issuer:
    """Signs tokens for `jane`. `refresh_token` is the one that counts."""

    def __init__(self, folder: Path) -> None:
        self.url, self.refresh_token = "", "refresh-0"
        self.asked: list[dict[str, str]] = []
        self.key = folder / "signing.key"
        _openssl("genrsa", "-out", str(self.key), "2048")
        self.modulus = bytes.fromhex(_openssl("rsa", "-in", str(self.key), "-noout", "-modulus").decode().strip().partition("=")[2])

    def token(self, seconds: float, **claims: Any) -> str:
        """An ID token that ends so many seconds from now on."""
        now = int(time.time())
        payload = {"iss": self.url, "aud": CLIENT, "sub": "jane", "iat": now - 10, "exp": now + int(seconds)} | claims
        text = ".".join(_base64(json.dumps(part).encode()) for part in ({"alg": "RS256", "kid": "1"}, payload))
        return f"{text}.{_base64(_openssl('dgst', '-sha256', '-sign', str(self.key), input=text.encode()))}"

    def get(self, path: str) -> tuple[int, Any]:
        """What is served at a path."""
        key = {"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "1", "n": _base64(self.modulus), "e": "AQAB"}
        metadata = {
            "issuer": self.url,
            "jwks_uri": f"{self.url}/keys",
            "token_endpoint": f"{self.url}/token",
            "authorization_endpoint": f"{self.url}/login",
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
        }
        return 200, {METADATA: metadata, "/keys": {"keys": [key]}}.get(path, {})

    def post(self, form: dict[str, str]) -> tuple[int, Any]:
        """What a form is answered."""
        self.asked.append(form)
        if form.get("refresh_token") != self.refresh_token:
            return 400, {"error": "invalid_grant", "error_description": "refresh token is used up"}
        answer = {"access_token": "access", "token_type": "Bearer", "expires_in": 3600, "id_token": self.token(3600, n=len(self.asked))}
        self.refresh_token = f"refresh-{len(self.asked)}"
        return 200, answer | {"refresh_token": self.refresh_token}

    def config(self, **more: str) -> dict[str, Any]:
        """A kubeconfig's user of this issuer."""
        settings = {"idp-issuer-url": self.url, "client-id": CLIENT, "refresh-token": self.refresh_token}
        return {"auth-provider": {"name": "oidc", "config": settings | more}}


@contextmanager
def issuing(folder: Path, served_as: Pair) -> Iterator[Issuer]:
    """Runs an issuer on a free port of loopback."""
    issuer = Issuer(folder)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            """Says nothing."""

        def answer(self, status: int, body: Any) -> None:
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_GET(self) -> None:
            self.answer(*issuer.get(self.path))

        def do_POST(self) -> None:
            form = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self.answer(*issuer.post(dict(parse_qsl(form))))

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            """Says nothing of clients that do not trust us."""

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(served_as.certificate, served_as.key)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    issuer.url = f"https://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _openssl(*arguments: str, input: bytes = b"") -> bytes:
    assert OPENSSL is not None
    return subprocess.run([OPENSSL, *arguments], input=input, check=True, capture_output=True).stdout


def _base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")
