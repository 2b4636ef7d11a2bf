"""What a key wants and what exists because of it: asked by the loop, which writes, and by a rehearsal, which does not."""

from __future__ import annotations

from applier.desired import Gone, Graph, Hold
from applier.errors import Forbidden, NotSynced
from applier.loop import View
from applier.ref import Manifest, Ref, is_being_deleted
from grove_compiler.decoder import SET_KIND
from grove_compiler.step import Key
from grove_operator.controller.desire import Desire
from grove_operator.controller.keys import TOPOLOGY_KINDS, replicas_of
from grove_operator.controller.membership import Membership, topology_members


class Steps:
    """Asks the compiler for each key, and takes down which objects it wants.

    `with_namespaces` says that namespaces are in view: who looks after one alone may not be allowed to see it.
    """

    def __init__(self, desire: Desire, membership: Membership, *, with_namespaces: bool) -> None:
        self._desire, self._membership, self._with_namespaces = desire, membership, with_namespaces

    def desired(self, view: View, key: Key) -> Graph | Gone | Hold:
        """Returns what should be for a key. Raises `NotSynced` where the view cannot answer."""
        if self._is_going(view, key.namespace):
            # Whatever is made in it is refused (the shipped operator tried 1,471 times), and all in it goes, once our finalizers are off.
            return Gone()
        desired = self._desire(view, key)
        if isinstance(desired, Graph):
            self._membership.claim(key, ((ref, one.manifest) for ref, one in desired.objects.items()))
        elif isinstance(desired, Gone):
            self._membership.forget(key)
        return desired

    def members(self, view: View, key: Key) -> list[Manifest]:
        """Returns what exists because of a key: what it no longer wants of it goes.

        A set that is going wants nothing, also while somebody keeps it there, so that none of its keys has to be heard first.
        """
        if key.kind in TOPOLOGY_KINDS:
            return topology_members(view, key)
        set = view.peek(Ref("grove.io", SET_KIND, key.namespace, key.name))
        if set is None or self._is_going(view, key.namespace):
            return self._membership.of(view, key, 0)
        if not is_being_deleted(set):
            return self._membership.of(view, key, replicas_of(set))
        # A set that the shipped operator has seen bears its finalizer, and would never go.
        return [*self._membership.of(view, key, 0), *([set] if key.replica is None else [])]

    def _is_going(self, view: View, namespace: str) -> bool:
        if not self._with_namespaces or not namespace:
            return False
        try:
            live = view.get(Ref("", "Namespace", "", namespace))
        except NotSynced as error:
            if not isinstance(error.cause, Forbidden):
                raise
            return False  # whatever is made in one that goes is refused then, and told
        return live is not None and is_being_deleted(live)
