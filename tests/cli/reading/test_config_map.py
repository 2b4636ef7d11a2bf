"""`--config` with the ConfigMap that an operator has mounted."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..running import ROOT, run

SET = str(ROOT / "examples" / "minimal.yaml")
CONFIG = (ROOT / "examples" / "operator-configuration.yaml").read_text()


def config_map(**data: str) -> str:
    texts = "".join(f"  {key}: |\n" + "".join(f"    {line}\n" for line in text.splitlines()) for key, text in data.items())
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: grove-operator-cm}}\ndata:\n{texts or '  {}'}\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_it_stands_for_the_configuration_in_it() -> None:
    Path("plain.yaml").write_text(CONFIG)
    Path("map.yaml").write_text(config_map(config=CONFIG, other="nothing"))
    assert run("compile", SET, "--config", "map.yaml") == run("compile", SET, "--config", "plain.yaml")


def test_findings_name_the_key_and_the_line_in_its_text() -> None:
    wrong = "apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\nschedulre: {}\n"
    Path("map.yaml").write_text(config_map(config=wrong))
    ended = run("lint", SET, "--config", "map.yaml")
    assert 'map.yaml#config:3:1: warning: Invalid value: unknown field "schedulre"' in ended.err
    assert "3 | schedulre: {}" in ended.err


@pytest.mark.parametrize(
    ("data", "found"),
    [({}, "nothing"), ({"a": "text"}, "a"), ({"a": CONFIG, "b": CONFIG}, "a, b")],
    ids=["no data", "no configuration", "two configurations"],
)
def test_a_config_map_without_exactly_one_configuration_is_refused(data: dict[str, str], found: str) -> None:
    Path("map.yaml").write_text(config_map(**data))
    said = f"grove: map.yaml: expected a ConfigMap with one OperatorConfiguration in its data, found {found}\n"
    assert run("compile", SET, "--config", "map.yaml") == (2, "", said)
