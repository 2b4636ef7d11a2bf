"""Reads from labels where an object of another controller belongs, in the design's labels or in those of the upstream operator."""

from __future__ import annotations

from grove_compiler.labels import GROUP_LABEL, MEMBER_LABEL, PART_OF, REPLICA_LABEL
from grove_compiler.record import record

SET, REPLICA, GROUP, MEMBER = "grove.io/pcs-name", "grove.io/pcs-replica-index", "grove.io/pcsg-name", "grove.io/pcsg-replica-index"
CLIQUE, GANG = "grove.io/clique-name", "grove.io/podgang"


@record
class Place:
    """Locates an object: the set and the index of its replica, the scaling group's template and the index of the group's replica.

    All are text, and empty where no label tells.
    """

    set_name: str
    replica: str
    group: str
    member: str

    @property
    def is_known(self) -> bool:
        """Whether the set and its replica are known, with which the names of domains begin."""
        return bool(self.set_name and self.replica)

    @property
    def replica_name(self) -> str:
        """`<set>-<replica>`, which is also the name of the replica's base gang."""
        return f"{self.set_name}-{self.replica}"

    @property
    def member_name(self) -> str:
        """`<set>-<replica>-<group>-<index>`; empty outside of scaling groups."""
        return f"{self.replica_name}-{self.group}-{self.member}" if self.group and self.member else ""


def place_of(labels: dict[str, str]) -> Place:
    """Reads the place from labels. The upstream operator writes a scaling group's full name into its label, the design its template's."""
    set_name = labels.get(SET) or labels.get(PART_OF) or ""
    replica = labels.get(REPLICA) or labels.get(REPLICA_LABEL) or ""
    group = labels.get(GROUP) or (labels.get(GROUP_LABEL) or "").removeprefix(f"{set_name}-{replica}-")
    return Place(set_name, replica, group, labels.get(MEMBER) or labels.get(MEMBER_LABEL) or "")
