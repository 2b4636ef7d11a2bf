"""Creates the certificates of the webhooks: a certificate authority, and the serving certificate that it signs for the Service."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.types import CertificateIssuerPrivateKeyTypes, PrivateKeyTypes
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from kube_objects.words import listed

ORGANIZATION, AUTHORITY_NAME = "Grove", "Grove-CA"
"""As the shipped operator names them (shipped semantics §11)."""
AUTHORITY_LIFE, SERVING_LIFE = timedelta(days=365), timedelta(days=30)
CLOCK_SKEW = timedelta(hours=1)
"""How far the clock of an API server may be behind: `notBefore` precedes the creation of a certificate by this."""
MAX_COMMON_NAME_LENGTH = 64


class Pair(NamedTuple):
    """A certificate and its private key, as PEM. Its `repr` omits the key."""

    certificate: bytes
    key: bytes

    def __repr__(self) -> str:
        return f"Pair(certificate={self.certificate!r})"

    @property
    def x509(self) -> x509.Certificate:
        """The parsed certificate. Raises ValueError if it is invalid."""
        return x509.load_pem_x509_certificate(self.certificate)


class Material(NamedTuple):
    """The certificates that the replicas of the operator share: the authority, and the serving certificate that it signed."""

    authority: Pair
    serving: Pair


def make_authority(now: datetime) -> Pair:
    """Creates a certificate authority that may sign serving certificates only."""
    name = _name(AUTHORITY_NAME)
    key = ec.generate_private_key(ec.SECP256R1())
    usage = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
    builder = _builder(name, name, key, now, now + AUTHORITY_LIFE)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True).add_extension(usage, critical=True)
    builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    return _pair(builder.sign(key, hashes.SHA256()), key)


def sign(authority: Pair, names: Sequence[str], now: datetime) -> Pair:
    """Creates a serving certificate for DNS names. It expires with the authority at the latest.

    Raises ValueError if the authority cannot sign.
    """
    issuer, signer = authority.x509, _signer(authority.key)
    key = ec.generate_private_key(ec.SECP256R1())
    end = min(now + SERVING_LIFE, issuer.not_valid_after_utc)
    common_name = next((name for name in names if len(name) <= MAX_COMMON_NAME_LENGTH), "grove-operator")
    builder = _builder(_name(common_name), issuer.subject, key, now, end)
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False)
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    public = issuer.public_key()
    identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(public)  # type: ignore[arg-type]  # its key has been used to sign
    return _pair(builder.add_extension(identifier, critical=False).sign(signer, hashes.SHA256()), key)


def fault_of(pair: Pair) -> str:
    """Returns why a certificate and a key cannot be used as a pair; empty if they can."""
    try:
        public = serialization.load_pem_private_key(pair.key, None).public_key()
        shown = pair.x509.public_key()
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return "cannot be read"
    form = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    return "" if public.public_bytes(*form) == shown.public_bytes(*form) else "does not match its key"


def is_signed_by(certificate: x509.Certificate, authority: x509.Certificate) -> bool:
    """Returns whether an authority has signed a certificate."""
    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def names_of(certificate: x509.Certificate) -> set[str]:
    """Returns the DNS names of a certificate."""
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return set()
    return set(names.get_values_for_type(x509.DNSName))


UNREADABLE = (ValueError, x509.InvalidVersion, x509.DuplicateExtension, x509.UnsupportedGeneralNameType)
"""What the library raises for certificates of a form that TLS accepts, and it does not."""
SOON = timedelta(days=7)
"""How long before its end a certificate that others renew should have been renewed."""


def serving_fault(chain: bytes, name: str, now: datetime) -> str:
    """Returns why API servers will not accept the first certificate of a chain, or soon will not; empty if they may.

    `name` is the DNS name by which they call the server; empty if that is not known.
    """
    try:
        shown = x509.load_pem_x509_certificates(chain)[0]
        usage = shown.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        usage = None
    except (*UNREADABLE, IndexError):
        return ""  # TLS has accepted it
    if now < shown.not_valid_before_utc:
        return f"API servers reject the certificate, which is valid from {shown.not_valid_before_utc:%Y-%m-%d %H:%M} UTC"
    if name and not any(_is_for(pattern, name) for pattern in names_of(shown)):
        return f"API servers reject the certificate, which is for {listed(sorted(names_of(shown))) or 'no name'}, and not for {name}"
    if usage is not None and not {ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE} & set(usage):
        return "API servers reject the certificate, which is not for servers (extended key usage)"
    end = f"{shown.not_valid_after_utc:%Y-%m-%d %H:%M} UTC"
    if now >= shown.not_valid_after_utc:
        return f"API servers reject the certificate, which has expired on {end}"
    return f"the certificate expires on {end}, and nobody has renewed it" if now >= shown.not_valid_after_utc - SOON else ""


def _is_for(pattern: str, name: str) -> bool:
    """Returns whether a name of a certificate, which may begin with a wildcard for one label, is this name."""
    pattern = pattern.lower()
    return pattern == name or (pattern.startswith("*.") and pattern[2:] == name.partition(".")[2])


def read_bundle(pem: bytes) -> list[x509.Certificate]:
    """Returns the certificates of a bundle; none if it is invalid."""
    try:
        return x509.load_pem_x509_certificates(pem)
    except ValueError:
        return []


def write_bundle(certificates: Sequence[x509.Certificate]) -> bytes:
    """Returns certificates as a PEM bundle."""
    return b"".join(certificate.public_bytes(serialization.Encoding.PEM) for certificate in certificates)


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, ORGANIZATION), x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, now: datetime, end: datetime
) -> x509.CertificateBuilder:
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
    return builder.serial_number(x509.random_serial_number()).not_valid_before(now - CLOCK_SKEW).not_valid_after(end)


def _pair(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> Pair:
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return Pair(certificate.public_bytes(serialization.Encoding.PEM), key.private_bytes(*form))


def _signer(key: bytes) -> CertificateIssuerPrivateKeyTypes:
    signer: PrivateKeyTypes = serialization.load_pem_private_key(key, None)
    return signer  # type: ignore[return-value]  # `sign` rejects other types
