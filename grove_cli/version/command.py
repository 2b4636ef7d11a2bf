"""Defines `grove version`: prints the versions of the program, and of what is installed in a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from grove_cli import output as outputs
from grove_cli.cluster.optional_values import OptionalValues
from grove_cli.cluster.options import query_options
from grove_cli.cluster.target import take_target
from grove_cli.exit_codes import EXIT_FINDINGS
from grove_cli.options import output_option
from grove_compiler.version import __version__

if TYPE_CHECKING:
    from grove_cli.cluster.session import Session
    from grove_cli.version.versions import Versions

SECONDS = 10.0
"""How long to try to reach a cluster by default: the version of the client should not take minutes."""


@click.command(
    "version",
    cls=OptionalValues,
    epilog="""\b
Examples:
  grove version                       the program, the operator, and whether the definitions match the program
  grove version --client              without a cluster
  grove version --client -o json | jq -r .clientVersion.version

\b
Exit codes: 0 shown, 1 the cluster cannot be reached, 2 usage error.""",
)
@click.option("--client", is_flag=True, help="Only the version of this program, without a cluster.")
@query_options
@output_option("text", "json", "yaml", help_text="Output format.")
def command(client: bool, output: str, **given: Any) -> int:
    """Print the versions of this program, of the operator in the cluster, and of the CRDs there."""
    target = take_target(given)
    if client:
        if output == "text":  # without the modules of a cluster
            outputs.write_text(f"Client Version: v{__version__}\n")
        else:
            from grove_cli.version.versions import Versions

            _print(Versions(), output)
        return 0
    from grove_cli.cluster import session as sessions
    from grove_cli.version.versions import Versions, read_versions

    target.request_timeout = target.request_timeout or SECONDS
    found = [Versions()]

    async def work(session: Session) -> int:
        found.append(await read_versions(session))
        return 0

    code = sessions.run(work, target)
    _print(found[-1], output)
    return EXIT_FINDINGS if code else 0


def _print(versions: Versions, output: str) -> None:
    from grove_cli.version.versions import versions_text, versions_value

    if output == "text":
        outputs.write_text(versions_text(versions))
    else:
        outputs.write_report(versions_value(versions), output)
