"""A real control plane for tests: built once from Go modules, started in seconds, with fixtures for pytest and a proxy that makes faults.

`ControlPlane` is the running thing, `Faults` the proxy, `applier.testing.plugin` the fixtures; `python -m applier.testing build` builds it.
"""

from __future__ import annotations
