"""A platform connector: a real gRPC server on a Unix socket, which tests may make slow, refuse, or take away."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import grpc
from google.protobuf.empty_pb2 import Empty

from preflight_images.shared import health_event_pb2 as pb
from preflight_images.shared.connector import METHOD


class PlatformConnector:
    """Remembers what it was sent; `refusals` are the answers to the next calls, in place of a yes."""

    def __init__(self) -> None:
        self.events: list[pb.HealthEvent] = []
        self.credentials: list[str] = []
        self.refusals: list[grpc.StatusCode] = []

    def take(self, request: pb.HealthEvents, context: grpc.ServicerContext) -> Empty:
        self.credentials += [str(value) for key, value in context.invocation_metadata() if key == "authorization"]
        if self.refusals:
            context.abort(self.refusals.pop(0), "not now")
        self.events += request.events
        return Empty()

    @contextmanager
    def serving(self, socket: Path) -> Iterator[None]:
        """Listens on the socket meanwhile."""
        service, _, method = METHOD[1:].partition("/")
        handler = grpc.unary_unary_rpc_method_handler(
            self.take, request_deserializer=pb.HealthEvents.FromString, response_serializer=Empty.SerializeToString
        )
        server = grpc.server(ThreadPoolExecutor(2))
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {method: handler}),))
        server.add_insecure_port(f"unix://{socket}")
        server.start()
        try:
            yield
        finally:
            server.stop(None).wait(60)
