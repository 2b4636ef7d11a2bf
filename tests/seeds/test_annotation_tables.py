"""Every row of every table of the annotation design, as a test. The rows are listed here, so that they are tested where it is absent."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.suite.rows import rows

from .compiling import Objects, findings_of, names_of, objects_of, of_kind, owners_of
from .pages import FOLDER, Manifest, read_page
from .sets import clique, group, mnnvl, pcs

Row = tuple[str, str]
"""The heading that a table stands under, and the first cell of the row."""

PAGE = "mnnvl-annotations-webhooks.md"
ROWS: dict[Row, Callable[[], None]] = {}


def row(heading: str, cell: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    def remember(check: Callable[[], None]) -> Callable[[], None]:
        ROWS[heading, cell] = check
        return check

    return remember


def whole(annotations: dict[str, str] | None = None) -> Manifest:
    return pcs([clique("worker"), clique("ps")], annotations=annotations or mnnvl("replica"))


def grouped() -> Manifest:
    return pcs([clique("worker"), clique("leader")], [group("pool", ["worker", "leader"], annotations=mnnvl("scalingGroupReplica"))])


def single(**annotations: dict[str, str]) -> Manifest:
    return pcs([clique(name, annotations=found) for name, found in annotations.items()])


def classes(objects: Objects) -> set[str]:
    return {manifest["spec"]["devices"]["requests"][0]["deviceClassName"] for manifest in of_kind(objects, "ResourceClaim")}


def claim_of(objects: Objects, name: str) -> str:
    """The claim that a PodClique's pods share."""
    [claim] = objects["PodClique", name]["spec"]["podSpec"]["resourceClaims"]
    return str(claim["resourceClaimName"])


@row("Key Resources", "**ComputeDomain**")
def compute_domain() -> None:
    [domain] = of_kind(objects_of(single(a=mnnvl("clique"))), "ComputeDomain")[:1]
    assert (domain["apiVersion"], domain["spec"]) == ("resource.nvidia.com/v1alpha1", {"numNodes": 0})


@row("Key Resources", "**ResourceClaim**")
def resource_claim() -> None:
    objects = objects_of(whole())
    assert {claim_of(objects, name) for name in names_of(objects, "PodClique")} == set(names_of(objects, "ResourceClaim"))


@row("Key Resources", "**PodClique**")
def pod_clique() -> None:
    objects = objects_of(whole())
    assert [pod["spec"]["resourceClaims"] for pod in of_kind(objects, "Pod") if pod["metadata"]["name"].startswith("demo-1-ps-")] == [
        [{"name": "mnnvl", "resourceClaimName": "demo-1-mnnvl-claim"}]
    ]


@row("Key Resources", "**PodGang**")
def pod_gang() -> None:
    objects = objects_of(whole())
    owners = {name: owners_of(objects[kind, name]) for kind, name in objects if kind in ("ComputeDomain", "ResourceClaim")}
    assert owners == {f"demo-{r}-{suffix}": [("PodGang", f"demo-{r}")] for r in (0, 1) for suffix in ("cd", "mnnvl-claim")}


@row("Annotation Schema", "`grove.io/mnnvl-enabled`")
def enabled() -> None:
    objects = objects_of(pcs([clique("a"), clique("b", annotations=mnnvl(enabled="false"))], annotations=mnnvl()))
    assert "resourceClaims" in objects["PodClique", "demo-0-a"]["spec"]["podSpec"]
    assert "resourceClaims" not in objects["PodClique", "demo-0-b"]["spec"]["podSpec"]


@row("Annotation Schema", "`grove.io/mnnvl-scope`")
def scope() -> None:
    counts = {word: len(names_of(objects_of(made), "ComputeDomain")) for word, made in (("replica", whole()), ("group", grouped()))}
    assert counts == {"replica": 2, "group": 6}


@row("Annotation Schema", "`grove.io/mnnvl-device-class`")
def device_class() -> None:
    assert classes(objects_of(whole())) == {"compute-domain.nvidia.com"}
    assert classes(objects_of(whole(mnnvl("replica", "fabric.example.com")))) == {"fabric.example.com"}


@row("Scope Options", "`replica`")
def replica_granularity() -> None:
    assert names_of(objects_of(whole()), "ComputeDomain") == ["demo-0-cd", "demo-1-cd"]


@row("Scope Options", "`clique`")
def clique_granularity() -> None:
    made = names_of(objects_of(single(a=mnnvl("clique"), b=mnnvl("clique"))), "ComputeDomain")
    assert made == ["demo-0-a-cd", "demo-0-b-cd", "demo-1-a-cd", "demo-1-b-cd"]


@row("Scope Options", "`scalingGroupReplica`")
def group_granularity() -> None:
    made = names_of(objects_of(grouped()), "ComputeDomain")
    assert made == [f"demo-{r}-pool-{g}-cd" for r in (0, 1) for g in (0, 1, 2)]


