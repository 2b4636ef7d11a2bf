"""The design of topology-aware scheduling (GREP-244), read from its own text: each object that it prints and each row of its tables."""

from __future__ import annotations

import copy
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from grove_cli import rulebook
from grove_compiler.compile import VOCABULARY, CompileResult, Inputs
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.diagnostic import has_errors
from grove_compiler.source.document import Document
from tests.suite.rows import rows

SHARED = Path(os.environ.get("GROVE_CONFORMANCE") or Path(__file__).parents[2] / "../shared/conformance").parent
DESIGN = SHARED / "seeds" / "grep-244-topology-aware-scheduling.md"
if not DESIGN.exists():
    pytest.skip(f"no design at {DESIGN}", allow_module_level=True)

Manifest = dict[str, Any]

TEXT = DESIGN.read_text()
DOMAINS = ["region", "zone", "datacenter", "block", "rack", "host", "numa"]
KEYS = {domain: f"example.com/{domain}" for domain in DOMAINS}
POD = {"containers": [{"name": "main", "image": "busybox"}], "schedulerName": "kai-scheduler"}


def blocks() -> list[str]:
    """The YAML that the design prints, in order."""
    return re.findall(r"^```yaml\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)


def printed(word: str) -> Manifest:
    """The object in the block that holds a word, without the dots and comments that stand for what is left out."""
    [block] = [block for block in blocks() if word in block]
    kept = [line for line in block.splitlines() if line.strip() != "..." and not line.strip().startswith("#")]
    loaded: Manifest = yaml.load("\n".join(kept), yaml.CSafeLoader)
    return loaded


def table(head: str) -> list[list[str]]:
    """The rows of the table whose first column is called so, cells without their marks."""
    rows = re.split(rf"^\| {head} ", TEXT, flags=re.MULTILINE)[1].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip().strip("`") for cell in row.strip("| ").split("|")] for row in rows]


@cache
def program() -> Program:
    return rulebook.read().build(VOCABULARY)


def topology(name: str, domains: list[str]) -> Manifest:
    levels = [{"domain": domain, "key": KEYS[domain]} for domain in domains]
    return {"apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopology", "metadata": {"name": name}, "spec": {"levels": levels}}


