"""The set that all benchmarks compile: so many replicas of one clique with two pods, as Grove's own scale test has them."""

from __future__ import annotations

NAME = "scale"

MANIFEST = """\
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata:
  name: {name}
  namespace: bench
  annotations:
    kai.scheduler/queue: research
spec:
  replicas: {replicas}
  template:
    cliques:
      - name: worker
        labels:
          app: {name}
          kai.scheduler/queue: research
        spec:
          roleName: worker
          replicas: 2
          podSpec:
            schedulerName: kai-scheduler
            terminationGracePeriodSeconds: 60
            tolerations:
              - {{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}}
            containers:
              - name: engine
                image: registry.example.com/inference/engine:1.4.0
                args: [--model, /models/large, --tensor-parallel, "8", --port, "8000"]
                env:
                  - {{name: NCCL_DEBUG, value: WARN}}
                  - {{name: CUDA_VISIBLE_DEVICES, value: "0,1,2,3,4,5,6,7"}}
                ports:
                  - {{name: http, containerPort: 8000}}
                readinessProbe:
                  httpGet: {{path: /health, port: http}}
                  periodSeconds: 10
                volumeMounts:
                  - {{name: models, mountPath: /models, readOnly: true}}
                resources:
                  requests: {{cpu: "16", memory: 128Gi}}
                  limits: {{nvidia.com/gpu: 8}}
            volumes:
              - name: models
                persistentVolumeClaim: {{claimName: models, readOnly: true}}
---
apiVersion: operator.config.grove.io/v1alpha1
kind: OperatorConfiguration
scheduler:
  profiles:
    - name: kai-scheduler
"""


def manifest(replicas: int) -> str:
    """The set and the operator's configuration, as YAML."""
    return MANIFEST.format(name=NAME, replicas=replicas)
