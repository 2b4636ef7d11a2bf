"""Fields that are optional are applied where the server declares them, and nowhere else."""

from __future__ import annotations

from applier.decision import Schemas, read_openapi
from applier.desired import Desired, Graph, Policy
from applier.plan import as_declared
from applier.ref import Kind, Manifest
from tests.suite.rows import rows

from ..things import desired

OPTIONAL = Policy(optional=("/spec/grace",))
ENGINE = Kind("example.com", "v1", "Engine")


def serving(*fields: str) -> Schemas:
    """The schemas of a server whose engines have these fields in their spec."""
    spec = {"type": "object", "properties": {name: {"type": "string"} for name in fields}}
    engine = {"type": "object", "properties": {"spec": spec}, "x-kubernetes-group-version-kind": [ENGINE._asdict()]}
    return read_openapi({"components": {"schemas": {"com.example.v1.Engine": engine}}})


def engine(policy: Policy = OPTIONAL, **spec: str) -> Desired:
    return desired("a", "Engine", policy=policy, spec=spec)


@rows(
    ("fields", "wanted", "applied"),
    [
        (["size"], {"size": "1", "grace": "-1s"}, {"size": "1"}),
        (["size", "grace"], {"size": "1", "grace": "-1s"}, {"size": "1", "grace": "-1s"}),
        (["size"], {"size": "1"}, {"size": "1"}),
    ],
)
def test_an_optional_field_is_applied_where_it_is_declared(fields: list[str], wanted: Manifest, applied: Manifest) -> None:
    graph = as_declared(Graph([engine(**wanted)], requeue_after=3.0), serving(*fields))
    assert [one.manifest["spec"] for one in graph.objects.values()] == [applied]
    assert graph.requeue_after == 3.0


@rows(
    ("policy", "schemas"),
    [
        (Policy(), serving("size")),
        (OPTIONAL, Schemas()),
        (Policy(optional=("/status/none", "/spec/grace/of", "/spec/other")), serving("grace")),
        (Policy(optional=("spec", "")), serving("size")),
    ],
)
def test_a_graph_stays_the_same_where_nothing_optional_is_undeclared(policy: Policy, schemas: Schemas) -> None:
    graph = Graph([engine(policy, grace="-1s")])
    assert as_declared(graph, schemas) is graph


def test_an_optional_field_may_have_a_slash_in_its_name() -> None:
    graph = as_declared(Graph([engine(Policy(optional=("/spec/own~1grace",)), **{"own/grace": "-1s", "size": "1"})]), serving("size"))
    assert [one.manifest["spec"] for one in graph.objects.values()] == [{"size": "1"}]
