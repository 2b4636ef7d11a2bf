"""Finds references to the variables of a scaling group in cliques that are in none, where Kubernetes leaves `$(NAME)` as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grove_compiler.graph.node import Manifest
from grove_compiler.model.spec.mention import Mention
from grove_compiler.model.spec.templates import CliqueTemplate

_REFERENCE = re.compile(r"(?<!\$)\$\((GROVE_PCSG_[A-Z_]+)\)")


def unset_group_variables(clique: CliqueTemplate) -> list[Mention]:
    """Returns the references to variables of a scaling group in a clique without one, unless its containers set them themselves."""
    if clique.group is not None:
        return []
    named = (("containers", clique.containers), ("initContainers", clique.init_containers))
    pods = f"{clique.path}.spec.podSpec"
    found = (one for field, items in named for index, item in enumerate(items) for one in _unset(item, f"{pods}.{field}[{index}]"))
    return list(found)


def _unset(container: Manifest, path: str) -> Iterator[Mention]:
    variables = container.get("env") or []
    own = {variable.get("name") for variable in variables}
    texts = [(f"{path}.env[{index}].value", variable.get("value")) for index, variable in enumerate(variables)]
    for field in ("command", "args"):
        texts += [(f"{path}.{field}[{index}]", text) for index, text in enumerate(container.get(field) or [])]
    for place, text in texts:
        yield from (Mention(name, place) for name in dict.fromkeys(_REFERENCE.findall(text or "")) if name not in own)
