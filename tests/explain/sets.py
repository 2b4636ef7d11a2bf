"""Small sets to ask about."""

from __future__ import annotations

SET = """\
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata:
  name: web
spec:
  replicas: 2
  template:
    cliques:
      - name: front
        labels: {team: search}
        spec:
          roleName: front
          replicas: 3
          podSpec:
            containers:
              - name: main
                image: nginx:1
                ports: [{containerPort: 80}]
"""

SET_WITH_GROUP = (
    SET.replace("name: web\n", "name: web\n  namespace: shop\n")
    + """\
      - name: back
        spec:
          roleName: back
          replicas: 2
          minAvailable: 1
          podSpec: {containers: [{name: main, image: nginx:2}]}
    podCliqueScalingGroups:
      - {name: pair, cliqueNames: [back], replicas: 2}
"""
)
"""The same in the namespace `shop`, with a second clique in a scaling group."""
