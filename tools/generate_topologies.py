"""Generates NCCL's topology files for the images of checks, from published facts about machines: python -m tools.generate_topologies.

A file defines which GPUs and network devices share a PCIe switch and a socket, which a virtual machine hides. NCCL ignores devices that
the machine does not have, and detects what a file does not define.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

FOLDER = Path(__file__).parent.parent / "preflight_images" / "topologies"
BRIDGE, GPU, INFINIBAND, ETHERNET = "0x060400", "0x030200", "0x020700", "0x020000"
"""PCI classes."""
GEN4, GEN5 = "16.0 GT/s PCIe", "32.0 GT/s PCIe"


@dataclass(frozen=True)
class Cpu:
    """A NUMA node: its number, the mask of its CPUs, and their model."""

    numa: int
    affinity: str
    vendor: str
    family: int
    model: int


@dataclass(frozen=True)
class Switch:
    """A PCIe switch, or a stand-in for one that a guest cannot see, with the addresses of its devices."""

    cpu: Cpu
    address: str
    gpus: tuple[str, ...]
    nics: tuple[str, ...]


@dataclass(frozen=True)
class Machine:
    """A machine type; `source` names the publication of its facts."""

    source: str
    switches: tuple[Switch, ...]
    nic_class: str
    speed: str
    gpu_speed: str
    nic_width: int = 16


def mask(*ranges: range) -> str:
    """Returns a CPU mask in the format of Linux: words of 32 bits in hexadecimal, the highest first."""
    bits = sum(1 << cpu for cpus in ranges for cpu in cpus)
    words = max(1, -(-bits.bit_length() // 32))
    return ",".join(f"{bits >> 32 * word & 0xFFFFFFFF:08x}" for word in reversed(range(words)))


def rome(numa: int) -> Cpu:
    return Cpu(numa, "0000ffff,0000ffff", "AuthenticAMD", 23, 49)


def sapphire_rapids(numa: int, *cpus: range) -> Cpu:
    return Cpu(numa, mask(*cpus), "GenuineIntel", 6, 143)


def milan(numa: int) -> Cpu:
    return Cpu(numa, mask(range(16 * numa, 16 * numa + 16), range(16 * numa + 128, 16 * numa + 144)), "AuthenticAMD", 25, 1)


def hidden(number: int) -> str:
    """Returns the address of a stand-in for a switch that a guest cannot see, in a PCI domain without devices."""
    return f"ffff:ff:{number:02x}.0"


def domain(number: int) -> str:
    """Returns the address of a device in a PCI domain of its own, as Hyper-V passes devices through."""
    return f"{number:04x}:00:00.0"


def bus(number: int) -> str:
    return f"0000:{number:02x}:00.0"


def ndv4() -> Iterator[Switch]:
    gpus = [0x1, 0x2, 0x3, 0x4, 0xB, 0xC, 0xD, 0xE]
    for pair in range(4):
        numbers = (2 * pair, 2 * pair + 1)
        yield Switch(
            rome(pair),
            hidden(pair + 1),
            tuple(domain(gpus[each]) for each in numbers),
            tuple(domain(0x101 + each) for each in numbers),
        )


def ndv5() -> Iterator[Switch]:
    gpus = [0x1, 0x2, 0x3, 0x8, 0x9, 0xA, 0xB, 0xC]
    for number, gpu in enumerate(gpus):
        socket = number // 4
        cpu = sapphire_rapids(socket, range(48 * socket, 48 * socket + 48))
        yield Switch(cpu, hidden(number + 1), (domain(gpu),), (domain(0x101 + number),))


def p5() -> Iterator[Switch]:
    cpu = Cpu(0, mask(range(48)), "AuthenticAMD", 25, 17)
    for number, gpu in enumerate([0x4F, 0x60, 0x70, 0x80, 0x90, 0xA0, 0xB0, 0xC0]):
        yield Switch(cpu, bus(number), (bus(gpu),), tuple(bus(gpu + nic) for nic in range(1, 5)))


def a3_mega() -> Iterator[Switch]:
    for number, first in enumerate([0x04, 0x0A, 0x84, 0x8A]):
        socket = number // 2
        cpu = sapphire_rapids(socket, range(52 * socket, 52 * socket + 52), range(52 * socket + 104, 52 * socket + 156))
        yield Switch(cpu, hidden(number + 1), (bus(first), bus(first + 1)), (bus(first + 2), bus(first + 3)))


def bm_gpu_a100() -> Iterator[Switch]:
    yield Switch(milan(3), bus(0x01), (bus(0x0F), bus(0x15)), (bus(0x0C), bus(0x16)))
    yield Switch(milan(1), bus(0x3F), (bus(0x50), bus(0x53)), (bus(0x47), bus(0x4B)))
    yield Switch(milan(7), bus(0x7E), (bus(0x8C), bus(0x91)), (bus(0x89), bus(0x93)))
    yield Switch(milan(5), bus(0xBB), (bus(0xD6), bus(0xDA)), (bus(0xC3), bus(0xD1)))


MACHINES = {
    "azure-ndv4": Machine("Azure/azhpc-images, topology of ND96 A100 v4", tuple(ndv4()), INFINIBAND, GEN4, GEN4),
    "azure-ndv5": Machine("Azure/azhpc-images, topology of ND96 H100 v5", tuple(ndv5()), INFINIBAND, GEN5, GEN5),
    "aws-p5.48xlarge": Machine("aws/aws-ofi-nccl, topology of p5.48xlarge", tuple(p5()), ETHERNET, GEN4, GEN5, nic_width=8),
    "gcp-a3-mega": Machine(
        "google/nccl-plugin-gpudirecttcpx, addresses of A3, where each switch has one NIC; of A3 Mega's two the second is taken to follow",
        tuple(a3_mega()),
        ETHERNET,
        GEN5,
        GEN5,
    ),
    "oci-bm-gpu-a100": Machine("oracle-quickstart/oci-hpc, topology of BM.GPU4.8", tuple(bm_gpu_a100()), ETHERNET, GEN4, GEN4),
}
"""The machines by their names in the design (ADR-026, NCCL topology file handling)."""


def xml(machine: Machine) -> str:
    """Returns a topology file of version 1, without an XML declaration and comments, which NCCL's parser does not support."""
    lines = ['<system version="1">']
    for cpu in dict.fromkeys(switch.cpu for switch in machine.switches):
        facts = {"numaid": cpu.numa, "affinity": cpu.affinity, "arch": "x86_64", "vendor": cpu.vendor}
        lines.append(f"  <cpu {_attributes({**facts, 'familyid': cpu.family, 'modelid': cpu.model})}>")
        for switch in machine.switches:
            if switch.cpu == cpu:
                lines += _switch(machine, switch)
        lines.append("  </cpu>")
    return "\n".join([*lines, "</system>"]) + "\n"


def _switch(machine: Machine, switch: Switch) -> Iterator[str]:
    yield f"    <pci {_device(switch.address, BRIDGE, machine.speed, 16)}>"
    for gpu in switch.gpus:
        yield f"      <pci {_device(gpu, GPU, machine.gpu_speed, 16)}/>"
    for nic in switch.nics:
        yield f"      <pci {_device(nic, machine.nic_class, machine.speed, machine.nic_width)}/>"
    yield "    </pci>"


def _device(address: str, pci_class: str, speed: str, width: int) -> str:
    return _attributes({"busid": address, "class": pci_class, "link_speed": speed, "link_width": width})


def _attributes(values: dict[str, object]) -> str:
    return " ".join(f"{name}={quoteattr(str(value))}" for name, value in values.items())


def main() -> None:
    """Writes the files, and deletes those of machines that are no longer listed."""
    for path in FOLDER.glob("*.xml"):
        if path.stem not in MACHINES:
            path.unlink()
    for name, machine in MACHINES.items():
        (FOLDER / f"{name}.xml").write_text(xml(machine), "utf-8")


if __name__ == "__main__":
    main()
