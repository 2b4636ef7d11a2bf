"""OperatorConfiguration: the operator's settings file (shipped semantics §1.13, GREP-244)."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field

from grove_compiler.api.clustertopology import TopologyLevel
from grove_compiler.api.kube import CONFIGURATION, Duration, Int32, Kube, Resources, SecurityContext

Positive = Annotated[Int32, Field(gt=0)]
Port = Annotated[Int32, Field(ge=0, le=65535)]


DEFAULTED: Any = Field(default={})
"""Marks a section that has its defaults when the file omits it."""


class _Section(Kube):
    """A section of the file. Unknown keys are ignored, since charts write keys that some versions do not have."""

    model_config = ConfigDict(extra="ignore")
    package: ClassVar[str] = CONFIGURATION


class ClientConnectionConfiguration(_Section):
    """The operator's client."""

    qps: float = 100
    """Requests per second; unlimited when negative."""
    burst: Annotated[Int32, Field(ge=0)] = 120
    """Burst of requests."""
    content_type: str = ""
    """Content type of requests."""
    accept_content_types: str = ""
    """Accepted content types of responses."""


class LeaderElectionConfiguration(_Section):
    """Leader election between replicas of the operator."""

    enabled: bool = False
    """Whether only one replica is active; the other keys only apply then."""
    lease_duration: Duration = "15s"
    """How long other replicas wait for a leader that stopped renewing its lease."""
    renew_deadline: Duration = "10s"
    """How long a leader retries to renew its lease before it gives up."""
    retry_period: Duration = "2s"
    """Time between two attempts."""
    resource_lock: str = "leases"
    """Resource that holds the lock."""
    resource_name: str = "grove-operator-leader-election"
    """Name of the lock."""
    resource_namespace: str = ""
    """Namespace of the lock, the operator's own when empty."""


class WebhookServer(_Section):
    """The server of the admission webhooks."""

    enabled: bool = False
    """Whether `grove operator run` serves them; `grove operator webhooks` always does."""
    bind_address: str = ""
    """Address to listen on, all when empty."""
    port: Port = 2750
    """Port to listen on."""
    server_cert_dir: str = "/etc/grove-operator/webhook-certs"
    """Folder of the certificate."""
    secret_name: str = "grove-webhook-server-cert"
    """Secret of the certificate, in the operator's namespace."""
    service_name: str = "grove-operator"
    """Service of the webhooks, in the operator's namespace: certificates are issued for its names."""
    cert_provision_mode: Literal["auto", "manual"] = "auto"
    """Whether the operator issues the certificate or reads an existing one."""


class HealthProbesServer(_Section):
    """The server of the health probes."""

    bind_address: str = ""
    """Address to listen on, all when empty."""
    port: Port = 2751
    """Port to listen on; 0 for none."""


class MetricsServer(_Section):
    """The server of the metrics."""

    bind_address: str = ""
    """Address to listen on, all when empty."""
    port: Port = 2752
    """Port to listen on; 0 for none."""


class ServerConfiguration(_Section):
    """The operator's servers."""

    webhooks: WebhookServer = DEFAULTED
    """The admission webhooks."""
    health_probes: HealthProbesServer = DEFAULTED
    """The health probes."""
    metrics: MetricsServer = DEFAULTED
    """The metrics."""


class DebuggingConfiguration(_Section):
    """Profiling; disabled when the section is absent."""

    enable_profiling: bool | None = None
    """Whether profiles are served."""
    pprof_bind_host: str = "127.0.0.1"
    """Address of the profiles."""
    pprof_bind_port: Port = 2753
    """Port of the profiles."""


class TracingConfiguration(_Section):
    """Tracing of the operator, as in Kubernetes' own components (TracingConfiguration); an extension."""

    endpoint: str = ""
    """URL of a collector for OTLP over HTTP; no spans are recorded when empty."""
    sampling_rate_per_million: Annotated[Int32, Field(ge=0, le=1_000_000)] = 1_000_000
    """Sampling rate: how many of a million traces are recorded."""


class ReplayConfiguration(_Section):
    """Recording of reconciliations for `grove replay`; an extension."""

    folder: str = ""
    """Folder for a bundle of each reconciliation; when empty only failed ones are written, to a temporary folder."""
    bundles: Positive = 1000
    """How many bundles of each kind the folder retains before the oldest is deleted."""
    in_memory: Annotated[Int32, Field(ge=0)] = 20
    """How many reconciliations are held in memory, to be written on SIGUSR1."""


class OwnerControllerConfiguration(_Section):
    """A controller of objects that own many others."""

    concurrent_syncs: Positive = 10
    """Objects reconciled at the same time."""


class MemberControllerConfiguration(_Section):
    """A controller of objects of which a set has only a few."""

    concurrent_syncs: Positive = 5
    """Objects reconciled at the same time."""


