"""What a step costs when one pod changes: `python -m tests.benchmarks.step`.

Two questions, both in CPU time of one process, median over many steps:

- A set of 5,000 replicas with 10,000 pods runs. The status of one pod changes, and the step of its replica is taken; then what its
  PodClique reports, and that of the set. Goal: each under 5 ms, and nothing is rendered but that replica, or what is the set's own.
- A small set runs beside 0, 10,000 and 40,000 objects that have nothing to do with it. Goal: the same within 10 %.

What exists is asked of an index that is there already, as a watch cache keeps it; only the steps are measured.
"""

from __future__ import annotations

import copy
import statistics
import sys
import time
from typing import Any

from applier.cache.journal import Journals, Selected
from applier.ref import Ref
from grove_cli.rulebook import read as read_rulebook
from grove_compiler.compile import VOCABULARY
from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.node import Node
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ChangedNames, ObjectList
from grove_compiler.source.document import Document
from grove_compiler.source.reader import read_text
from grove_compiler.step import Key, StepContext, StepResult, step
from tests.benchmarks.measure import machine, table
from tests.benchmarks.workload import manifest

NAMESPACE = "bench"
REPLICAS = 5_000
ROUNDS = 200
MAX_MS = 5.0
MAX_DIFFERENCE = 0.10
NOW = 1_800_000_000.0

Manifest = dict[str, Any]


def live_objects_of(replicas: int, context: StepContext, name: str) -> list[Manifest]:
    """A set with everything that it becomes, as a cluster has it once its pods run."""
    (document, _), _ = read_text(manifest(replicas), "set.yaml")
    one: Manifest = document.value
    one["metadata"] |= {"uid": f"uid-{name}", "generation": 1, "name": name}
    objects = [one]
    key = Key("PodCliqueSet", NAMESPACE, name)
    for part in [key, *(key._replace(replica=index) for index in range(replicas))]:
        uids = {f"PodCliqueSet/{NAMESPACE}/{name}": f"uid-{name}"}
        objects += as_stored(taken(step(ObjectList([one]), part, NOW, context)).graph.nodes, uids)
    return objects


