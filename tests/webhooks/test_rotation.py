"""Which certificates serve on and which are made anew: a Secret, a time and names in, a decision out."""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography import x509
from hypothesis import given
from hypothesis import strategies as st

from grove_operator.webhooks import authority, rotation
from grove_operator.webhooks.authority import AUTHORITY_LIFE, CLOCK_SKEW, SERVING_LIFE, Material
from tests.suite.rows import rows

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
NAMES = ["grove-operator.system.svc", "grove-operator.system.svc.cluster.local"]
Manifest = dict[str, Any]


def secret_of(material: Material, **changed: bytes) -> Manifest:
    data = rotation.data_of(material) | {name.replace("_", "."): base64.b64encode(value).decode() for name, value in changed.items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "certificates"}, "data": data}


@pytest.fixture(scope="module")
def material() -> Material:
    return made(NOW)


@pytest.fixture(scope="module")
def other() -> Material:
    return made(NOW)


def made(when: datetime, names: list[str] = NAMES) -> Material:
    return rotation.make(rotation.Rotation("replace"), None, when, names)


def action(secret: Manifest | None, when: datetime = NOW, names: list[str] = NAMES) -> str:
    return rotation.decide(secret, when, names).action


def test_without_a_secret_both_certificates_are_made() -> None:
    assert action(None) == "replace"


def test_what_was_just_made_serves_on(material: Material) -> None:
    assert action(secret_of(material)) == "keep"


EMPTY: dict[str, Callable[[Manifest], Any]] = {
    "as a chart makes it": lambda secret: secret.pop("data"),
    "without an authority": lambda secret: secret["data"].pop("ca.crt"),
    "without the authority's key": lambda secret: secret["data"].pop("ca.key"),
    "with an empty certificate": lambda secret: secret["data"].update({"tls.crt": ""}),
    "with what is no base64": lambda secret: secret["data"].update({"tls.key": "%"}),
}


@pytest.mark.parametrize("empty", EMPTY.values(), ids=EMPTY)
def test_a_secret_that_lacks_something_is_filled(empty: Callable[[Manifest], Any], material: Material) -> None:
    secret = secret_of(material)
    empty(secret)
    assert action(secret) == "replace"


def test_an_authority_that_cannot_be_read_is_made_anew(material: Material) -> None:
    assert action(secret_of(material, ca_crt=b"nonsense")) == "replace"


def test_an_authority_whose_key_is_not_its_own_is_made_anew(material: Material, other: Material) -> None:
    assert action(secret_of(material, ca_key=other.authority.key)) == "replace"


def test_an_authority_that_may_sign_nothing_is_made_anew(material: Material) -> None:
    assert action(secret_of(material, ca_crt=material.serving.certificate, ca_key=material.serving.key)) == "replace"


def test_a_certificate_that_cannot_be_read_is_signed_anew(material: Material) -> None:
    assert action(secret_of(material, tls_crt=b"nonsense")) == "sign"


def test_a_certificate_whose_key_is_not_its_own_is_signed_anew(material: Material, other: Material) -> None:
    assert action(secret_of(material, tls_key=other.serving.key)) == "sign"


def test_a_certificate_of_another_authority_is_signed_anew(material: Material, other: Material) -> None:
    assert action(secret_of(material, tls_crt=other.serving.certificate, tls_key=other.serving.key)) == "sign"


def test_a_server_that_has_another_name_gets_another_certificate(material: Material) -> None:
    assert action(secret_of(material), names=["webhooks.elsewhere.svc"]) == "sign"


def test_fewer_names_than_the_certificate_has_are_no_reason(material: Material) -> None:
    assert action(secret_of(material), names=NAMES[:1]) == "keep"


@rows(
    ("passed", "expected"),
    [
        (timedelta(), "keep"),
        (SERVING_LIFE * 0.6, "keep"),
        (SERVING_LIFE * 0.7, "sign"),
        (SERVING_LIFE * 2, "sign"),
        (AUTHORITY_LIFE * 0.6, "sign"),
        (AUTHORITY_LIFE * 0.7, "replace"),
        (AUTHORITY_LIFE * 2, "replace"),
        (-2 * CLOCK_SKEW, "replace"),
    ],
)
def test_certificates_are_made_anew_while_they_are_still_good(passed: timedelta, expected: str, material: Material) -> None:
    assert action(secret_of(material), NOW + passed) == expected


def test_a_new_certificate_is_of_the_authority_that_there_is(material: Material) -> None:
    later, secret = NOW + SERVING_LIFE, secret_of(material)
    renewed = rotation.make(rotation.decide(secret, later, NAMES), secret, later, NAMES)
    assert (renewed.authority, renewed.serving != material.serving) == (material.authority, True)


def test_a_certificate_does_not_outlive_its_authority(material: Material) -> None:
    late = NOW + AUTHORITY_LIFE - SERVING_LIFE / 2
    assert authority.sign(material.authority, NAMES, late).x509.not_valid_after_utc == material.authority.x509.not_valid_after_utc


def test_the_reason_never_holds_a_key(material: Material, other: Material) -> None:
    reason = rotation.decide(secret_of(material, tls_key=other.serving.key), NOW, NAMES).reason
    assert "PRIVATE" not in reason
    assert len(reason) < 80


def test_a_long_name_of_a_service_fits() -> None:
    long = f"{'s' * 63}.{'n' * 63}.svc"
    assert authority.names_of(made(NOW, [long]).serving.x509) == {long}


@given(passed=st.floats(0, 4 * AUTHORITY_LIFE.total_seconds()))
def test_after_what_is_due_was_done_nothing_is(passed: float) -> None:
    when, secret = NOW + timedelta(seconds=passed), secret_of(FIRST)
    decision = rotation.decide(secret, when, NAMES)
    after = secret if decision.action == "keep" else secret_of(rotation.make(decision, secret, when, NAMES))
    assert action(after, when) == "keep"


@given(
    data=st.dictionaries(st.sampled_from(rotation.KEYS), st.one_of(st.text(), st.binary().map(lambda one: base64.b64encode(one).decode())))
)
def test_whatever_a_secret_holds_there_is_a_decision(data: dict[str, str]) -> None:
    assert action({"data": {**rotation.data_of(FIRST), **data}}) in ("keep", "sign", "replace")


FIRST = made(NOW)


def test_the_authority_signs_for_servers_only(material: Material) -> None:
    usage = material.serving.x509.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [x509.oid.ExtendedKeyUsageOID.SERVER_AUTH]
