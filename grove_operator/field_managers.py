"""Names the field managers under which this program writes. `kubectl get --show-managed-fields` shows them, and conflicts name them."""

from __future__ import annotations

CLI = "grove"
"""The default of `--field-manager`."""
OPERATOR = "grove-operator"
"""The operator's, and the upstream operator's as well, so that each continues what the other has applied. Events name it, too."""
STATUS = "grove-operator-status"
"""Not that of the objects, whose applies would remove the fields of the status."""
CA_BUNDLE = "grove-operator-ca-bundle"
"""For the bundles only, so that installers can apply the webhook configurations without conflicts (grove #453)."""
ROLLOUT = "grove-rollout"
PREFLIGHT = "grove-preflight"
