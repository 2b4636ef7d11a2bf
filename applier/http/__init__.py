"""HTTP/1.1 to one server, with no more than a Kubernetes client needs: whole answers and streams, TLS, proxies, connections kept alive.

Our own because the speed of requests is what the applier is measured by: beside an API server on the same two cores, aiohttp took 0.4 ms
for each request and 0.1 s to be imported, which was a quarter of a first apply of 1,000 objects. The bytes are parsed by llhttp, the parser
of Node.js.
"""

from applier.http.client import Client, Request
from applier.http.errors import Ended, HttpError, Malformed, NotConnected, ProxyRefused
from applier.http.response import Headers, Response
from applier.http.stream import Stream

__all__ = [
    "Client",
    "Ended",
    "Headers",
    "HttpError",
    "Malformed",
    "NotConnected",
    "ProxyRefused",
    "Request",
    "Response",
    "Stream",
]
