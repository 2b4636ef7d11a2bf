"""Defines the options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Any, TypeVar

import click

from grove_compiler.model.inputs.settings import OFFLINE_KUBE_VERSION, Settings
from grove_compiler.record import record

F = TypeVar("F", bound=Callable[..., Any])


class _Name(click.Path):
    """The name of a file or folder. An empty one, usually of an unset variable, is an error."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Returns the name unchanged. Fails for an empty one."""
        return super().convert(value, param, ctx) if value else self.fail("the name of a file is empty", param, ctx)


FILES = _Name()

rules_option = click.option(
    "--rules",
    metavar="DIR",
    multiple=True,
    type=FILES,
    help="Rules and templates of your own (DIR/*.yaml, DIR/rules/*.yaml, DIR/templates/*.yaml); repeatable.",
)


def _namespace(_: click.Context, __: click.Parameter, value: str) -> str:
    import re  # already loaded by click

    if re.fullmatch("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", value):
        return value
    raise click.BadParameter(
        f"{value!r} is not a valid namespace: expected 1 to 63 characters of a-z, 0-9 and '-', and no '-' at either end."
    )


def _kube_version(_: click.Context, __: click.Parameter, value: str) -> str:
    """Parses a version such as `1.32`, `v1.32.4` or `v1.32.4-gke.100`, and returns `1.32`."""
    import re  # already loaded by click

    match = re.fullmatch(r"v?(1\.[0-9]{1,3})(\.[0-9]{1,5}([-+][0-9A-Za-z.+-]*)?)?", value)
    if match:
        return match.group(1)
    raise click.BadParameter(f"{value!r} is not a valid version of Kubernetes: expected a value such as 1.32 or v1.34.2.")


files_arguments = (
    click.argument("arguments", metavar="FILE…|DIR|-", nargs=-1, type=FILES),
    click.option("-f", "--filename", "filenames", multiple=True, metavar="FILE", type=FILES, help="Same as FILE; repeatable."),
    click.option(
        "-R", "--recursive", is_flag=True, help="Accepted for compatibility with kubectl: directories are always searched recursively."
    ),
)
"""Files as arguments or, as with kubectl, after `-f`; `take_files` combines them."""


def adding(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Returns a decorator that adds options to a command, in this order."""

    def add(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def take_files(given: dict[str, Any], *, required: bool = True) -> tuple[str, ...]:
    """Removes the files from a command's values and returns them. Raises `click.UsageError` without any."""
    given.pop("recursive")
    files = (*given.pop("arguments"), *given.pop("filenames"))
    if required and not files:
        raise click.UsageError("FILE is missing: specify a manifest, a directory, or - for standard input.")
    return files


def filenames_option(help_text: str, *, required: bool = False) -> Callable[[F], F]:
    """Returns the option `-f`, as `files`, for commands with other arguments."""
    return click.option(
        "-f", "--filename", "files", metavar="FILE|DIR|-", multiple=True, required=required, type=FILES, help=f"{help_text}; repeatable."
    )


def output_option(*formats: str, help_text: str = "Output format.") -> Callable[[F], F]:
    """Returns the option `-o` with these formats, the first of which is the default."""
    return click.option("-o", "--output", type=click.Choice(formats), default=formats[0], show_default=True, help=help_text)


text_or_json_option = output_option("text", "json")

mnnvl_shape_option = click.option(
    "--mnnvl-shape",
    type=click.Choice(("as-proposed", "driver")),
    help="Form of ComputeDomains and claims: as in the designs, or as NVIDIA's driver accepts. Default: driver if the snapshot shows it.",
)

_CONTEXT_OPTIONS = (
    click.option(
        "-n",
        "--namespace",
        default="default",
        show_default=True,
        callback=_namespace,
        help="Namespace of manifests that name none.",
    ),
    click.option(
        "--config",
        metavar="FILE",
        type=FILES,
        help="An OperatorConfiguration, or the ConfigMap that contains the operator's: scheduler profiles, topology, network.",
    ),
    click.option(
        "--snapshot",
        metavar="FILE",
        type=FILES,
        help="Existing objects, as `kubectl get -o yaml` prints them.",
    ),
    click.option(
        "--kube-version",
        metavar="VERSION",
        default=OFFLINE_KUBE_VERSION,
        show_default=True,
        callback=_kube_version,
        help="The cluster's Kubernetes version; decides which API versions are used.",
    ),
    rules_option,
    click.option("--strict", is_flag=True, help="Treat warnings as errors."),
    click.option(
        "--ignore",
        metavar="CODE: REASON",
        multiple=True,
        help="Silence a warning (CODE), or only at one field (CODE@PATH); repeatable. Same as a comment `# grove:ignore CODE: REASON`.",
    ),
    mnnvl_shape_option,
)


def preflight_values_option(name: str) -> Callable[[F], F]:
    """Returns the option for a file of preflight's Helm values, as `values`."""
    help_text = "Helm values of the preflight checks, instead of their defaults; see docs/preflight.md."
    return click.option(name, "values", metavar="FILE", type=FILES, help=help_text)


pods_option = click.option("--pods", is_flag=True, help="Include the Pods; in a cluster another controller may own them.")

max_objects_option = click.option(
    "--max-objects",
    metavar="N",
    type=click.IntRange(min=1),
    default=200_000,
    show_default=True,
    help="Reject sets that would generate more objects than this.",
)


@record
class CompileOptions:
    """The options that manifests are compiled or validated with."""

    namespace: str
    config: str | None
    snapshot: str | None
    kube_version: str
    rules: tuple[str, ...]
    strict: bool
    ignore: tuple[str, ...]
    mnnvl_shape: str | None

    def settings(self, **more: Any) -> Settings:
        """Returns the compiler's settings, with those of single commands."""
        return Settings(namespace=self.namespace, kube_version=self.kube_version, mnnvl_shape=self.mnnvl_shape, **more)


def context_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options of a `CompileOptions`, which the command takes as `context`."""

    @wraps(command)
    def with_context(**options: Any) -> Any:
        return command(context=CompileOptions(*[options.pop(each.name) for each in fields(CompileOptions)]), **options)

    return adding(*_CONTEXT_OPTIONS)(with_context)


def input_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the input files, as `files`, and the options of a `CompileOptions`, as `context`."""

    @wraps(command)
    def with_files(**options: Any) -> Any:
        return command(files=take_files(options), **options)

    return adding(*files_arguments)(context_options(with_files))
