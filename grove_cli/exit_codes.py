"""Names the exit codes of all commands. Those of programs that a signal ended are 128 plus its number, as shells report them."""

from __future__ import annotations

EXIT_OK = 0
EXIT_FINDINGS = 1
"""The command did its work, and there is something to look at: findings, differences, something that waits or does not exist."""
EXIT_ERROR = 2
"""The command was misused, or could not do its work."""
EXIT_INTERRUPTED = 130
EXIT_SIGPIPE = 141
"""The reader of the output has closed the pipe."""
EXIT_TERMINATED = 143
