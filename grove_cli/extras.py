"""Names the command that adds an extra to this installation, for the message that a library is missing."""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import sys

PACKAGE = "grove-compiler"
CLONE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""The folder of the packages: the clone itself where the installation is an editable one."""


def missing(what: str, error: ModuleNotFoundError, *extras: str, otherwise: str = "") -> str:
    """Returns the message for a library that is not installed: what needs it, how to install it, and what would do `otherwise`."""
    text = f"{what} {error.name}, which is not installed: {install_command(*extras)}"
    return f"{text}; or {otherwise}" if otherwise else text


def install_command(*extras: str) -> str:
    """Returns the command for a shell that adds extras to this installation, by its own Python.

    No index has what stands in a clone, so there it installs the clone once more.
    """
    return f"{_installer()} {_what(','.join(extras))}"


def _what(extras: str) -> str:
    if not os.path.isfile(os.path.join(CLONE, "pyproject.toml")):
        return f"'{PACKAGE}[{extras}]'"
    return f"-e {shlex.quote(f'{shown(CLONE)}[{extras}]')}"


def _installer() -> str:
    """Returns `pip install` where a shell finds the pip of this Python, otherwise by this Python, or by uv where it has no pip."""
    pip = shutil.which("pip")
    if pip and os.path.dirname(pip) == os.path.dirname(sys.executable):
        return "pip install"
    python = shlex.quote(shown(sys.executable))
    if importlib.util.find_spec("pip") is None:
        return f"uv pip install --python {python}"
    return f"{python} -m pip install"


def shown(path: str) -> str:
    """Returns a path relative to the working folder where it is inside."""
    try:
        here = os.getcwd()
    except OSError:  # somebody has removed it
        return path
    return os.path.relpath(path, here) if os.path.commonpath((path, here)) == here != os.sep else path
