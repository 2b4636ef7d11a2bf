"""Implements `grove install`: prints the manifests of an installation, without Helm."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from grove_cli import output as outputs
from grove_cli.exit_codes import EXIT_ERROR
from grove_cli.options import FILES, _namespace, output_option
from grove_cli.reading.files import InputFile, read_one

if TYPE_CHECKING:
    from grove_operator.install.values import Values

UNKNOWN_FIELD = "schema/unknown-field"


@click.command(
    "install",
    epilog="""\b
Examples:
  grove install > operator.yaml                   to review, and apply with kubectl apply --server-side -f operator.yaml
  grove install -n grove -o json                  in another namespace
  grove install --set replicas=1 --set webhooks.enabled=false --no-crds
  grove install --set image.repository=registry.example.com/grove/grove-operator   as `make push REGISTRY=…` fills it

\b
Exit codes: 0 printed, 2 invalid values or configuration.""",
)
@click.option(
    "-n",
    "--namespace",
    default="grove-system",
    show_default=True,
    metavar="NAME",
    callback=_namespace,
    help="The namespace of the operator.",
)
@click.option(
    "--values",
    "files",
    multiple=True,
    metavar="FILE",
    type=FILES,
    help="File with values of the chart; later files take precedence; repeatable.",
)
@click.option("--set", "settings", multiple=True, metavar="PATH=VALUE", help="Set a value: replicas=3, config.logLevel=debug; repeatable.")
@click.option("--no-crds", is_flag=True, help="Omit the CRDs.")
@output_option("yaml", "json", help_text="The format.")
def command(namespace: str, files: tuple[str, ...], settings: tuple[str, ...], no_crds: bool, output: str) -> int:
    """Print the manifests of an installation: definitions, permissions, configuration, the Deployment, and webhooks.

    The output equals that of the Helm chart for the same values.
    """
    from grove_operator.install.manifests import manifests
    from grove_operator.install.user_values import InvalidValues, load_values

    try:
        values = load_values(
            [(file.name, file.data) for file in map(read_one, files)], [*settings, *(["crds.enabled=false"] if no_crds else [])]
        )
    except InvalidValues as error:
        for line in error.lines:
            print(f"grove: {line}", file=sys.stderr)
        return EXIT_ERROR
    if not _is_sound(values):
        return EXIT_ERROR
    objects: list[dict[str, Any]] = manifests(values, namespace)
    outputs.write(outputs.as_json(objects) if output == "json" else outputs.as_yaml(objects))
    return 0


def _is_sound(values: Values) -> bool:
    """Validates the OperatorConfiguration and the values of preflight, and prints the findings."""
    import json

    from grove_cli import findings, rulebook
    from grove_compiler.compile import VOCABULARY
    from grove_compiler.graph.diagnostic import has_errors
    from grove_compiler.model.inputs.settings import Settings
    from grove_compiler.preflight import BLOCK, read_values
    from grove_compiler.source.reader import read_text
    from grove_compiler.step import StepContext
    from grove_operator.install.manifests import configuration

    values_of = {"values: config": configuration(values), f"values: {BLOCK}": values.preflight_injector}
    texts = {name: json.dumps(value, indent=1) for name, value in values_of.items()}
    config, preflight = (read_text(text, name)[0][0] for name, text in texts.items())
    context = StepContext(rulebook.read().program(VOCABULARY), Settings(), config)
    found = [*context.findings, *read_values(preflight)[1]]
    for finding in found:
        if finding.code == UNKNOWN_FIELD:  # an operator may meet the configuration of a later release, but who installs it has a typo
            finding.severity = "error"
    findings.write(found, {name: InputFile(name, text.encode()) for name, text in texts.items()}.get)
    return not has_errors(found)
