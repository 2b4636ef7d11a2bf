"""Runs a command line, and maps errors, interrupts and closed pipes to messages and exit codes."""

from __future__ import annotations

import gc
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from grove_cli.exit_codes import EXIT_ERROR, EXIT_INTERRUPTED, EXIT_OK, EXIT_SIGPIPE

LAST_STREAM = 2
"""The number of standard error's descriptor."""

ISSUES = "https://github.com/ai-dynamo/grove/issues"


def main(name: str = "grove") -> NoReturn:
    """Runs the console script; help texts call it by `name`.

    It exits without cleanup, as deallocating a large graph would take longer than printing it.
    """
    gc.disable()  # a compilation allocates many values and hardly any cycles, in a short process
    _keep_low_descriptors()
    if sys.stderr is None:  # started with 2>&-
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    _buffer_stdout()
    code = run(sys.argv[1:], name)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, AttributeError):
            stream.flush()
    os._exit(code)


def _keep_low_descriptors() -> None:
    """Occupies the descriptors of closed standard streams, as messages would be written to a connection with such a number."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= LAST_STREAM:
        pass
    os.close(descriptor)


def _buffer_stdout() -> None:
    """Buffers standard output also with PYTHONUNBUFFERED, which images set.

    An unbuffered stream drops what a pipe does not take at once, as when a user stops and continues a pipeline whose reader is slow.
    """
    if sys.stdout is not None and isinstance(raw := sys.stdout.buffer, io.RawIOBase):
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(raw), sys.stdout.encoding, sys.stdout.errors, line_buffering=True)


def run(arguments: Sequence[str], name: str = "grove") -> int:
    """Runs a command line and returns its exit code. Errors are printed as messages, without a traceback."""
    try:
        code = _invoke(arguments, name)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        _silence_stdout()
        return EXIT_SIGPIPE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except OSError as error:
        if error.filename is None:  # of the standard output, not of a file
            _silence_stdout()
        _say(f"{'output' if error.filename is None else error.filename or repr('')}: {(error.strerror or str(error)).lower()}")
        return EXIT_ERROR
    except MemoryError:
        _say("out of memory")
        return EXIT_ERROR
    except Exception as error:
        if os.environ.get("GROVE_TRACEBACK"):
            raise
        _say(f"internal error: {_describe(error)}")
        _say(f"please report it with the input at {ISSUES}; GROVE_TRACEBACK=1 prints a traceback")
        return EXIT_ERROR
    return code


def _invoke(arguments: Sequence[str], name: str) -> int:
    import click

    from grove_cli.commands import grove
    from grove_cli.errors import Reported, UnreadableInput

    if "_GROVE_COMPLETE" in os.environ:  # a shell asks for completions; click ends the process itself
        grove.main(list(arguments), prog_name="grove")
    try:
        with grove.make_context(name, list(arguments)) as context:
            code = grove.invoke(context)
    except click.exceptions.Exit as finished:
        return finished.exit_code
    except click.Abort:
        return EXIT_INTERRUPTED
    except click.ClickException as error:
        if isinstance(error, click.NoSuchOption):
            from grove_cli.suggestions import ELSEWHERE, likely_options  # only for a mistake

            # click would filter the possibilities by its own similarity, so they are replaced.
            message = " ".join(filter(None, (error.message, ELSEWHERE.get(error.option_name))))
            vars(error).update(message=message, possibilities=likely_options(error.option_name, error.ctx.command if error.ctx else None))
        error.show()
        return EXIT_ERROR
    except Reported as reported:
        return reported.code
    except UnreadableInput as error:
        for problem in error.problems:
            _say(problem)
        return EXIT_ERROR
    return code if isinstance(code, int) else EXIT_OK


def _say(text: str) -> None:
    """Prints one line on stderr. Unprintable characters are escaped, as file names may contain escape sequences."""
    shown = "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)
    with suppress(OSError):  # of a full disk: the exit code remains
        print(f"grove: {shown}", file=sys.stderr)


def _describe(error: Exception) -> str:
    """Returns an error with its place on one line: `KeyError: 'x' (compile/command.py:33)`."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f" ({'/'.join(trace.tb_frame.f_code.co_filename.split(os.sep)[-2:])}:{trace.tb_lineno})" if trace else ""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}{place}"


def _silence_stdout() -> None:
    """Discards buffered output after the reader has closed the pipe."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
