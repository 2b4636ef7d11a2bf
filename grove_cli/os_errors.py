"""Words errors of the operating system. Without imports, since every command may need it."""

from __future__ import annotations


def os_reason(error: OSError) -> str:
    """Returns why a file cannot be read or written, as messages have it: `permission denied`."""
    return (error.strerror or type(error).__name__).lower()
