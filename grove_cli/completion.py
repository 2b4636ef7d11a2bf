"""Implements `grove completion`."""

from __future__ import annotations

import click

SHELLS = ("bash", "zsh", "fish")


@click.command(
    "completion",
    epilog="""\b
Examples:
  eval "$(grove completion bash)"                                   in ~/.bashrc
  eval "$(grove completion zsh)"                                    in ~/.zshrc
  grove completion fish > ~/.config/fish/completions/grove.fish""",
)
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print a completion script for bash, zsh or fish."""
    from click import shell_completion

    from grove_cli.commands import grove

    kind = shell_completion.get_completion_class(shell)
    assert kind is not None, shell
    script = kind(grove, {}, "grove", "_GROVE_COMPLETE")
    # `source()` of the bash class starts a bash to ask for its version; the template alone needs none
    click.echo(script.source_template % script.source_vars())
