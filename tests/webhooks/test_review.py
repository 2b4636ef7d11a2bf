"""What an API server is answered: the findings of `grove lint`, all at once, and nothing that would keep an object from going away."""

from __future__ import annotations

import base64
import copy
import json
from pathlib import Path
from typing import Any

import jsonpatch
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.engine.runtime.program import Program
from grove_compiler.model.inputs.settings import OFFLINE_KUBE_VERSION, Settings
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.source.document import Document
from grove_compiler.step import StepContext
from grove_compiler.unknown import Unknown
from grove_operator.webhooks import review
from grove_operator.webhooks.review import MAX_WARNING_LENGTH, NoReview, Reviewer, read_request
from tests.suite.rows import rows
from tests.validation.case_files import FILES, name_of, read_case
from tests.webhooks.conftest import Manifest, asked

SERVED = ("PodCliqueSet", "ClusterTopology", "ClusterTopologyBinding")
ALONE = [path for path in FILES if [one.value.get("kind") for one in read_case(path).documents] in [[kind] for kind in SERVED]]
"""The cases of one object that a server stores: what else stands in a file with it, is in the cluster by then."""


def response(review: Manifest) -> Manifest:
    answer: Manifest = review["response"]
    return answer


def without_cliques(workload: Manifest) -> Manifest:
    edited = copy.deepcopy(workload)
    edited["spec"]["template"]["cliques"] = []
    return edited


@rows("path", ALONE, ids=name_of)
def test_a_case_of_validation_has_the_findings_that_linting_it_has(path: Path, program: Program) -> None:
    case = read_case(path)
    expected = case.findings(program)
    config = Document({"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration", **case.head.get("config", {})})
    settings = Settings(kube_version=case.head.get("kube", OFFLINE_KUBE_VERSION), mnnvl_shape=case.head.get("shape"))
    snapshot = case.head.get("snapshot", [])
    judge = Reviewer(StepContext(program, settings, config), ObjectList(snapshot))
    value = case.documents[0].value
    # What stands in a snapshot already is an update offline; a server says so itself.
    old = case.old.value if case.old else next((one for one in snapshot if _name(one) == _name(value)), None)
    namespace = (value.get("metadata") or {}).get("namespace") or "default"
    request = read_request(asked("UPDATE" if old else "CREATE", value, old, namespace=namespace))
    found = judge.findings(request)
    assert [(one.code, one.severity, one.path, one.message) for one in found] == [
        (one.code, one.severity, one.path, one.message) for one in expected
    ]


def test_most_cases_of_validation_are_compared() -> None:
    assert len(ALONE) > len(FILES) * 0.8, (len(ALONE), len(FILES))


def test_a_set_that_is_right_is_allowed(judge: Reviewer, workload: Manifest) -> None:
    assert response(judge.validate(asked("CREATE", workload))) == {"uid": "42", "allowed": True}


def test_what_is_denied_is_called_by_its_kind_and_name_as_kubectl_prints_them(judge: Reviewer, workload: Manifest) -> None:
    details = response(judge.validate(asked("UPDATE", without_cliques(workload), workload)))["status"]["details"]
    assert {key: details[key] for key in ("name", "group", "kind")} == {
        "name": workload["metadata"]["name"],
        "group": "grove.io",
        "kind": "PodCliqueSet",
    }


def test_every_error_is_told_at_once_with_its_field(judge: Reviewer, workload: Manifest) -> None:
    worker = workload["spec"]["template"]["cliques"][0]["spec"]
    worker["minAvailable"], worker["podSpec"]["restartPolicy"] = 3, "always"
    causes = response(judge.validate(asked("CREATE", workload)))["status"]["details"]["causes"]
    assert sorted(cause["field"] for cause in causes) == [
        "spec.template.cliques[0].spec.minAvailable",
        "spec.template.cliques[0].spec.podSpec.restartPolicy",
    ]


