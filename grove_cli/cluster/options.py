"""Defines the options of commands that connect to a cluster, with kubectl's names and meanings."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from grove_cli.cluster.target import REQUESTS
from grove_cli.options import FILES, _kube_version, _namespace, adding, files_arguments, mnnvl_shape_option, rules_option, take_files
from grove_compiler.record import record
from grove_operator import field_managers

F = TypeVar("F", bound=Callable[..., Any])

SWITCHES = {"--server-side": "true", "--validate": "strict"}
"""Options that are accepted for compatibility with kubectl, with their values when given without one. They parse `=true` and `=false`
themselves."""

BARE_APPLY = {"--force-conflicts": "*", **SWITCHES}
"""The values of options of apply when given without one; `--force-conflicts` is then about all managers."""


class _Given(click.ParamType[str]):
    """A value that must not be empty when given.

    An empty value usually comes from an unset variable. If it meant the default, `-n "$NAMESPACE"` would delete in another namespace,
    `--context "$CLUSTER"` in another cluster, and `--prune-limit "$LIMIT"` without a limit.
    """

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Returns the value unchanged. Fails for an empty one that is not the default."""
        if (
            not value
            and param is not None
            and ctx is not None
            and ctx.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE
        ):
            self.fail("the value is empty, perhaps from an unset variable. Omit the option to use its default", param, ctx)
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        """Returns what a shell offers: files, directories, and the contexts of the kubeconfig. Other values are not known."""
        from click.shell_completion import CompletionItem

        if param.name == "context":
            from grove_cli.cluster.completed_names import context_names  # only when a shell asks

            return [CompletionItem(name) for name in context_names(ctx, param, incomplete)]
        kind = {"FILE": "file", "DIR": "dir"}.get(param.metavar or "")
        return [CompletionItem(incomplete, type=kind)] if kind else []


GIVEN = _Given()


def text_option(*names: str, **given: Any) -> Callable[[F], F]:
    """Returns an option with a text, by default empty, that must not be empty where it is given."""
    return click.option(*names, type=GIVEN, **({} if given.get("multiple") else {"default": ""}) | given)


@record
class InputOptions:
    """The input files and how they are compiled. An empty `kube_version` is that of the server.

    Without `children` what sets become is left out where an operator leads.
    """

    files: tuple[str, ...]
    selector: str = ""
    config: str | None = None
    kube_version: str = ""
    rules: tuple[str, ...] = ()
    strict: bool = False
    pods: bool = False
    mnnvl_shape: str | None = None
    force: tuple[str, ...] = ()
    children: bool = True


def duration(_: click.Context, __: click.Parameter, value: str | None) -> float | None:
    """Parses a duration, such as `30s`, `5m`, `1h30m`, or a number of seconds; returns seconds."""
    if value is None:
        return None
    from grove_compiler.kube import duration as go  # only where one is given

    try:
        seconds = float(value) if value.replace(".", "", 1).isdecimal() else go.parse(value) / go.SECOND
    except go.DurationError as error:
        raise click.BadParameter(str(error)) from None
    if not math.isfinite(seconds) or seconds <= 0:
        raise click.BadParameter(f"{value!r} is not a valid duration: expected a value such as 30s, 5m or 1h30m.")
    return seconds


NEVER = 86400.0
"""Seconds that stand for no limit."""