def misplaced(made: Manifest, path: str) -> None:
    found = {(finding.code, finding.path) for finding in findings_of(made) if finding.severity == "error"}
    assert found == {("validate/mnnvl-scope-place", f"{path}[grove.io/mnnvl-scope]")}


@row("Annotation Placement", "`replica`")
def replica_place() -> None:
    assert findings_of(whole()) == []
    misplaced(single(a=mnnvl("replica")), "spec.template.cliques[0].annotations")
    in_group = pcs([clique("a")], [group("g", ["a"], annotations=mnnvl("replica"))])
    misplaced(in_group, "spec.template.podCliqueScalingGroups[0].annotations")


@row("Annotation Placement", "`clique`")
def clique_place() -> None:
    assert findings_of(single(a=mnnvl("clique"))) == []
    misplaced(whole(mnnvl("clique")), "metadata.annotations")
    in_group = pcs([clique("a")], [group("g", ["a"], annotations=mnnvl("clique"))])
    misplaced(in_group, "spec.template.podCliqueScalingGroups[0].annotations")


@row("Annotation Placement", "`scalingGroupReplica`")
def group_place() -> None:
    assert findings_of(grouped()) == []
    misplaced(whole(mnnvl("scalingGroupReplica")), "metadata.annotations")
    misplaced(single(a=mnnvl("scalingGroupReplica")), "spec.template.cliques[0].annotations")


def names_by_convention(made: Manifest, owner: str) -> None:
    objects = objects_of(made)
    assert names_of(objects, "ComputeDomain")[0] == f"{owner}-cd"
    assert names_of(objects, "ResourceClaim")[0] == f"{owner}-mnnvl-claim"


NAMES = {
    "`replica`": lambda: names_by_convention(whole(), "demo-0"),
    "`clique`": lambda: names_by_convention(single(a=mnnvl("clique")), "demo-0-a"),
    "`scalingGroupReplica`": lambda: names_by_convention(grouped(), "demo-0-pool-0"),
}
for cell, check in NAMES.items():
    row("1. PodClique Mutating Webhook", cell)(check)
    row("Naming Convention Summary", cell)(check)


@row("Summary", "**Configuration**")
def annotations_only() -> None:
    assert findings_of(whole()) == []
    assert names_of(objects_of(pcs([clique("a")])), "ComputeDomain") == []


@row("Summary", "**Webhooks**")
def result_of_the_webhooks() -> None:
    """What the two webhooks arrive at: claims in pods, and domains that belong to gangs."""
    objects = objects_of(whole())
    assert claim_of(objects, "demo-0-worker") == "demo-0-mnnvl-claim"
    gang = objects["PodGang", "demo-0"]
    assert gang["metadata"]["annotations"] == {"grove.io/mnnvl-resources-adopted": "true"}


@row("Summary", "**Cleanup**")
def cleanup() -> None:
    two, one = objects_of(whole()), objects_of({**whole(), "spec": {**whole()["spec"], "replicas": 1}})
    gone = {key: two[key] for key in two if key not in one}
    domains = [manifest for (kind, _), manifest in gone.items() if kind in ("ComputeDomain", "ResourceClaim")]
    assert {("PodGang", "demo-1")} == {owner for manifest in domains for owner in owners_of(manifest)}
    assert ("PodGang", "demo-1") in gone


@row("Summary", "**Grove changes**")
def propagation() -> None:
    objects = objects_of(pcs([clique("a"), clique("b")], [group("g", ["b"], annotations=mnnvl("scalingGroupReplica", "x.example.com"))]))
    assert "annotations" not in objects["PodClique", "demo-0-a"]["metadata"]
    assert objects["PodClique", "demo-1-g-2-b"]["metadata"]["annotations"] == mnnvl("scalingGroupReplica", "x.example.com")


@row("Summary", "**Scopes supported**")
def scopes() -> None:
    wrong = whole(mnnvl("rack"))
    assert [(finding.code, finding.path) for finding in findings_of(wrong)] == [
        ("validate/mnnvl-scope", "metadata.annotations[grove.io/mnnvl-scope]")
    ]


@rows("found", ROWS, ids=lambda found: f"{found[0]}-{found[1]}".replace("`", "").replace("*", ""))
def test_a_row_of_a_table_of_the_design_holds(found: Row) -> None:
    ROWS[found]()


@pytest.mark.skipif(not (FOLDER / PAGE).exists(), reason="the design is not here: GROVE_SEEDS names its folder")
def test_every_row_of_the_design_is_tested() -> None:
    there = {(section.title, cells[0]) for section in read_page(PAGE) for cells in section.rows}
    assert there == ROWS.keys()
