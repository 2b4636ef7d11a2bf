"""Go's dump of a pod template, piece by piece as shipped semantics §7.3.1 spells it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.kube.go_dump import TemplateError, dump
from tests.suite.rows import rows

QUANTITY = "i:(resource.int64Amount){{value:(int64){} scale:(resource.Scale){}}} d:(resource.infDecAmount){{Dec:(*inf.Dec){}}}"
NIL = "<nil>"

QUANTITIES = [  # value, int64 value, scale, big decimal, kept text, format
    ("0", 0, 0, NIL, "0", "DecimalSI"),
    ("500m", 500, -3, NIL, "500m", "DecimalSI"),
    (8, 8, 0, NIL, "8", "DecimalSI"),
    ("1000m", 1, 0, NIL, "1", "DecimalSI"),
    ("1000000", 1, 6, NIL, "1M", "DecimalSI"),
    ("1e3", 1, 3, NIL, "1e3", "DecimalExponent"),
    ("1Gi", 2**30, 0, NIL, "1Gi", "BinarySI"),
    ("1.5Gi", 1536 * 2**20, 0, NIL, "", "BinarySI"),
    ("8Ki", 8192, 0, NIL, "", "BinarySI"),
    ("-2", -2, 0, NIL, "-2", "DecimalSI"),
]
BIG = [  # value, words of the big number, scale, negative, format
    ("1Pi", [1125899906842624 * 10**9 % 2**64, 1125899906842624 * 10**9 // 2**64], 9, "false", "BinarySI"),
    ("-1Pi", [1125899906842624 * 10**9 % 2**64, 1125899906842624 * 10**9 // 2**64], 9, "true", "BinarySI"),
    ("1234567890123456789", [1234567890123456789 * 10**9 % 2**64, 1234567890123456789 * 10**9 // 2**64], 9, "false", "DecimalSI"),
]

PIECES: list[tuple[dict[str, Any], str]] = [
    ({"metadata": {"labels": {"b": "2", "a": "1"}}}, "Labels:(map[string]string)map[a:1 b:2] "),
    ({"metadata": {"labels": {}}}, "Labels:(map[string]string)map[] "),
    ({"metadata": {"labels": {"\U0001f600": "1", "\uffff": "2"}}}, "map[\uffff:2 \U0001f600:1]"),
    ({"spec": {"containers": []}}, "Containers:([]v1.Container)[] "),
    ({"spec": {"terminationGracePeriodSeconds": 30}}, "TerminationGracePeriodSeconds:(*int64)30 "),
    ({"spec": {"hostNetwork": True}}, "HostNetwork:(bool)true "),
    ({"spec": {"restartPolicy": "Always"}}, "RestartPolicy:(v1.RestartPolicy)Always "),
    ({"spec": {"imagePullSecrets": [{"name": "a"}, {}]}}, ":([]v1.LocalObjectReference)[{Name:(string)a} {Name:(string)}] "),
    ({"spec": {"affinity": {}}}, "Affinity:(*v1.Affinity){NodeAffinity:(*v1.NodeAffinity)<nil> PodAffinity:(*v1.PodAffinity)<nil> "),
    ({"spec": {"supplementalGroups": [1]}}, "SecurityContext:(*v1.PodSecurityContext)<nil> "),
    ({"spec": {"securityContext": {"supplementalGroups": [1, 2]}}}, "SupplementalGroups:([]int64)[1 2] "),
    (
        {"spec": {"containers": [{"livenessProbe": {"tcpSocket": {"port": "http"}}}]}},
        "TCPSocket:(*v1.TCPSocketAction){Port:(intstr.IntOrString){Type:(intstr.Type)1 IntVal:(int32)0 StrVal:(string)http} ",
    ),
    (
        {"spec": {"containers": [{"livenessProbe": {"tcpSocket": {"port": 80}}}]}},
        "TCPSocket:(*v1.TCPSocketAction){Port:(intstr.IntOrString){Type:(intstr.Type)0 IntVal:(int32)80 StrVal:(string)} ",
    ),
    (
        {"spec": {"containers": [{"envFrom": [{"configMapRef": {"name": "c"}}]}]}},
        "(*v1.ConfigMapEnvSource){LocalObjectReference:(v1.LocalObjectReference){Name:(string)c} Optional:(*bool)<nil>}",
    ),
    (
        {"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}},
        "[{Name:(string)v VolumeSource:(v1.VolumeSource){HostPath:(*v1.HostPathVolumeSource)<nil> EmptyDir:(*v1.EmptyDirVolumeSource){",
    ),
]  # fmt: skip

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"spec": []}, "a v1.PodSpec must be an object, not a list"),
    ({"spec": {"nodeName": 5}}, "a string is wanted, not the number 5"),
    ({"spec": {"hostNetwork": "true"}}, 'true or false is wanted, not the string "true"'),
    ({"spec": {"priority": 2**31}}, "an integer does not fit into int32"),
    ({"spec": {"priority": 1.5}}, "an integer is wanted, not the number 1.5"),
    ({"spec": {"priority": True}}, "an integer is wanted, not the boolean true"),
    ({"spec": {"priority": float("inf")}}, "an integer is wanted, not the number Infinity"),
    ({"spec": {"containers": "a"}}, 'a list of v1.Container must be a list, not the string "a"'),
    ({"spec": {"containers": ["a"]}}, 'a v1.Container must be an object, not the string "a"'),
    ({"metadata": {"labels": []}}, "a map of string must be an object, not a list"),
    ({"metadata": {"labels": {1: "a"}}}, "a string is wanted, not the number 1"),
    ({"spec": {"overhead": {"cpu": "5gb"}}}, '"5gb" has the unknown suffix "gb"; write "5G" or "5Gi"'),
    ({"spec": {"overhead": {"cpu": []}}}, "a quantity is wanted, not a list"),
]


def of_overhead(value: Any) -> str:
    """The dump of one quantity."""
    text = dump({"spec": {"overhead": {"cpu": value}}})
    return text.partition("Overhead:(v1.ResourceList)map[cpu:")[2].partition("] TopologySpreadConstraints:")[0]


@rows(("template", "piece"), PIECES)
def test_a_set_field_is_written_in_go_s_way(template: dict[str, Any], piece: str) -> None:
    assert piece in dump(template)


def test_a_template_in_which_nothing_is_set_begins_with_its_type_and_empty_metadata() -> None:
    assert dump({}).startswith("(*v1.PodTemplateSpec){ObjectMeta:(v1.ObjectMeta){Name:(string) GenerateName:(string) ")


def test_a_time_is_always_unset() -> None:
    zero = "CreationTimestamp:(v1.Time){Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}} "
    assert zero in dump({"metadata": {"creationTimestamp": "2026-01-31T09:30:00Z"}})


def test_managed_fields_can_stand_in_the_metadata_of_a_volume_claim() -> None:
    metadata = {"managedFields": [{"manager": "m", "time": "2026-01-31T09:30:00Z", "fieldsV1": {"f:spec": {}}}]}
    template = {"spec": {"volumes": [{"ephemeral": {"volumeClaimTemplate": {"metadata": metadata}}}]}}
    assert "FieldsV1:(*v1.FieldsV1){Raw:([]uint8)<nil>}" in dump(template)


@rows(("value", "number", "scale", "decimal", "text", "format"), QUANTITIES)
def test_a_quantity_is_written_as_it_is_stored(value: Any, number: int, scale: int, decimal: str, text: str, format: str) -> None:
    amount = QUANTITY.format(number, scale, decimal)
    assert of_overhead(value) == f"{{{amount} s:(string){text} Format:(resource.Format){format}}}"


@pytest.mark.parametrize(("value", "words", "scale", "negative", "format"), BIG)
def test_a_great_quantity_is_written_as_a_big_decimal(value: str, words: list[int], scale: int, negative: str, format: str) -> None:
    number = f"(big.Int){{neg:(bool){negative} abs:(big.nat)[{' '.join(map(str, words))}]}}"
    amount = QUANTITY.format(0, 0, f"{{unscaled:{number} scale:(inf.Scale){scale}}}")
    assert of_overhead(value) == f"{{{amount} s:(string) Format:(resource.Format){format}}}"


def test_a_quantity_that_is_absent_but_no_pointer_is_zero_as_it_is_stored() -> None:
    reference = {"resourceFieldRef": {"resource": "limits.cpu"}}
    containers = [{"name": "c", "env": [{"name": "CPU", "valueFrom": reference}]}]
    divisor = f"Divisor:(resource.Quantity){{{QUANTITY.format(0, 0, NIL)} s:(string)0 Format:(resource.Format)DecimalSI}}"
    assert divisor in dump({"spec": {"containers": containers}})


@rows(("template", "message"), WRONG)
def test_what_go_could_not_decode_is_refused_in_words(template: dict[str, Any], message: str) -> None:
    with pytest.raises(TemplateError) as raised:
        dump(template)
    assert str(raised.value) == message


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.sampled_from(["name", "containers", "resources", "env"]), below),
    max_leaves=15,
)


@given(json_values)
def test_any_pod_spec_is_either_dumped_or_refused(value: Any) -> None:
    try:
        assert dump({"spec": value}).endswith("}")
    except TemplateError as error:
        assert str(error)
