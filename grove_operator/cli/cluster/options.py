"""The options of commands that talk to a cluster, with kubectl's names and meanings."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import field, fields
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from grove_compiler.record import record
from grove_operator.cli.options import FILES, _kube_version, _namespace, files_arguments, mnnvl_shape_option, rules_option, take_files

F = TypeVar("F", bound=Callable[..., Any])

FIELD_MANAGER = "grove"
SWITCHES = {"--server-side": "true", "--validate": "strict"}
"""Options of kubectl that are taken for its users' sake: what they say alone. They look at `=true` and `=false` themselves."""

BARE_APPLY = {"--force-conflicts": "*", **SWITCHES}
"""What options of applies say without a value; `--force-conflicts` is about all managers then."""


class _Given(click.ParamType[str]):
    """A text that is not empty where it is given.

    An empty one is what is left of a variable that nobody set. Taken for an option that was left out, `-n "$NAMESPACE"` would delete in
    another namespace, `--context "$CLUSTER"` in another cluster, and `--prune-limit "$LIMIT"` without a limit.
    """

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Returns the text as it stands. Fails for an empty one that is not the default."""
        if (
            not value
            and param is not None
            and ctx is not None
            and ctx.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE
        ):
            self.fail("it is empty, as a variable is that nobody has set. Leave the option out if nothing is meant", param, ctx)
        return value


GIVEN = _Given()


REQUESTS = 6
"""From this verbosity on each request is told, as kubectl does."""


@record
class Target:
    """Which cluster, as whom, and which namespace of it; empty is what the kubeconfig says.

    `request_timeout` is in seconds, for all tries of a request together; None leaves it to the transport.
    """

    namespace: str = ""
    context: str = ""
    kubeconfig: str = ""
    token: str = field(default="", repr=False)
    act_as: str = ""
    groups: tuple[str, ...] = ()
    request_timeout: float | None = None
    verbosity: int = 0

    @property
    def user(self) -> dict[str, Any]:
        """The fields of a kubeconfig's user that are given here."""
        given = {"token": self.token, "as": self.act_as, "as-groups": list(self.groups)}
        return {key: value for key, value in given.items() if value}


@record
class InputOptions:
    """What a command line wants to exist. `kube_version` is the server's when it is empty."""

    files: tuple[str, ...]
    selector: str = ""
    config: str | None = None
    kube_version: str = ""
    rules: tuple[str, ...] = ()
    strict: bool = False
    pods: bool = False
    mnnvl_shape: str | None = None
    force: tuple[str, ...] = ()


def duration(_: click.Context, __: click.Parameter, value: str | None) -> float | None:
    """Reads seconds: `30s`, `5m`, `1h30m`, or a plain number of them."""
    if value is None:
        return None
    from grove_compiler.kube import duration as go  # only where one is given

    try:
        seconds = float(value) if value.replace(".", "", 1).isdecimal() else go.parse(value) / go.SECOND
    except go.DurationError as error:
        raise click.BadParameter(str(error)) from None
    if not math.isfinite(seconds) or seconds <= 0:
        raise click.BadParameter(f"{value!r} is no time to wait: expected something like 30s, 5m or 1h30m.")
    return seconds


NEVER = 86400.0
"""Seconds that stand for no limit to a request."""