class ControllersConfiguration(_Section):
    """The controllers."""

    pod_clique_set: OwnerControllerConfiguration = DEFAULTED
    """The PodCliqueSet controller."""
    pod_clique: OwnerControllerConfiguration = DEFAULTED
    """The PodClique controller."""
    pod_clique_scaling_group: MemberControllerConfiguration = DEFAULTED
    """The PodCliqueScalingGroup controller."""
    pod_gang: MemberControllerConfiguration = DEFAULTED
    """The PodGang controller."""


class AuthorizerConfiguration(_Section):
    """The authorizer, which protects managed objects from changes by others."""

    enabled: bool = False
    """Whether changes of managed objects by others are rejected."""
    exempt_service_account_user_names: list[str] | None = None
    """Users that are exempt."""


class AdmissionConfiguration(_Section):
    """Checks at admission besides the rules."""

    pod_templates: Literal["warn", "deny", "off"] = "warn"
    """Dry run of a set's pods at admission: a rejected pod gives a warning or an error, or pods are not tried."""
    pod_templates_timeout: Duration = "3s"
    """Timeout of the dry run of all pods of a set, after which the set is admitted."""
    mnnvl_webhooks: bool = False
    """Whether webhooks give ComputeDomains to PodCliques of another controller, and let its PodGangs own them."""


class TopologyAwareSchedulingConfiguration(_Section):
    """Topology-aware scheduling."""

    enabled: bool = False
    """Whether sets may have topology constraints."""
    levels: list[TopologyLevel] | None = None
    """Levels of the default topology, from the broadest to the narrowest; without them there is none (GREP-244)."""


class NetworkConfiguration(_Section):
    """Networks between pods."""

    auto_mnnvl_enabled: bool = Field(default=False, alias="autoMNNVLEnabled")
    """Whether new sets may use `grove.io/mnnvl-group`; other modes of multi-node NVLink, and existing sets, do not need it."""


class SchedulerProfileConfiguration(_Section):
    """A scheduler's own settings; each scheduler reads its own keys."""

    create_topology_resources: bool | None = None
    """kai-scheduler: whether a Topology is maintained for each cluster topology; true when absent (GREP-244)."""
    gang_scheduling: bool | None = None
    """default-scheduler: declared by upstream Grove and ignored."""


class SchedulerProfile(_Section):
    """A scheduler that pods may name."""

    name: Literal["kai-scheduler", "default-scheduler", "volcano", "lpx-scheduler"]
    """Name of the scheduler."""
    config: SchedulerProfileConfiguration | None = None
    """The scheduler's own settings."""
    default: bool | None = None
    """Whether it is the default, unless defaultProfileName says so (GREP-244)."""


class SchedulerConfiguration(_Section):
    """The schedulers."""

    profiles: list[SchedulerProfile] | None = None
    """Schedulers that pods may name; default-scheduler is always one of them."""
    default_profile_name: str = ""
    """Scheduler of pods without a scheduler, of sets that do not have another one yet; default-scheduler when empty."""


class InitContainerConfiguration(_Section):
    """The init container that lets pods wait for others."""

    image: str = "grove-initc"
    """Image; without a tag, the operator's version is the tag."""
    resources: Annotated[Resources | None, Field()] = None
    """Resources; 100m CPU and 128Mi memory, as requests and limits, when absent, and none when empty."""
    security_context: Annotated[SecurityContext | None, Field()] = None
    """Security context; what the Pod Security Standard `restricted` asks for when absent, and none when empty."""


class OperatorConfiguration(_Section):
    """The operator's settings."""

    api_version: Literal["operator.config.grove.io/v1alpha1"]
    """Version of the API."""
    kind: Literal["OperatorConfiguration"]
    """Kind of the object."""
    runtime_client_connection: ClientConnectionConfiguration = DEFAULTED
    """The operator's client."""
    leader_election: LeaderElectionConfiguration = DEFAULTED
    """Leader election between replicas of the operator."""
    server: ServerConfiguration = DEFAULTED
    """The operator's servers."""
    debugging: DebuggingConfiguration | None = None
    """Profiling."""
    tracing: TracingConfiguration = DEFAULTED
    """Tracing of the operator."""
    replay: ReplayConfiguration = DEFAULTED
    """Recording of reconciliations for `grove replay`."""
    controllers: ControllersConfiguration = DEFAULTED
    """The controllers."""
    log_level: Literal["debug", "info", "error"] = "info"
    """Log level."""
    log_format: Literal["json", "text"] = "json"
    """Log format."""
    admission: AdmissionConfiguration = DEFAULTED
    """Checks at admission."""
    authorizer: AuthorizerConfiguration = DEFAULTED
    """The authorizer, which protects managed objects from changes by others."""
    topology_aware_scheduling: TopologyAwareSchedulingConfiguration = DEFAULTED
    """Topology-aware scheduling."""
    network: NetworkConfiguration = DEFAULTED
    """Networks between pods."""
    scheduler: SchedulerConfiguration = DEFAULTED
    """The schedulers."""
    init_container: InitContainerConfiguration = DEFAULTED
    """The init container that lets pods wait for others."""
