"""The hashes by which Grove tells whether pods are up to date, to the letter those of the shipped operator (semantics §7.3).

They are FNV-1a sums over the Go dump of the pod templates (see `go_dump`), so they hold for one version of Kubernetes' types:
the one that `pod_template_fields` was made from.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from grove_compiler.kube.go_dump import TemplateError, dump

__all__ = ["TemplateError", "generation_hash", "pod_template_hash", "template_hashes"]

_OFFSET, _PRIME, _MASK = 0xCBF29CE484222325, 0x100000001B3, 2**64 - 1
_SAFE_DIGITS = str.maketrans("0123456789", "456789bcdf")
"""Each decimal digit's letter in Kubernetes' safe alphabet, `bcdfghjklmnpqrstvwxz2456789` at the digit's ASCII code mod 27."""


def pod_template_hash(template: dict[str, Any]) -> str:
    """Returns the label `grove.io/pod-template-hash` of one clique: at most 20 characters of `456789bcdf`.

    The template is `{"metadata": {"labels": ..., "annotations": ...}, "spec": podSpec}` with the clique's labels and annotations
    and its pod spec after defaulting, with the set's priorityClassName. Quantities may be in any form. Raises TemplateError.
    """
    return _text(_fnv1a(_OFFSET, dump(template)))


def generation_hash(templates: Iterable[dict[str, Any]]) -> str:
    """Returns `status.currentGenerationHash` of a set: one hash over the templates of all its cliques in their order."""
    return template_hashes(templates)[1]


def template_hashes(templates: Iterable[dict[str, Any]]) -> tuple[list[str], str]:
    """Returns every clique's pod-template hash, and the generation hash, for little more than the price of the latter."""
    hashes: list[str] = []
    known: dict[str, int] = {}
    generation = _OFFSET
    for template in templates:
        text = dump(template)
        if text not in known:
            known[text] = _fnv1a(_OFFSET, text)
        generation = _fnv1a(generation, text) if hashes else known[text]
        hashes.append(_text(known[text]))
    return hashes, _text(generation)


def _fnv1a(state: int, text: str) -> int:
    """Returns the 64-bit FNV-1a sum, continued from `state`, of the text's UTF-8."""
    for byte in text.encode("utf-8", "replace"):
        state = ((state ^ byte) * _PRIME) & _MASK
    return state


def _text(state: int) -> str:
    return str(state).translate(_SAFE_DIGITS)
