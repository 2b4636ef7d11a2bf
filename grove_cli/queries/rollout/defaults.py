"""Adds the defaults of the operator's rules to a live set: revisions record pod templates with them, also where no webhook sets them."""

from __future__ import annotations

from applier.ref import Manifest
from grove_compiler.decoder import Decoder
from grove_compiler.engine.runtime.program import Program
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.source.document import Document


def with_defaults(pcs: Manifest, program: Program) -> Manifest:
    """Returns a set with all defaults; as it is if it is invalid."""
    decoder = Decoder(program, {"settings": Settings()})
    decoder.take([Document(pcs)])
    entry = decoder.decoded[0]
    return entry.manifest if entry.is_defaulted and not entry.structural else pcs