def test_the_message_has_a_line_for_each_of_several_errors(judge: Reviewer, workload: Manifest) -> None:
    worker = workload["spec"]["template"]["cliques"][0]["spec"]
    worker["minAvailable"], worker["podSpec"]["restartPolicy"] = 3, "always"
    first, *rest = response(judge.validate(asked("CREATE", workload)))["status"]["message"].split("\n")
    assert (first, [line.split(":")[0].strip() for line in sorted(rest)]) == (
        "2 errors:",
        ["spec.template.cliques[0].spec.minAvailable", "spec.template.cliques[0].spec.podSpec.restartPolicy"],
    )


def test_the_nearest_right_word_is_in_the_message(judge: Reviewer, workload: Manifest) -> None:
    workload["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["restartPolicy"] = "always"
    assert 'did you mean "Always"?' in response(judge.validate(asked("CREATE", workload)))["status"]["message"]


def test_an_update_is_judged_by_what_it_changes(judge: Reviewer, workload: Manifest) -> None:
    old = copy.deepcopy(workload)
    old["spec"]["template"]["cliques"][0]["spec"]["minAvailable"] = 1
    assert not response(judge.validate(asked("UPDATE", workload, old)))["allowed"]


def test_fewer_pods_than_a_gang_needs_are_refused_with_what_helps(judge: Reviewer, workload: Manifest) -> None:
    """To set `minAvailable` as it was does not: it must not be greater than `replicas`."""
    edited = copy.deepcopy(workload)
    edited["spec"]["template"]["cliques"][0]["spec"] |= {"replicas": 1, "minAvailable": 1}
    message = judge.validate(asked("UPDATE", edited, workload))["response"]["status"]["message"]
    assert ("create a new PodCliqueSet for fewer" in message, "set minAvailable: 2" in message) == (True, False)


@pytest.mark.parametrize(("replicas", "minimum"), [(1, 1), (2, 2), (3, 2)])
def test_an_update_that_names_no_minimum_keeps_what_it_had(judge: Reviewer, workload: Manifest, replicas: int, minimum: int) -> None:
    """`kubectl apply` sends the cliques as the file has them: more pods would be another minimum, which cannot change."""
    workload["spec"]["template"]["cliques"][0]["spec"] |= {"replicas": replicas}
    old = copy.deepcopy(workload)
    old["spec"]["template"]["cliques"][0]["spec"] |= {"replicas": 2, "minAvailable": 2}
    workload["spec"]["template"]["cliques"][0]["spec"].pop("minAvailable", None)
    patch = json.loads(base64.b64decode(response(judge.default(asked("UPDATE", workload, old)))["patch"]))
    stored = jsonpatch.apply_patch(workload, patch)
    assert stored["spec"]["template"]["cliques"][0]["spec"]["minAvailable"] == minimum
    assert response(judge.validate(asked("UPDATE", stored, old)))["allowed"] == (replicas >= 2)


@pytest.mark.parametrize("operation", ["DELETE", "CONNECT"])
def test_what_goes_away_is_not_judged(operation: str, judge: Reviewer, workload: Manifest) -> None:
    assert response(judge.validate(asked(operation, None, without_cliques(workload))))["allowed"]


def test_767_a_set_that_was_let_pass_once_can_still_be_edited_and_scaled(judge: Reviewer, workload: Manifest) -> None:
    """A release that validates more would lock it: it could neither be scaled nor repaired."""
    workload["spec"]["template"]["cliques"][0]["name"] = "7b.model"
    assert not response(judge.validate(asked("CREATE", workload)))["allowed"]
    scaled = copy.deepcopy(workload)
    scaled["spec"]["replicas"] = 3
    answered = response(judge.validate(asked("UPDATE", scaled, workload)))
    assert answered["allowed"]
    assert "7b.model" in " ".join(answered["warnings"])


def test_767_what_cannot_change_can_change_where_it_was_wrong(judge: Reviewer, workload: Manifest) -> None:
    template = workload["spec"]["template"]
    template["podCliqueScalingGroups"] = [{"name": "g", "cliqueNames": []}]
    repaired, other = copy.deepcopy(workload), copy.deepcopy(workload)
    repaired["spec"]["template"]["podCliqueScalingGroups"] = []
    other["spec"]["template"] |= {"podCliqueScalingGroups": [], "cliqueStartupType": "CliqueStartupTypeInOrder"}
    answered = response(judge.validate(asked("UPDATE", repaired, workload)))
    assert answered["allowed"]
    assert "removed: g" in " ".join(answered["warnings"])
    assert "cliqueStartupType" in response(judge.validate(asked("UPDATE", other, workload)))["status"]["message"]


def test_what_an_edit_makes_wrong_is_refused_beside_what_was_wrong_before(judge: Reviewer, workload: Manifest) -> None:
    workload["spec"]["template"]["cliques"][0]["name"] = "7b.model"
    worse = copy.deepcopy(workload)
    worse["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["restartPolicy"] = "always"
    answered = response(judge.validate(asked("UPDATE", worse, workload)))
    assert not answered["allowed"]
    assert "restartPolicy" in answered["status"]["message"]
    assert "7b.model" not in answered["status"]["message"]


def test_a_finalizer_can_be_taken_off_a_set_that_was_never_right(judge: Reviewer, workload: Manifest) -> None:
    old = without_cliques(workload)
    old["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["grove.io/x"]}
    new = copy.deepcopy(old)
    del new["metadata"]["finalizers"]
    assert response(judge.validate(asked("UPDATE", new, old)))["allowed"]


def test_an_edit_of_nothing_that_rules_look_at_is_allowed_whatever_the_set_is(judge: Reviewer, workload: Manifest) -> None:
    old = without_cliques(workload)
    new = copy.deepcopy(old)
    new["metadata"]["finalizers"] = ["somebody.example/keeps"]
    assert response(judge.validate(asked("UPDATE", new, old)))["allowed"]


def test_a_set_is_judged_as_new_although_a_cache_still_holds_one_of_its_name(judge: Reviewer, workload: Manifest) -> None:
    gone = copy.deepcopy(workload)
    gone["spec"]["template"]["cliques"][0]["spec"]["minAvailable"] = 1
    behind = Reviewer(judge.context, ObjectList([gone]))
    assert response(behind.validate(asked("CREATE", workload)))["allowed"]


def test_warnings_let_a_set_pass(judge: Reviewer, workload: Manifest) -> None:
    autoscaling = {"minReplicas": 2, "maxReplicas": 4, "metrics": [_cpu()]}
    workload["spec"]["template"]["cliques"][0]["spec"]["autoScalingConfig"] = autoscaling
    answer = response(judge.validate(asked("CREATE", workload)))
    assert (answer["allowed"], len(answer["warnings"])) == (True, 1)


def test_a_configuration_that_is_odd_is_no_warning_for_whoever_edits_a_set(program: Program, workload: Manifest) -> None:
    told = {"server": {"healthProbes": {"enable": False}}, "topologyAwareScheduling": {"enabled": True}}
    config = Document({"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration", **told})
    context = StepContext(program, Settings(), config)
    assert [one.path for one in context.findings] == ["server.healthProbes.enable", "topologyAwareScheduling.enabled"]
    answer = response(Reviewer(context, ObjectList([])).validate(asked("CREATE", workload)))
    assert answer == {"uid": "42", "allowed": True}


def test_a_warning_is_no_longer_than_an_api_server_passes_on(judge: Reviewer, workload: Manifest) -> None:
    autoscaling = {"minReplicas": 2, "maxReplicas": 4, "metrics": [_cpu()]}
    workload["spec"]["template"]["cliques"][0]["spec"]["autoScalingConfig"] = autoscaling
    assert all(len(text) <= MAX_WARNING_LENGTH for text in response(judge.validate(asked("CREATE", workload)))["warnings"])


def test_defaults_are_those_that_a_compilation_sets(judge: Reviewer, workload: Manifest) -> None:
    answer = response(judge.default(asked("CREATE", workload)))
    patch = json.loads(base64.b64decode(answer["patch"]))
    defaulted = judge.context.decode(workload)
    assert defaulted is not None
    assert jsonpatch.apply_patch(workload, patch) == defaulted.manifest


def test_what_is_only_warned_of_gets_its_defaults(judge: Reviewer, workload: Manifest) -> None:
    twice = [{"name": "MODEL", "value": "a"}, {"name": "MODEL", "value": "b"}]
    workload["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]["env"] = twice
    defaulted = judge.context.decode(workload)
    assert defaulted is not None
    assert [one.severity for one in defaulted.findings] == ["warning"]
    patch = json.loads(base64.b64decode(response(judge.default(asked("CREATE", workload)))["patch"]))
    assert jsonpatch.apply_patch(workload, patch) == defaulted.manifest


def test_who_writes_a_value_that_a_default_replaces_is_warned_by_the_webhook_that_sees_it(judge: Reviewer, workload: Manifest) -> None:
    workload["spec"]["template"]["cliques"][0]["spec"] |= {"replicas": 0, "minAvailable": 1}
    [warning] = response(judge.default(asked("CREATE", workload)))["warnings"]
    assert warning.startswith("spec.template.cliques[0].spec.replicas: 0 becomes 1")


def test_defaulting_twice_adds_nothing(judge: Reviewer, workload: Manifest) -> None:
    defaulted = judge.context.decode(workload)
    assert defaulted is not None
    assert response(judge.default(asked("CREATE", defaulted.manifest))) == {"uid": "42", "allowed": True}


def test_what_is_wrong_gets_no_defaults_and_is_left_to_its_validation(judge: Reviewer, workload: Manifest) -> None:
    workload["spec"]["replicas"] = "two"
    assert response(judge.default(asked("CREATE", workload))) == {"uid": "42", "allowed": True}


@rows(
    ("body", "says"),
    [
        (None, "not an AdmissionReview"),
        ([], "not an AdmissionReview"),
        ({"kind": "Pod"}, "not an AdmissionReview"),
        ({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1beta1"}, "v1beta1"),
        ({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1"}, "no request"),
        (asked("CREATE", {"apiVersion": "v1", "kind": "Pod"}, uid=7), "uid"),
        (asked("CREATE", {"apiVersion": "v1", "kind": "Pod"}, uid=""), "uid"),
        (asked("CREATE", None), "CREATE"),
        (asked("UPDATE", {"apiVersion": "v1", "kind": "Pod"}), "UPDATE"),
        (asked("CREATE", {"apiVersion": 1, "kind": "Pod"}), "object"),
        (asked("CREATE", {"spec": {}}), "object"),
    ],
)
def test_what_is_no_review_is_refused_with_what_is_wrong(body: Any, says: str) -> None:
    with pytest.raises(NoReview, match=says):
        read_request(body)


class WithoutClasses(ObjectList):
    """A cluster whose PriorityClasses cannot be listed."""

    def by_label(self, group: str, kind: str, key: str = "", value: str = "", namespace: str = "") -> list[Manifest]:
        if kind == "PriorityClass":
            raise Unknown("PriorityClasses are not listed yet")
        return super().by_label(group, kind, key, value, namespace)


def test_what_only_a_warning_asks_and_nobody_can_answer_keeps_nobody_from_an_edit(workload: Manifest, program: Program) -> None:
    workload["spec"]["template"]["priorityClassName"] = "high"
    known = ObjectList([{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "low"}}])
    judges = [Reviewer(StepContext(program, Settings()), view=view) for view in (known, WithoutClasses())]
    answers = [response(judge.validate(asked("CREATE", workload))) for judge in judges]
    assert [(one["allowed"], len(one.get("warnings") or [])) for one in answers] == [(True, 1), (True, 0)]


def _name(manifest: Manifest) -> tuple[str, str]:
    return manifest["kind"], (manifest.get("metadata") or {}).get("name") or ""


def _cpu() -> Manifest:
    return {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab~/", max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(before=st.dictionaries(st.text("ab~/", max_size=2), JSON), after=st.dictionaries(st.text("ab~/", max_size=2), JSON))
def test_a_patch_makes_of_one_object_the_other_as_others_read_it(before: Manifest, after: Manifest) -> None:
    operations = list(review._operations(before, after, ""))
    assert json.dumps(jsonpatch.apply_patch(before, operations), sort_keys=True) == json.dumps(after, sort_keys=True)