def as_stored(nodes: list[Node], uids: dict[str, str]) -> list[Manifest]:
    """What a step makes as a cluster has it once its pods run. `uids` are those of what was there before, by their places."""
    objects = []
    for node in nodes:
        live = copy.deepcopy(node.object)
        metadata = live["metadata"]
        metadata["uid"] = uids[node.id] = f"uid-{node.id}"
        for reference in metadata.get("ownerReferences") or []:
            reference["uid"] = uids[f"{reference['kind']}/{metadata['namespace']}/{reference['name']}"]
        if live["kind"] == "Pod":
            live["spec"] = {**live["spec"], "nodeName": "node", "schedulingGates": []}  # else nothing would be reported of them yet
            live["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        objects.append(live)
    return objects


def taken(outcome: object) -> StepResult:
    assert isinstance(outcome, StepResult), outcome
    return outcome


def milliseconds(view: ObjectList, keys: list[Key], context: StepContext) -> tuple[float, int]:
    """The median of the steps of these keys, and the most objects that one of them rendered."""
    times, most = [], 0
    for key in keys:
        start = time.process_time()
        made = taken(step(view, key, NOW, context))
        times.append((time.process_time() - start) * 1000)
        most = max(most, len(made.graph.nodes))
    return statistics.median(times), most


class Living(ObjectList):
    """Objects of which the same are always there, and that change: it takes down which, as a watch cache does."""

    __slots__ = ("_journals",)

    def __init__(self, objects: list[Manifest]) -> None:
        super().__init__(objects)
        self._journals = Journals()

    def change(self, manifest: Manifest) -> None:
        ref = Ref.of(manifest)
        self._journals.note(ref, self.get(*ref), manifest)
        self._by_name[ref] = manifest

    def changes(self, *asked: Any) -> ChangedNames:
        mark, refs = self._journals.read(Selected(*asked[:-1]), asked[-1])
        return ChangedNames(mark, None if refs is None else [ref.name for ref in refs])


def whole_set(view: Living, cliques: list[Manifest], context: StepContext) -> tuple[float, int]:
    """The median of the steps of the set after one PodClique has reported something else, and how many objects they rendered."""
    times, made, key = [], [], Key("PodCliqueSet", NAMESPACE, "big")
    for number, one in enumerate(cliques):
        view.change({**one, "status": {"readyReplicas": number % 3}})
        took, rendered = milliseconds(view, [key], context)
        times.append(took)
        made.append(rendered)
    return statistics.median(times), max(made)


def one_pod(program: Program, config: Document, big: list[Manifest]) -> list[str]:
    """Measures the first question; gives what misses its goal."""
    view, context = Living(big), StepContext(program, Settings(pods=True), config)
    cliques = [one for one in big if one["kind"] == "PodClique"]
    keys = [Key("PodCliqueSet", NAMESPACE, "big", index * 17 % REPLICAS) for index in range(ROUNDS)]
    first, _ = milliseconds(view, keys[:1], context)
    usual, rendered = milliseconds(view, keys, context)
    scratch, own = milliseconds(view, [keys[0]._replace(replica=None)], context)
    whole, _ = whole_set(view, cliques[:: len(cliques) // ROUNDS], context)
    rows = [
        ["of its replica, first of a generation", f"{first:.2f}", str(rendered)],
        ["of its replica, any other", f"{usual:.2f}", str(rendered)],
        [f"of the set, first of a generation: counts {REPLICAS:,} replicas", f"{scratch:.2f}", str(own)],
        ["of the set, any other", f"{whole:.2f}", str(own)],
    ]
    print(f"One pod of {2 * REPLICAS:,} changes\n\n{table(['step', 'CPU ms', 'objects rendered'], rows)}\n")
    return [f"{one:.2f} ms" for one in (usual, whole) if one >= MAX_MS]


def beside_others(program: Program, config: Document, big: list[Manifest]) -> list[str]:
    """Measures the second question; gives what misses its goal."""
    context = StepContext(program, Settings(pods=True), config)
    small = live_objects_of(2, context, "small")
    views = {count: ObjectList([*small, *copies(big, count)]) for count in (0, 10_000, 40_000)}
    keys = [Key("PodCliqueSet", NAMESPACE, "small", index % 2) for index in range(ROUNDS)]
    rounds = [{count: milliseconds(view, keys, context)[0] for count, view in views.items()} for _ in range(9)]
    medians = {count: statistics.median(one[count] for one in rounds) for count in views}
    rows = [[f"{count:,}", f"{value:.3f}"] for count, value in medians.items()]
    print(f"A small set beside objects that have nothing to do with it\n\n{table(['objects beside it', 'CPU ms'], rows)}\n")
    worst = max(medians.values()) / medians[0] - 1
    return [f"{worst:.0%} more beside others"] if worst > MAX_DIFFERENCE else []


def copies(objects: list[Manifest], count: int) -> list[Manifest]:
    """So many objects, those of the big set first and then again in other namespaces."""
    made: list[Manifest] = []
    while len(made) < count:
        namespace = f"{NAMESPACE}-{len(made)}"
        made += [{**one, "metadata": {**one["metadata"], "namespace": namespace}} for one in objects[: count - len(made)]]
    return made


def main() -> int:
    program = read_rulebook().program(VOCABULARY)
    (_, config), _ = read_text(manifest(1), "set.yaml")
    big = live_objects_of(REPLICAS, StepContext(program, Settings(pods=True), config), "big")
    print(f"{machine()}\n")
    missed = one_pod(program, config, big) + beside_others(program, config, big)
    print(f"missed: {', '.join(missed)}" if missed else "both goals are kept")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
