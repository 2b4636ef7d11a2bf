"""What packages offer is there, and costs nothing before it is asked for."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest

import applier
import applier.testing


@pytest.mark.parametrize("package", [applier, applier.testing], ids=lambda package: package.__name__)
def test_every_name_that_a_package_offers_is_there(package: ModuleType) -> None:
    assert [name for name in package.__all__ if getattr(package, name, None) is None] == []


def test_a_name_that_is_not_offered_is_an_attribute_error() -> None:
    name = "applly"
    with pytest.raises(AttributeError, match="module 'applier' has no attribute 'applly'"):
        getattr(applier, name)


def test_importing_the_applier_loads_no_room_of_it() -> None:
    program = "import applier, sys; print(sorted(name for name in sys.modules if name.startswith('applier.')))"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "['applier.lazy']"


def test_what_should_exist_can_be_said_without_a_cluster_client() -> None:
    program = "from applier import Desired, Graph, Policy, Kind, Ref; import sys; print('httptools' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip() == "False"
