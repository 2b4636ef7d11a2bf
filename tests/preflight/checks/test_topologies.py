"""The topology files in the images: what NCCL takes, of the machines that the values name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from grove_compiler.preflight import read_values
from tools.generate_topologies import BRIDGE, ETHERNET, FOLDER, GPU, INFINIBAND, MACHINES, xml

DOCKERFILES = [FOLDER.parent / check / "Dockerfile" for check in ("nccl_loopback", "nccl_allreduce")]

# What NCCL's reader takes (nccl, src/graph/xml.cc and topo.h): elements below each, attributes, and words that it knows.
CHILDREN = {"system": {"cpu"}, "cpu": {"pci"}, "pci": {"pci"}}
PCI_CLASSES = {BRIDGE, GPU, INFINIBAND, ETHERNET}
SPEEDS = {f"{speed} GT/s PCIe" for speed in ("2.5", "5.0", "8.0", "16.0", "32.0", "64.0")}
ATTRIBUTES = {
    "system": {"version": "1"},
    "cpu": {
        "numaid": r"\d+",
        "affinity": r"[0-9a-f]{8}(,[0-9a-f]{8})*",
        "arch": "x86_64|arm64|ppc64",
        "vendor": "GenuineIntel|AuthenticAMD|CentaurHauls",
        "familyid": r"\d+",
        "modelid": r"\d+",
    },
    "pci": {
        "busid": r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]",
        "class": "|".join(PCI_CLASSES),
        "link_speed": "|".join(re.escape(speed) for speed in SPEEDS),
        "link_width": "1|2|4|8|16",
    },
}
MAX_CHILDREN, MAX_TEXT_LENGTH, MAX_ELEMENTS = 32, 254, 256
"""Of the oldest readers that take version 1; later ones take more."""


def elements(name: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring((FOLDER / f"{name}.xml").read_text()).iter())


def devices(name: str, *classes: str) -> list[str]:
    return [one.attrib["busid"] for one in elements(name) if one.get("class") in classes]


@pytest.mark.parametrize("name", MACHINES)
def test_a_file_is_up_to_date(name: str) -> None:
    assert (FOLDER / f"{name}.xml").read_text() == xml(MACHINES[name]), "python -m tools.generate_topologies"


def test_there_is_no_other_file() -> None:
    assert {path.stem for path in FOLDER.glob("*")} == set(MACHINES)


def problems(root: ElementTree.Element) -> Iterator[str]:
    if root.tag != "system":
        yield "the root is no system"
    everything = list(root.iter())
    if len(everything) > MAX_ELEMENTS:
        yield f"{len(everything)} elements"
    for one in everything:
        wanted = ATTRIBUTES.get(one.tag, {})
        if set(one.attrib) != set(wanted):
            yield f"{one.tag} has {sorted(one.attrib)}"
        yield from (f"{one.tag} {key}={value}" for key, value in one.attrib.items() if not re.fullmatch(wanted.get(key, "(?!)"), value))
        yield from (f"{one.tag} {key} is too long" for key, value in one.attrib.items() if len(value) > MAX_TEXT_LENGTH)
        yield from (f"{child.tag} in {one.tag}" for child in one if child.tag not in CHILDREN.get(one.tag, set()))
        if len(one) > MAX_CHILDREN:
            yield f"{one.tag} has {len(one)} children"


@pytest.mark.parametrize("name", MACHINES)
def test_nccl_takes_it(name: str) -> None:
    assert list(problems(elements(name)[0])) == []


@pytest.mark.parametrize(
    "wrong", ['<system version="2"/>', "<cpu/>", '<system version="1"><gpu/></system>', '<system version="1"><cpu numaid="a"/></system>']
)
def test_what_nccl_would_not_take_is_found(wrong: str) -> None:
    assert list(problems(ElementTree.fromstring(wrong)))


@pytest.mark.parametrize("name", MACHINES)
def test_each_machine_has_eight_gpus_none_twice(name: str) -> None:
    assert len(devices(name, GPU)) == 8
    everything = devices(name, *PCI_CLASSES)
    assert len(everything) == len(set(everything))


NICS = {"azure-ndv4": 8, "azure-ndv5": 8, "aws-p5.48xlarge": 32, "gcp-a3-mega": 8, "oci-bm-gpu-a100": 8}


@pytest.mark.parametrize("name", NICS)
def test_each_machine_has_the_network_devices_that_its_maker_names(name: str) -> None:
    assert len(devices(name, INFINIBAND, ETHERNET)) == NICS[name]


@pytest.mark.parametrize("name", MACHINES)
def test_every_gpu_shares_a_switch_with_a_network_device(name: str) -> None:
    switches = [one for one in elements(name) if one.get("class") == BRIDGE]
    for switch in switches:
        classes = {child.get("class") for child in switch}
        assert GPU in classes
        assert classes & {INFINIBAND, ETHERNET}


def test_the_values_name_no_file_that_is_not_there() -> None:
    named = set(read_values(None)[0].topology_files.values())
    assert named <= {path.name for path in FOLDER.glob("*.xml")}


@pytest.mark.parametrize("dockerfile", DOCKERFILES, ids=lambda path: path.parent.name)
def test_images_have_the_files_where_checks_look_for_them(dockerfile: Path) -> None:
    assert "COPY preflight_images/topologies /opt/nvsentinel/nccl-topologies\n" in dockerfile.read_text()