def configuration(**parts: Any) -> Manifest:
    body = {"topologyAwareScheduling": {"enabled": True}, "scheduler": {"profiles": [{"name": "kai-scheduler"}]}, **parts}
    return {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration", **body}


def default_levels() -> Manifest:
    return configuration(
        topologyAwareScheduling={"enabled": True, "levels": [{"domain": domain, "key": KEYS[domain]} for domain in DOMAINS]}
    )


def completed(pcs: Manifest) -> Manifest:
    """A set of the design with what it leaves out: pods, roles, a queue."""
    pcs = copy.deepcopy(pcs)
    pcs["metadata"].setdefault("labels", {})["kai.scheduler/queue"] = "q"
    pcs["spec"].setdefault("replicas", 1)
    for clique in pcs["spec"]["template"]["cliques"]:
        spec = clique.setdefault("spec", {"replicas": 1})
        spec.setdefault("roleName", clique["name"])
        spec["podSpec"] = POD
    return pcs


def pcs(outer: str, inner: str | None = None, **template: Any) -> Manifest:
    clique: Manifest = {"name": "a", **({"topologyConstraint": {"packDomain": inner}} if inner else {})}
    body = {"topologyConstraint": {"packDomain": outer}, "cliques": [clique], **template}
    return completed({"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": {"name": "s"}, "spec": {"template": body}})


def compiled(given: list[Manifest], config: Manifest | None = None, snapshot: list[Manifest] | None = None) -> CompileResult:
    documents = [Document(manifest) for manifest in given]
    return compile_inputs(Inputs(documents, snapshot or [], config=Document(config or default_levels())), program())


def made(result: CompileResult, kind: str) -> dict[str, Manifest]:
    assert not has_errors(result.diagnostics), [(one.path, one.message) for one in result.diagnostics]
    return {node.object["metadata"]["name"]: node.object for node in result.graph.nodes if node.object["kind"] == kind}


def required(domain: str) -> Manifest:
    return {"packConstraint": {"required": KEYS[domain]}}


# -- the objects that it prints ----------------------------------------------------------------------------------------------


def test_all_yaml_that_the_design_prints_is_tested_here() -> None:
    words = ["createTopologyResources", "hierarchical-inference", "topologyAwareScheduling", "disaggregated-inference", "my-inference"]
    assert [[word for word in words if word in block] for block in blocks()] == [[word] for word in words]


@pytest.mark.parametrize(("value", "count"), [("as printed", 1), (None, 1), (True, 1), (False, 0)])
def test_kai_topologies_are_made_unless_the_configuration_opts_out(value: object, count: int) -> None:
    snippet = printed("createTopologyResources")
    if value != "as printed":
        snippet["scheduler"]["profiles"][0]["config"] = {} if value is None else {"createTopologyResources": value}
    assert len(made(compiled([pcs("rack")], {**default_levels(), **snippet}), "Topology")) == count


def test_the_levels_of_the_configuration_are_the_default_topology_to_the_letter() -> None:
    config = {**configuration(), **printed("topologyAwareScheduling")}
    levels = config["topologyAwareScheduling"]["levels"]
    result = compiled([pcs("rack")], config)
    [topology] = made(result, "ClusterTopology").values()
    assert topology["metadata"]["name"] == "grove-topology"
    assert topology["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "grove-operator"}
    assert topology["spec"] == {"levels": levels}
    [kai] = made(result, "Topology").values()
    assert kai["spec"]["levels"] == [{"nodeLabel": level["key"]} for level in levels]
    owner = kai["metadata"]["ownerReferences"][0]
    assert (owner["kind"], owner["name"]) == ("ClusterTopology", "grove-topology")


def constraint_of(entry: Manifest) -> Manifest | None:
    asked = entry.get("topologyConstraint")
    return required(asked["packDomain"]) if asked else None


@pytest.mark.parametrize("name", ["hierarchical-inference", "disaggregated-inference"])
def test_the_gangs_of_a_printed_set_have_the_constraints_that_the_design_describes(name: str) -> None:
    """PodGangSpec.TopologyConstraint, TopologyConstraintGroupConfigs and PodGroup.TopologyConstraint, as the text defines them."""
    given = completed(printed(name))
    template = given["spec"]["template"]
    gangs = made(compiled([given]), "PodGang")
    cliques = {clique["name"]: constraint_of(clique) for clique in template["cliques"]}
    groups = template["podCliqueScalingGroups"]
    members = [member for group in groups for member in group["cliqueNames"]]
    expected: dict[str, Any] = {}
    for replica in (f"{name}-{index}" for index in range(given["spec"]["replicas"])):
        entries = {f"{replica}-{clique}": cliques[clique] for clique in cliques if clique not in members}
        parts = {}
        for group in groups:
            least = group["minAvailable"]
            for index in range(group["replicas"]):
                own = {f"{replica}-{group['name']}-{index}-{clique}": cliques[clique] for clique in group["cliqueNames"]}
                if index < least:
                    entries |= own
                    parts[f"{replica}-{group['name']}-{index}"] = (list(own), constraint_of(group))
                else:
                    expected[f"{replica}-{group['name']}-{index - least}"] = (constraint_of(group), own, {})
        expected[replica] = (constraint_of(template), entries, parts)
    assert {gang: described(manifest["spec"]) for gang, manifest in gangs.items()} == expected


def described(spec: Manifest) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """A gang's own constraint, those of its pod groups, and those of its parts."""
    parts = spec.get("topologyConstraintGroupConfigs", [])
    return (
        spec.get("topologyConstraint"),
        {group["name"]: group.get("topologyConstraint") for group in spec["podgroups"]},
        {part["name"]: (part["podGroupNames"], part["topologyConstraint"]) for part in parts},
    )


@pytest.mark.parametrize("named", [True, False])
def test_the_last_set_refers_to_its_topology_or_to_the_default(named: bool) -> None:
    given = completed(printed("my-inference"))
    if not named:
        del given["spec"]["template"]["clusterTopologyName"]
    other = topology("gb200-topology", ["zone", "rack"])
    other["spec"]["levels"][1]["key"] = "example.com/nvlink-domain"
    [gang] = made(compiled([given, other]), "PodGang").values()
    name, key = ("gb200-topology", "example.com/nvlink-domain") if named else ("grove-topology", KEYS["rack"])
    assert gang["metadata"]["annotations"]["grove.io/topology-name"] == name
    assert gang["spec"]["topologyConstraint"] == {"packConstraint": {"required": key}}


# -- its tables --------------------------------------------------------------------------------------------------------------


def test_the_table_of_domains_is_ours() -> None:
    assert [row[0] for row in table("Domain")] == DOMAINS


@rows("row", table("Domain"), ids=lambda row: row[0])
def test_a_domain_of_the_table_is_a_level_and_a_constraint(row: list[str]) -> None:
    domain = row[0]
    result = compiled([pcs(domain, clusterTopologyName="one"), topology("one", [domain])])
    [gang] = made(result, "PodGang").values()
    assert gang["spec"]["topologyConstraint"] == required(domain)


@pytest.mark.parametrize("row", table("Parent"), ids=lambda row: f"{row[0]}-{row[1]}")
def test_a_row_of_the_table_of_hierarchies_is_judged_as_it_says(row: list[str]) -> None:
    outer, inner, valid, _ = row
    found = {finding.code for finding in compiled([pcs(outer, inner)]).diagnostics}
    assert found == (set() if "Yes" in valid else {"validate/topology-hierarchy"})


def live_set(outer: str) -> Manifest:
    given = pcs(outer, clusterTopologyName="lab")
    given["metadata"] |= {"namespace": "default", "uid": "u"}
    return given


SITUATIONS = {
    "ClusterTopologyNotFound": [],
    "ClusterTopologyLevelsUnavailable": [topology("lab", ["zone", "host"])],
    "AllClusterTopologyLevelsAvailable": [topology("lab", ["zone", "rack"])],
}


@pytest.mark.parametrize("row", table("Status"), ids=lambda row: row[1])
def test_a_row_of_the_table_of_conditions_is_what_a_set_that_runs_says(row: list[str]) -> None:
    status, reason, _ = row
    live = live_set("rack")
    [found] = compiled([live], snapshot=[live, *SITUATIONS[reason]]).statuses
    [condition] = [one for one in found.conditions if one.type == "TopologyLevelsUnavailable"]
    assert (condition.status, condition.reason) == (status, reason)


def test_constraints_whose_level_is_gone_are_taken_off_the_gang() -> None:
    live = live_set("rack")
    [gang] = made(compiled([live], snapshot=[live, topology("lab", ["zone", "host"])]), "PodGang").values()
    assert "topologyConstraint" not in gang["spec"]
