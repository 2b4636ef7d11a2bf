"""Validates the syntax of Kubernetes' names, labels and environment variables.

Each function says what is wrong with a value and what would be right, in words that follow the value (`"A" must begin with
...`), or returns `""`. The rules are apimachinery's `util/validation`.
"""

from __future__ import annotations

from kube_objects.digits import DIGITS

LOWER = "abcdefghijklmnopqrstuvwxyz"
UPPER = LOWER.upper()
MAX_LABEL_LENGTH, MAX_SUBDOMAIN_LENGTH, MAX_PORT_LENGTH = 63, 253, 15
_DNS = frozenset(LOWER + DIGITS + "-")
_DNS_WORDS = 'lower-case letters, digits and "-"'
_PRINTABLE_BUT_EQUALS = frozenset(map(chr, range(0x20, 0x7F))) - {"="}
_ALPHANUMERIC = frozenset(LOWER + UPPER + DIGITS)
_LABEL = _ALPHANUMERIC | frozenset("-_.")
_LABEL_WORDS = 'letters, digits, "-", "_" and "."'
_LOWER_ALPHANUMERIC = frozenset(LOWER + DIGITS)
SAFE_DIGITS = "456789bcdf"
"""Each decimal digit's letter in Kubernetes' safe alphabet, `bcdfghjklmnpqrstvwxz2456789` at the digit's ASCII code mod 27."""
_SAFE_DIGITS = frozenset(SAFE_DIGITS)


def dns1123_label(value: str) -> str:
    """Validates names that become part of a host name: containers, volumes, namespaces and the like."""
    return _dns(value, MAX_LABEL_LENGTH, _DNS, _DNS_WORDS)


def dns1123_subdomain(value: str) -> str:
    """Validates the names of most objects."""
    wrong = _dns(value, MAX_SUBDOMAIN_LENGTH, _DNS | {"."}, 'lower-case letters, digits, "-" and "."')
    if not wrong and not all(_edges_are(part, _LOWER_ALPHANUMERIC) for part in value.split(".")):
        return 'must begin and end with a letter or digit on both sides of every "."'
    return wrong


def label_value(value: str) -> str:
    """Validates label values; an empty one is valid."""
    if not value:
        return ""
    return _label(value)


def qualified_name(value: str) -> str:
    """Validates label keys, resource names and the like: a name with an optional DNS prefix, `nvidia.com/gpu`."""
    prefix, slash, name = value.rpartition("/")
    if slash:
        wrong = dns1123_subdomain(prefix)
        if wrong:
            return f'has a prefix, the part before "/", that {wrong}'
    if not name:
        return 'must have a name after "/"' if slash else "must not be empty"
    return _label(name)


def annotation_key(value: str) -> str:
    """Validates annotation keys, whose prefix may have capitals."""
    return qualified_name(value.lower())


def bytes_of(entries: dict[str, str]) -> int:
    """Returns the bytes of all keys and values of labels or annotations, as an API server counts them."""
    return sum(len(key.encode()) + len(value.encode()) for key, value in entries.items())


def environment_variable_name(value: str) -> str:
    """Validates names of environment variables, as upstream's webhook does."""
    if not value:
        return "must not be empty"
    if wrong := _characters(value, _LABEL, _LABEL_WORDS):
        return wrong
    if value[0] in DIGITS:
        return f'must not begin with a digit such as "{value[0]}"'
    if value == "." or value.startswith(".."):
        return 'must not be "." and not begin with ".."'
    return ""


def relaxed_environment_variable_name(value: str) -> str:
    """Validates names of environment variables, as Kubernetes itself does since 1.34: printable ASCII without `=`."""
    if not value:
        return "must not be empty"
    return _characters(value, _PRINTABLE_BUT_EQUALS, 'printable ASCII characters other than "="')


def port_name(value: str) -> str:
    """Validates port names: IANA service names (RFC 6335)."""
    if wrong := _characters(value, _DNS, _DNS_WORDS, MAX_PORT_LENGTH):
        return wrong
    if not any(character in LOWER for character in value):
        return "must contain at least one letter"
    if "--" in value or not _edges_are(value, _LOWER_ALPHANUMERIC):
        return 'must not begin or end with "-", nor have two in a row'
    return ""


