"""How an answer looks to people, on wide and narrow terminals, with and without colours."""

from __future__ import annotations

from typing import Any

import pytest

from grove_cli.fit.as_text import report_text
from grove_cli.terminal import Terminal
from grove_compiler.fit.fit import fit
from grove_compiler.fit.gang import GangDemand

from .clusters import gang, group, machine, podgroup, racks

FILE = Terminal(colours=False, width=160, wraps=False)
NARROW = Terminal(colours=False, width=60, wraps=True)
COLOURS = Terminal(colours=True, width=100, wraps=True)


def lines(*gangs: GangDemand, nodes: int = 2, terminal: Terminal = FILE, steps: int = 1000) -> list[str]:
    return report_text(fit(racks(1, nodes, gpu=8, cpu=8, memory="1Gi"), gangs, steps), terminal).splitlines()


def replicas(number: int, **asked: Any) -> list[GangDemand]:
    return [gang(podgroup(1, **asked), name=f"demo-{index}", replica=index) for index in range(number)]


def test_many_gangs_of_one_verdict_are_counted() -> None:
    text = lines(*replicas(40, gpu=1))
    assert text[1:6] == [
        "  fits          demo-0   1 pod",
        "  fits          demo-1   1 pod",
        "  fits          demo-2   1 pod",
        "  fits          … 13 more gangs, to demo-15",
        "  does not fit  demo-16  1 pod",
    ]
    assert any(line.startswith("  does not fit  … 20 more gangs, to demo-39") for line in text)


def test_a_gang_like_one_before_it_names_that() -> None:
    text = lines(*replicas(2, gpu=9))
    assert text[-3] == "                - no set of nodes has room for all its pods; as demo-0"


def test_amounts_are_told_in_their_own_units() -> None:
    text = lines(*replicas(1, cpu="8500m", memory="2Gi"))
    assert "                - cpu is insufficient: 8500m requested, 8500m per pod; 16 free, at most 8 on one node" in text
    assert "                - memory is insufficient: 2Gi requested, 2Gi per pod; 2Gi free, at most 1Gi on one node" in text


def test_a_level_tells_its_best_domain() -> None:
    text = lines(gang(podgroup(3, gpu=8), pack="rack"))
    assert "                - on any nodes: 2 of 3 pods fit <- fails first" in text
    assert "                - gang in one rack: 2 of 3 pods fit" in text
    text = lines(gang(group(podgroup(2, gpu=5), pack="host"), pack="rack"))
    assert text[5] == (
        "                - group in one kubernetes.io/hostname: 1 of 2 pods fits; "
        "the best domain, node-0-0, holds 1 of 2 pods of group <- fails first"
    )


def test_nodes_that_are_ruled_out_are_counted() -> None:
    picky = {"nodeSelector": {"disk": "ssd"}}
    text = lines(gang(podgroup(3, gpu=9, spec=picky, name="a"), podgroup(1, spec=picky, name="b")))
    assert "                - excluded for the pods of a, b: 2 nodes without the label disk=ssd" in text


def test_what_would_let_a_gang_fit_is_told_first() -> None:
    text = lines(gang(podgroup(1, gpu=1, spec={"nodeSelector": {"disk": "ssd"}}, name="w")))
    assert text[2] == (
        "                - the pods of w may not run on 2 nodes without the label disk=ssd; without that requirement the gang would fit"
    )


def test_preferences_and_assumptions_are_told() -> None:
    one = gang(podgroup(2, gpu=8), prefer="host")
    one.assumed = ["persistent volumes can be reached from every node"]
    text = lines(one)
    assert text[1:3] == [
        "  fits          gang  2 pods; keeps 0 of 1 preference",
        "                - assumed that persistent volumes can be reached from every node",
    ]


def test_what_is_not_checked_is_told() -> None:
    one = gang(podgroup(1, gpu=8))
    one.unchecked = ["required podAffinity"]
    assert lines(one)[1:] == [
        "  unknown       gang  1 pod",
        "                - there is room for it, but not checked: required podAffinity",
        "",
        "1 gang on 2 nodes: 1 unknown",
    ]


def test_a_gang_for_which_others_move_says_so() -> None:
    nodes = [machine("a", {"fast": "yes"}, gpu=4), machine("b", gpu=5)]
    gangs = [gang(podgroup(1, gpu=4)), gang(podgroup(1, gpu=4, spec={"nodeSelector": {"fast": "yes"}}), name="picky")]
    assert "  fits          picky  1 pod; only if others make room for it" in report_text(fit(nodes, gangs), FILE).splitlines()


def test_base_gangs_that_fit_where_the_replica_does_not_are_told() -> None:
    gangs = [gang(podgroup(1, gpu=8)), gang(podgroup(2, gpu=8), name="scaled", base="gang")]
    assert lines(*gangs)[0] == "PodCliqueSet default/demo: 0 of 1 replica fit, 1 at least in its base gang"


def test_nothing_to_place_is_said() -> None:
    assert lines() == ["0 gangs on 2 nodes: nothing to place"]


@pytest.mark.parametrize("width", [40, 59, 60, 80, 120])
def test_a_terminal_gets_no_line_that_is_too_long_for_it(width: int) -> None:
    text = lines(*replicas(3, gpu=9, cpu=9, memory="9Gi"), terminal=NARROW._replace(width=width))
    assert max(map(len, text)) <= width
    assert " ".join(" ".join(text).split()).count("is insufficient:") == 3


def test_what_is_wrapped_hangs_below_its_beginning() -> None:
    text = lines(*replicas(1, gpu=9), terminal=NARROW._replace(width=50))
    start = text.index("  - nvidia.com/gpu is insufficient: 9 requested, 9")
    assert text[start + 1] == "    per pod; 16 free, at most 8 on one node"


def test_a_file_gets_one_line_a_fact() -> None:
    assert all(line.startswith(("  ", "Pod", "1 gang")) or not line for line in lines(gang(podgroup(9, gpu=9, cpu=9), pack="rack")))


def test_colours_tell_verdicts_apart() -> None:
    text = lines(*replicas(3, gpu=8), terminal=COLOURS)
    assert text[1].startswith("  \x1b[1;32mfits        \x1b[0m")
    assert text[3].startswith("  \x1b[1;31mdoes not fit\x1b[0m")
    assert text[-1].startswith("\x1b[1;31m3 gangs")


def test_without_colours_there_are_no_escapes() -> None:
    assert "\x1b" not in "".join(lines(*replicas(3, gpu=8), terminal=NARROW))


def test_names_cannot_command_the_terminal() -> None:
    text = "".join(lines(gang(podgroup(1, gpu=9), name="evil\x1b[2J")))
    assert "\x1b" not in text and "evil\\x1b[2J" in text
