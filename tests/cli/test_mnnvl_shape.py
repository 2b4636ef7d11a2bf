"""`--mnnvl-shape`: which form ComputeDomains and their claims have, and what is said when nobody chose one."""

from __future__ import annotations

from pathlib import Path

import pytest

from grove_cli.entry import run

EXAMPLE = str(Path(__file__).resolve().parents[2] / "examples" / "mnnvl-training.yaml")


@pytest.mark.parametrize(
    ("options", "kinds"),
    [
        ([], {"v1alpha1", "ResourceClaim"}),
        (["--mnnvl-shape", "as-proposed"], {"v1alpha1", "ResourceClaim"}),
        (["--mnnvl-shape", "driver"], {"v1beta1"}),
    ],
)
def test_compile_prints_the_form_that_was_chosen(options: list[str], kinds: set[str], capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["compile", EXAMPLE, *options]) == 0
    text = capfdbinary.readouterr().out.decode()
    versions = {word for word in ("v1alpha1", "v1beta1") if f"resource.nvidia.com/{word}" in text}
    assert versions | ({"ResourceClaim"} if "kind: ResourceClaim\n" in text else set()) == kinds


@pytest.mark.parametrize("command", ["compile", "lint"])
def test_one_warning_says_what_a_driver_would_reject_and_which_flag_changes_it(
    command: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert run([command, EXAMPLE]) == 0
    said = capfdbinary.readouterr().err.decode()
    assert said.count("warning:") == 1
    assert "resource.nvidia.com/v1beta1" in said
    assert "--mnnvl-shape driver" in said


@pytest.mark.parametrize("command", ["compile", "lint"])
@pytest.mark.parametrize("shape", ["as-proposed", "driver"])
def test_a_choice_is_not_warned_of(command: str, shape: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run([command, EXAMPLE, "--strict", "--mnnvl-shape", shape]) == 0
    assert b"warning" not in capfdbinary.readouterr().err


def test_a_form_that_there_is_not_is_misuse(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["compile", EXAMPLE, "--mnnvl-shape", "shipped"]) == 2
    assert b"as-proposed" in capfdbinary.readouterr().err
