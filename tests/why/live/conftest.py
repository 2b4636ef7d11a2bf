"""The control plane of the tests of the operator."""

from tests.controller.live.conftest import grove_plane

__all__ = ["grove_plane"]
