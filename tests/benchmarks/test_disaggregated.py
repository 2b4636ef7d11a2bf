"""The set of the benchmark is sound, and uses what it says."""

from __future__ import annotations

from collections import Counter

from grove_cli.rulebook import read as read_rulebook
from grove_compiler.compile import VOCABULARY, Inputs
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.source.reader import read_text
from tests.benchmarks.disaggregated import manifest


def test_the_set_uses_everything_and_is_warned_of_its_packing_alone() -> None:
    documents, problems = read_text(manifest(2), "chat.yaml")
    result = compile_inputs(Inputs(documents, settings=Settings(pods=True, mnnvl_shape="driver")), read_rulebook().program(VOCABULARY))
    kinds = Counter(node.object["kind"] for node in result.graph.nodes)
    counted = ("PodClique", "PodGang", "PodGroup", "ComputeDomain", "HorizontalPodAutoscaler", "Topology", "Pod")
    # Its zone is meant to hold a whole replica, but each replica of a group is a gang: what its authors should be told.
    assert (problems, [finding.code for finding in result.diagnostics]) == ([], ["validate/mnnvl-set-constraint"])
    assert [kinds[kind] for kind in counted] == [34, 18, 18, 16, 6, 1, 52]
    waiting = [node for node in result.graph.nodes if node.object["kind"] == "Pod" and "initContainers" in node.object["spec"]]
    assert len(waiting) == 2 * 4 * (1 + 3)
