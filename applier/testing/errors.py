"""Defines the errors of a control plane for tests."""

from __future__ import annotations


class ControlPlaneError(Exception):
    """Reports that the control plane could not be built, started or reached. The message is for people."""


class NotBuilt(ControlPlaneError):
    """Reports that the control plane is not built; the message has the command that builds it."""


class RequestRefused(ControlPlaneError):
    """Reports an error response: its HTTP status, and its Status object or text."""

    def __init__(self, status: int, answer: object, message: str) -> None:
        super().__init__(message)
        self.status, self.answer = status, answer
