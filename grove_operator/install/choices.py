"""Takes values from files and from `path=value` settings, and says all that is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError

from grove_compiler.source.reader import read_bytes, read_text
from grove_operator.install.values import Values, defaults


class WrongValues(Exception):
    """Values that cannot be used. `lines` says each reason: where, what is wrong, what would be right."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = list(lines)
        super().__init__("; ".join(self.lines))


def chosen(files: Sequence[tuple[str, bytes]], settings: Sequence[str]) -> Values:
    """Returns the values of some files, given by name and content, and of settings; what comes later wins. Raises `WrongValues`."""
    given, problems = dict[str, Any](), list[str]()
    for name, data in files:
        documents, wrong = read_bytes(data, name)
        problems += [f"{one.place}: {one.message}" for one in wrong]
        for document in documents:
            if isinstance(document.value, dict):
                given = merged(given, {key: value for key, value in document.value.items() if key != "global"})  # that is Helm's own
            else:
                problems.append(f"{name}: expected a map of values")
    for setting in settings:
        path, equals, text = setting.partition("=")
        if not path or not equals:
            problems.append(f"--set {setting}: expected PATH=VALUE, such as replicas=3")
            continue
        values, wrong = read_text(text, "")
        problems += [f"--set {setting}: {one.message}" for one in wrong]
        given = merged(given, _nested(path.split("."), values[0].value if values else None))
    if problems:
        raise WrongValues(problems)
    try:
        made = Values.model_validate(merged(defaults(), given))
    except ValidationError as error:
        raise WrongValues([_sentence(one) for one in error.errors()]) from None
    if contradictions := list(_contradictions(made)):
        raise WrongValues([f"values: {one}" for one in contradictions])
    return made


def merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Maps within maps are merged, null takes a value away, and anything else takes the place of what was there: as Helm does it."""
    made = dict(base)
    for key, value in over.items():
        if value is None:
            made.pop(key, None)
        else:
            made[key] = merged(made[key], value) if isinstance(value, dict) and isinstance(made.get(key), dict) else value
    return made


def _contradictions(values: Values) -> Iterator[str]:
    """Yields what values ask for that would not come of them; the schema of the chart says the same (`tools/generate_chart.py`)."""

    def is_on(*path: str, unless_told: bool) -> bool:
        told: Any = values.config
        for name in path:
            told = told.get(name) if isinstance(told, dict) else None
        return unless_told if told is None else bool(told)

    if values.webhooks.only and not is_on("admission", "mnnvlWebhooks", unless_told=False):
        yield "webhooks.only: nothing would be installed; set config.admission.mnnvlWebhooks=true as well"
    if values.replicas > 1 and not is_on("leaderElection", "enabled", unless_told=False):
        yield f"replicas: {values.replicas} operators would work at once; set config.leaderElection.enabled=true as well"
    if values.webhooks.enabled and not is_on("server", "webhooks", "enabled", unless_told=True):
        yield "config.server.webhooks.enabled: nobody would answer the webhooks that are installed; set webhooks.enabled=false in its place"
    if not values.webhooks.enabled and is_on("authorizer", "enabled", unless_told=False):
        yield "config.authorizer.enabled: it is one of the webhooks, which are not installed; set webhooks.enabled=true as well"


def _nested(path: list[str], value: Any) -> dict[str, Any]:
    for name in reversed(path):
        value = {name: value}
    made: dict[str, Any] = value
    return made


def _sentence(error: Any) -> str:
    path = ".".join(map(str, error["loc"]))
    if error["type"] != "extra_forbidden":
        return f"values: {path}: {error['msg']}, and not {error['input']!r}"
    known = _names(error["loc"][:-1])
    close = get_close_matches(str(error["loc"][-1]), known, n=1)
    return f"values: {path}: there is no such value" + (f'; did you mean "{close[0]}"?' if close else f"; there are {', '.join(known)}")


def _names(path: Sequence[Any]) -> list[str]:
    """The values beside one that is not known."""
    model: type[BaseModel] = Values
    for part in path:
        inner = next((one.annotation for name, one in model.model_fields.items() if part in (one.alias, name)), None)
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
            return []
        model = inner
    return [one.alias or name for name, one in model.model_fields.items()]
