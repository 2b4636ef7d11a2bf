"""Checks the syntax of IP addresses, as leniently as Kubernetes always has."""

from __future__ import annotations


def is_ip(value: str) -> bool:
    """Reports whether a text is an IPv4 or IPv6 address. Leading zeros in IPv4 addresses are allowed, IPv6 zones are not."""
    import ipaddress  # costs 4 ms, and few manifests hold an address

    plain = ".".join(part.lstrip("0") or "0" for part in value.split(".")) if ":" not in value and value else value
    try:
        return "%" not in value and bool(ipaddress.ip_address(plain).version)
    except ValueError:
        return False
