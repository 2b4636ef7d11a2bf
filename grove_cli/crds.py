"""Implements `grove crds`: prints the CustomResourceDefinitions of the input kinds."""

from __future__ import annotations

import click

from grove_cli import output as outputs
from grove_cli.options import output_option


@click.command(
    "crds",
    epilog="""\b
Examples:
  grove crds | kubectl apply --server-side -f -
  grove crds -o json""",
)
@output_option("yaml", "json", help_text="The format.")
def command(output: str) -> int:
    """Print Grove's CustomResourceDefinitions.

    They are generated from the same models as the validation of manifests.
    """
    from grove_compiler.api.crd import crds  # imports pydantic

    manifests = crds()
    outputs.write(outputs.as_json(manifests) if output == "json" else outputs.as_yaml(manifests))
    return 0
