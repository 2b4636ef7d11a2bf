"""A dump of a cluster has thousands of sets: what is looked at for each of them must not be all others."""

from __future__ import annotations

import pytest

from grove_compiler.compile import Inputs, lint
from grove_compiler.decoder import Decoded
from grove_compiler.engine.runtime.program import Program
from grove_compiler.source.document import Document
from tests.model.sets import clique, pcs


def test_twice_as_many_sets_are_looked_at_twice_as_often(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []

    def look(entry: Decoded) -> str:
        looks.append(str(entry.manifest.get("kind")))
        return looks[-1]

    def looks_at(number: int) -> int:
        looks.clear()
        assert lint(Inputs([Document(pcs([clique("a")], metadata={"name": f"set-{index}"})) for index in range(number)]), program) == []
        return len(looks)

    monkeypatch.setattr(Decoded, "kind", property(look))
    assert looks_at(40) <= 2 * looks_at(20)