def _request_timeout(context: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """Seconds; as with kubectl, 0 is for ever."""
    return NEVER if value is not None and value.strip() in ("0", "0s") else duration(context, parameter, value)


def _verbosity(_: click.Context, __: click.Parameter, value: str) -> int:
    """Reads a number from 0 on; `-v=6` reaches us as `=6`."""
    number = value.removeprefix("=")
    if not number.isdecimal():
        raise click.BadParameter(f"{number!r} is no number.")
    return int(number)


def optional_namespace(context: click.Context, parameter: click.Parameter, value: str) -> str:
    """Takes a namespace that a server could have, or none."""
    return _namespace(context, parameter, value) if value else ""


def _optional_version(context: click.Context, parameter: click.Parameter, value: str) -> str:
    return _kube_version(context, parameter, value) if value else ""


def _namespace_option(help: str) -> Callable[[F], F]:
    return click.option("-n", "--namespace", default="", metavar="NAME", type=GIVEN, callback=optional_namespace, help=help)


_CONNECTION = (
    click.option("--context", default="", metavar="NAME", type=GIVEN, help="A context of the kubeconfig other than the current one."),
    click.option("--kubeconfig", default="", metavar="FILE", type=GIVEN, help="A kubeconfig other than $KUBECONFIG or ~/.kube/config."),
    click.option("--token", default="", metavar="TOKEN", type=GIVEN, help="Bearer token to use instead of the kubeconfig's credentials."),
    click.option("--as", "act_as", default="", metavar="USER", type=GIVEN, help="Act as this user; needs permission to impersonate."),
    click.option(
        "--as-group",
        "groups",
        multiple=True,
        metavar="GROUP",
        type=GIVEN,
        help="With --as: act as a member of this group, too; repeatable.",
    ),
    click.option(
        "--request-timeout",
        metavar="TIME",
        callback=_request_timeout,
        help="Give up a request after this time, retries included: 30s, 2m; 0 for never. By default 2m.",
    ),
    click.option(
        "-v",
        "--v",
        "verbosity",
        default="0",
        metavar="LEVEL",
        callback=_verbosity,
        help=f"From {REQUESTS} on, log each request to standard error: method, URL, status and time, never its body.",
    ),
)

_LOGIN = (
    click.option("--kubeconfig", default="", metavar="FILE", type=GIVEN, help="How to log in; in a pod, its service account."),
    click.option("--context", default="", metavar="NAME", type=GIVEN, help="The kubeconfig's context."),
)

_INPUT = (
    *files_arguments,
    click.option(
        "-R", "--recursive", is_flag=True, help="Accepted for compatibility with kubectl: folders are always searched recursively."
    ),
    click.option(
        "-l", "--selector", default="", metavar="SELECTOR", type=GIVEN, help="Only objects with these labels: app=web,tier!=cache."
    ),
    click.option("--config", metavar="FILE", type=FILES, help="An OperatorConfiguration for the compilation."),
    click.option(
        "--kube-version",
        default="",
        metavar="VERSION",
        type=GIVEN,
        callback=_optional_version,
        help="Compile for this version of Kubernetes. By default the server's.",
    ),
    rules_option,
    click.option("--strict", is_flag=True, help="Warnings of the compilation fail, too."),
    click.option("--pods", is_flag=True, help="Include the sets' Pods; otherwise the operator of the PodCliques creates them."),
    mnnvl_shape_option,
)


def field_manager_option(help: str) -> Callable[[F], F]:
    """Makes `--field-manager`, for commands to which the name means different things."""
    return click.option("--field-manager", type=GIVEN, default=FIELD_MANAGER, show_default=True, metavar="NAME", help=help)


def _server_side(_: click.Context, __: click.Parameter, value: str) -> None:
    if value == "false":
        raise click.BadParameter("this program has no client-side apply; leave the option out.")


def _validate(_: click.Context, __: click.Parameter, value: str) -> None:
    """Tells that it changes nothing: only a server's refusal of what is created could be turned off, and every apply is typed by it."""
    if value not in ("strict", "true"):
        import sys

        print(f"grove: --validate={value} changes nothing: the server refuses unknown fields of every server-side apply", file=sys.stderr)


_MANAGER = (
    field_manager_option("Name of the field manager."),
    click.option(
        "--force-conflicts",
        "force",
        multiple=True,
        type=GIVEN,
        metavar="[=MANAGER]",
        help="Take over fields of other managers: of all, or of those named; repeatable.",
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
        help="Accepted for compatibility with kubectl: the server always refuses unknown fields.",
    ),
)


def dry_run_option(help: str) -> Callable[[F], F]:
    """Makes `--dry-run`, which without a value is `client`: see `OptionalValues`."""
    return click.option("--dry-run", type=click.Choice(("client", "server", "none")), default="none", metavar="[=client|server]", help=help)


def adding(options: tuple[Callable[[F], F], ...]) -> Callable[[F], F]:
    """Returns a decorator that gives a command these options, in this order."""

    def add(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return add


login_options = adding(_LOGIN)
"""How processes that run in a cluster log in; gives `kubeconfig` and `context`."""
target_options = adding(
    (
        _namespace_option(
            "Namespace of manifests that name none; others are refused. By default the context's, for manifests that name none."
        ),
        *_CONNECTION,
    )
)
"""Which cluster and namespace manifests are for; gives `Target`'s fields."""
query_options = adding((_namespace_option("Its namespace. By default the context's."), *_CONNECTION))
"""Which cluster, and the namespace of what is named; gives `Target`'s fields."""
input_options = adding(_INPUT)
"""What is to exist; gives what `take_input` takes."""
manager_options = adding(_MANAGER)
"""Under which name, and whose fields may be taken."""
journal_option = click.option("--journal", metavar="FILE", type=FILES, help="Append each event to this file, as a line of JSON.")
"""For commands that write."""
all_namespaces_option = click.option("-A", "--all-namespaces", is_flag=True, help="Of all namespaces.")
snapshot_option = click.option(
    "--snapshot", metavar="FILE", type=FILES, help="Look at objects in a file, as `kubectl get -o yaml` prints them."
)
"""For commands that take recorded objects in place of a cluster."""
operator_config_option = click.option("--config", metavar="FILE", type=GIVEN, help="The OperatorConfiguration, or a ConfigMap with it.")


def take_target(given: dict[str, Any]) -> Target:
    """Returns the target among a command's values, which are taken out. Raises `click.UsageError` for groups of nobody."""
    target = Target(**{one.name: given.pop(one.name) for one in fields(Target)})
    if target.groups and not target.act_as:
        raise click.UsageError("--as-group goes with --as, which says who is in the group.")
    return target


def take_input(given: dict[str, Any], *, required: bool = True) -> InputOptions:
    """Returns what is wanted among a command's values, which are taken out. Raises `click.UsageError` without any file."""
    files = take_files(given, required=required)
    given.pop("recursive")
    names = ("selector", "config", "kube_version", "rules", "strict", "pods", "mnnvl_shape")
    asked = InputOptions(files, **{name: given.pop(name) for name in names})
    asked.force = given.pop("force", ())
    return asked