def _request_timeout(context: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """Parses a timeout; as with kubectl, 0 is no limit."""
    return NEVER if value is not None and value.strip() in ("0", "0s") else duration(context, parameter, value)


def _verbosity(_: click.Context, __: click.Parameter, value: str) -> int:
    """Parses a verbosity; click passes `-v=6` as `=6`."""
    number = value.removeprefix("=")
    if not number.isdecimal():
        raise click.BadParameter(f"{number!r} is not a number.")
    return int(number)


def optional_namespace(context: click.Context, parameter: click.Parameter, value: str) -> str:
    """Validates a namespace; it may be empty."""
    return _namespace(context, parameter, value) if value else ""


def _optional_version(context: click.Context, parameter: click.Parameter, value: str) -> str:
    return _kube_version(context, parameter, value) if value else ""


def _complete_namespaces(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from grove_cli.cluster.completed_names import namespaces  # only when a shell asks

    return namespaces(context, parameter, incomplete)


def _namespace_option(help_text: str) -> Callable[[F], F]:
    return text_option(
        "-n", "--namespace", metavar="NAME", callback=optional_namespace, shell_complete=_complete_namespaces, help=help_text
    )


_CONNECTION = (
    text_option("--context", metavar="NAME", help="The kubeconfig context to use instead of the current one."),
    text_option("--kubeconfig", metavar="FILE", help="The kubeconfig to use instead of $KUBECONFIG or ~/.kube/config."),
    text_option("--token", metavar="TOKEN", help="Bearer token to use instead of the kubeconfig's credentials."),
    text_option("--as", "act_as", metavar="USER", help="Impersonate this user; requires the permission to impersonate."),
    text_option("--as-group", "groups", multiple=True, metavar="GROUP", help="With --as: impersonate this group as well; repeatable."),
    click.option(
        "--request-timeout",
        metavar="TIME",
        callback=_request_timeout,
        help="Time limit of a request, including retries: 30s, 2m; 0 for none. Default: 2m.",
    ),
    click.option(
        "-v",
        "--v",
        "verbosity",
        default="0",
        metavar="LEVEL",
        callback=_verbosity,
        help=f"From level {REQUESTS}, log each request to standard error: method, URL, status and time, never its body.",
    ),
)

login_options = adding(
    text_option("--kubeconfig", metavar="FILE", help="The kubeconfig; in a pod, the default is its service account."),
    text_option("--context", metavar="NAME", help="The kubeconfig's context."),
)
"""The credentials of processes in a cluster: `kubeconfig` and `context`."""

input_options = adding(
    *files_arguments,
    text_option("-l", "--selector", metavar="SELECTOR", help="Select objects by label: app=web,tier!=cache."),
    click.option(
        "--config", metavar="FILE", type=FILES, help="The OperatorConfiguration to compile with. Default: the operator's in the cluster."
    ),
    text_option(
        "--kube-version",
        metavar="VERSION",
        callback=_optional_version,
        help="The Kubernetes version to compile for. Default: the server's.",
    ),
    rules_option,
    click.option("--strict", is_flag=True, help="Treat warnings of the compilation as errors."),
    click.option("--pods", is_flag=True, help="Include the sets' Pods, which otherwise the operator of the PodCliques creates."),
    mnnvl_shape_option,
)
"""The input files: the options that `take_input` reads."""


def field_manager_option(help_text: str) -> Callable[[F], F]:
    """Returns the option `--field-manager`, whose help differs between commands."""
    return text_option("--field-manager", default=field_managers.CLI, show_default=True, metavar="NAME", help=help_text)


def _server_side(_: click.Context, __: click.Parameter, value: str) -> None:
    if value == "false":
        raise click.BadParameter("client-side apply is not supported; omit the option.")


def _validate(_: click.Context, __: click.Parameter, value: str) -> None:
    """Warns that the option has no effect: a server validates every server-side apply."""
    if value not in ("strict", "true"):
        import sys

        print(f"grove: --validate={value} has no effect: the server rejects unknown fields in every server-side apply", file=sys.stderr)


manager_options = adding(
    field_manager_option("Name of the field manager."),
    click.option(
        "--children", is_flag=True, help="Also write the objects generated from sets, even if an operator in the cluster does so."
    ),
    text_option(
        "--force-conflicts",
        "force",
        multiple=True,
        metavar="[=MANAGER]",
        help="Take over fields of other field managers: of all, or of the named ones; repeatable.",
    ),
    click.option(
        "--server-side",
        type=click.Choice(("true", "false")),
        default="true",
        metavar="",
        callback=_server_side,
        expose_value=False,
        help="Accepted for compatibility with kubectl: apply is always server-side.",
    ),
    click.option(
        "--validate",
        type=click.Choice(("strict", "warn", "ignore", "true", "false")),
        default="strict",
        metavar="",
        callback=_validate,
        expose_value=False,
        help="Accepted for compatibility with kubectl: the server always rejects unknown fields.",
    ),
)
"""The field manager, and managers whose fields may be taken over."""


def dry_run_option(help_text: str) -> Callable[[F], F]:
    """Returns the option `--dry-run`, which without a value is `client`: see `OptionalValues`."""
    return click.option(
        "--dry-run", type=click.Choice(("client", "server", "none")), default="none", metavar="[=client|server]", help=help_text
    )


edit_dry_run_option = dry_run_option("Write nothing: print what would be done (client), or let the server validate it (server).")
"""For commands that edit a set."""
BARE_EDIT = {"--dry-run": "client"}
target_options = adding(
    _namespace_option("Namespace of manifests that name none; others are rejected. Default: the context's, without this check."),
    *_CONNECTION,
)
"""The cluster and namespace of manifests: the fields of `ClusterFlags`."""
query_options = adding(_namespace_option("Its namespace. Default: the context's."), *_CONNECTION)
"""The cluster and namespace of a named object: the fields of `ClusterFlags`."""
journal_option = click.option("--journal", metavar="FILE", type=FILES, help="Append each event to this file, as a line of JSON.")
"""For commands that write."""
all_namespaces_option = click.option("-A", "--all-namespaces", is_flag=True, help="In all namespaces.")
snapshot_option = click.option(
    "--snapshot", metavar="FILE", type=FILES, help="Read objects from a file, as `kubectl get -o yaml` prints them, instead of a cluster."
)
"""For commands that read recorded objects instead of a cluster."""
operator_config_option = click.option(
    "--config", metavar="FILE", type=GIVEN, help="The OperatorConfiguration, or a ConfigMap that contains it."
)


def take_input(given: dict[str, Any], *, required: bool = True) -> InputOptions:
    """Removes the input options from a command's values and returns them. Raises `click.UsageError` without any file."""
    files = take_files(given, required=required)
    return InputOptions(files, **{each.name: given.pop(each.name) for each in fields(InputOptions) if each.name in given})


def _selector(_: click.Context, __: click.Parameter, value: str) -> str:
    """Validates a selector here, as kubectl does, so that a mistake costs no request."""
    if value:
        from kube_objects.label_selector import Selector  # only with -l

        try:
            Selector(value)
        except ValueError as error:
            raise click.BadParameter(f"{error}.") from None
    return value


selector_option = text_option("-l", "--selector", metavar="SELECTOR", callback=_selector, help="Select by label: app=web,tier!=cache.")
