"""`grove crds`: the CustomResourceDefinitions of the input kinds."""

from __future__ import annotations

import click

from grove_operator.cli.output import write_bytes


@click.command(
    "crds",
    epilog="""\b
Examples:
  grove crds | kubectl apply --server-side -f -
  grove crds -o json""",
)
@click.option("-o", "--output", type=click.Choice(("yaml", "json")), default="yaml", show_default=True, help="The format.")
def command(output: str) -> int:
    """Print our CustomResourceDefinitions, generated from the same models that check manifests."""
    from grove_compiler.api.crd import crds  # imports pydantic

    if output == "json":
        from grove_compiler.source.json_writer import write_json

        write_bytes(write_json({"apiVersion": "v1", "kind": "List", "items": crds()}).encode())
    else:
        from grove_compiler.source.yaml_writer import write_yaml

        write_bytes(write_yaml(crds()).encode())
    return 0
