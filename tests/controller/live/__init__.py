"""The operator on a real API server, with kube-scheduler, controller manager and kwok's nodes."""
