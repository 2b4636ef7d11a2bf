"""What linting says of a new set's topology our definitions say as well: they judge before any webhook is asked."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from applier.testing.control_plane import ControlPlane
from tests.validation.case_files import FILES, read_case

pytestmark = pytest.mark.cluster

FORBIDDEN = "validate/pack-domain-with-name"


def is_new(path: Path) -> bool:
    """Whether the case is about a set that does not exist yet."""
    head = read_case(path).head
    return "was" not in head and all(one["kind"] != "PodCliqueSet" for one in head.get("snapshot", ()))


CASES = [path for path in FILES if path.parent.name == "topology" and is_new(path)]


@pytest.mark.usefixtures("crds")
def test_new_sets_are_forbidden_their_pack_domain_by_both_or_by_neither(control_plane: ControlPlane, namespace: str) -> None:
    sets = {f"case-{number}": read_case(path).documents[0].value for number, path in enumerate(CASES)}
    text = "\n".join(json.dumps({**one, "metadata": {"name": name, "namespace": namespace}}) for name, one in sets.items())
    told = control_plane.kubectl("create", "--dry-run=server", "-f", "-", input=text, check=False).stderr
    by_definition = set(re.findall(r'PodCliqueSet\S* "(\S+)" is invalid: \S+ Forbidden: packDomain is deprecated', told))
    by_lint = {f"case-{number}" for number, path in enumerate(CASES) if FORBIDDEN in {one["rule"] for one in read_case(path).expected}}
    assert len(by_lint) > 1
    assert by_definition == by_lint, told
