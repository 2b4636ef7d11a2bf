"""What can go wrong with a control plane for tests."""

from __future__ import annotations


class ControlPlaneError(Exception):
    """The control plane could not be built, started or asked. The text is what a person needs to read."""


class NotBuilt(ControlPlaneError):
    """No control plane is there; the text says which command builds one."""


class Refused(ControlPlaneError):
    """The server's answer was an error: its HTTP status, and the Status object that came with it, or its text."""

    def __init__(self, status: int, answer: object, message: str) -> None:
        super().__init__(message)
        self.status, self.answer = status, answer