def config_key(value: str) -> str:
    """Validates keys of ConfigMaps and Secrets, which become file names."""
    if not value:
        return f"must consist of {_LABEL_WORDS}"
    if wrong := _characters(value, _LABEL, _LABEL_WORDS, MAX_SUBDOMAIN_LENGTH):
        return wrong
    return 'must not be "." and not begin with ".."' if value == "." or value.startswith("..") else ""


def dns1123_subdomain_of_any_case(value: str) -> str:
    """Validates names of CSI drivers, which may have capitals."""
    return dns1123_subdomain(value.lower())


def search_domain(value: str) -> str:
    """Validates a resolver's search domains: "." alone, or a domain that may contain "_" and end with a dot (KEP-4427)."""
    return dns1123_subdomain(value.removesuffix(".").replace("_", "0")) if value != "." else ""


def is_hash(text: str) -> bool:
    """Reports whether a text can be the hash of a template, which has the letters for decimal digits of Kubernetes' own hashes."""
    return bool(text) and _SAFE_DIGITS.issuperset(text)


SYNTAXES = {
    "config key": config_key,
    "DNS label": dns1123_label,
    "DNS subdomain": dns1123_subdomain,
    "DNS subdomain of any case": dns1123_subdomain_of_any_case,
    "environment variable": relaxed_environment_variable_name,
    "label key": qualified_name,
    "label value": label_value,
    "port name": port_name,
    "search domain": search_domain,
}


def name_wrong(value: str, syntax: str) -> str:
    """Validates a name by one of the `SYNTAXES`. Raises KeyError for an unknown syntax."""
    return SYNTAXES[syntax](value)


def _dns(value: str, longest: int, allowed: frozenset[str], words: str) -> str:
    if not value:
        return "must not be empty"
    if wrong := _characters(value, allowed, words, longest):
        return wrong if len(value) > longest else wrong + _instead(value, allowed)
    if not _edges_are(value, _LOWER_ALPHANUMERIC):
        return "must begin and end with a letter or digit"
    return ""


def _label(value: str) -> str:
    if wrong := _characters(value, _LABEL, _LABEL_WORDS, MAX_LABEL_LENGTH):
        return wrong
    if not _edges_are(value, _ALPHANUMERIC):
        return "must begin and end with a letter or digit"
    return ""


def _characters(value: str, allowed: frozenset[str], words: str, longest: int | None = None) -> str:
    """Validates length and characters, which `words` describe; the message names the first three that are not allowed."""
    if longest is not None and len(value) > longest:
        return f"has {len(value)} characters, at most {longest} are allowed"
    if allowed.issuperset(value):
        return ""
    strange = [character for character in dict.fromkeys(value) if character not in allowed]
    return f"must consist of {words}, and has {', '.join(map(_shown, strange[:3]))}"


def _shown(character: str) -> str:
    if character == " ":
        return "a space"
    # A letter of another alphabet may look like an allowed one, so its code point is shown as well.
    return f"{character!a}" if character.isascii() or not character.isprintable() else f"{character!r} (U+{ord(character):04X})"


def _instead(value: str, allowed: frozenset[str]) -> str:
    """Returns a suggestion with the corrected value, when only case and separators are wrong; else an empty text."""
    better = "".join(character if character in allowed else "-" for character in value.lower().replace("_", "-"))
    return f'; write "{better}"' if all(_edges_are(part, _LOWER_ALPHANUMERIC) for part in better.split(".")) else ""


def _edges_are(value: str, allowed: frozenset[str]) -> bool:
    return value[:1] in allowed and value[-1:] in allowed


def is_ip(value: str) -> bool:
    """Reports whether a text is an IPv4 or IPv6 address. Leading zeros in IPv4 addresses are allowed, IPv6 zones are not."""
    import ipaddress  # costs 4 ms, and few manifests hold an address

    plain = ".".join(part.lstrip("0") or "0" for part in value.split(".")) if ":" not in value and value else value
    try:
        return "%" not in value and bool(ipaddress.ip_address(plain).version)
    except ValueError:
        return False
