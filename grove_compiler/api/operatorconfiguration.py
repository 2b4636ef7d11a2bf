"""OperatorConfiguration: the operator's settings file (shipped semantics §1.13, GREP-244)."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field

from grove_compiler.api.clustertopology import TopologyLevel
from grove_compiler.api.kube import CONFIGURATION, Duration, Int32, Kube

Positive = Annotated[Int32, Field(gt=0)]
Port = Annotated[Int32, Field(ge=0, le=65535)]


DEFAULTED: Any = Field(default={})
"""Marks a section that is there with its defaults when the file leaves it out."""


class Section(Kube):
    """A part of the file. Unknown keys are passed over, since charts write keys that some versions do not have."""

    model_config = ConfigDict(extra="ignore")
    package: ClassVar[str] = CONFIGURATION


class ClientConnectionConfiguration(Section):
    """The operator's client."""

    qps: float = 100
    """Requests a second; no limit when negative."""
    burst: Annotated[Int32, Field(ge=0)] = 120
    """Requests at once."""
    content_type: str = ""
    """Content type of requests."""
    accept_content_types: str = ""
    """Content types of answers."""


class LeaderElectionConfiguration(Section):
    """Which of several operators is active."""

    enabled: bool = False
    """Whether only one of several is active; the other keys are looked at only then."""
    lease_duration: Duration = "15s"
    """How long others wait for a leader that is silent."""
    renew_deadline: Duration = "10s"
    """How long a leader tries to stay one."""
    retry_period: Duration = "2s"
    """Time between two tries."""
    resource_lock: str = "leases"
    """Resource that holds the lock."""
    resource_name: str = "grove-operator-leader-election"
    """Name of the lock."""
    resource_namespace: str = ""
    """Namespace of the lock, the operator's own when empty."""


class WebhookServer(Section):
    """The admission webhooks' server."""

    enabled: bool = False
    """Whether `grove operator run` serves them beside its loop; `grove operator webhooks` always does."""
    bind_address: str = ""
    """Address to listen on, all when empty."""
    port: Port = 2750
    """Port to listen on."""
    server_cert_dir: str = "/etc/grove-operator/webhook-certs"
    """Folder of the certificate."""
    secret_name: str = "grove-webhook-server-cert"
    """Secret of the certificate, in the operator's namespace."""
    service_name: str = "grove-operator"
    """Service that leads to the webhooks, in the operator's namespace: certificates are made for its names."""
    cert_provision_mode: Literal["auto", "manual"] = "auto"
    """Whether the operator makes the certificate or finds it."""


class HealthProbesServer(Section):
    """The health probes' server."""

    bind_address: str = ""
    """Address to listen on, all when empty."""
    port: Port = 2751
    """Port to listen on; 0 for none."""


class MetricsServer(Section):
    """The metrics' server."""

    bind_address: str = ""
    """Address to listen on, all when empty."""
    port: Port = 2752
    """Port to listen on; 0 for none."""


class ServerConfiguration(Section):
    """What the operator serves."""

    webhooks: WebhookServer = DEFAULTED
    """The admission webhooks."""
    health_probes: HealthProbesServer = DEFAULTED
    """The health probes."""
    metrics: MetricsServer = DEFAULTED
    """The metrics."""


class DebuggingConfiguration(Section):
    """Profiling; off when the section is absent."""

    enable_profiling: bool | None = None
    """Whether profiles are served."""
    pprof_bind_host: str = "127.0.0.1"
    """Address of the profiles."""
    pprof_bind_port: Port = 2753
    """Port of the profiles."""


class TracingConfiguration(Section):
    """Spans of what the operator does; ours, in the words of Kubernetes' own components (TracingConfiguration)."""

    endpoint: str = ""
    """URL of a collector that takes OTLP over HTTP; no spans are made when empty."""
    sampling_rate_per_million: Annotated[Int32, Field(ge=0, le=1_000_000)] = 1_000_000
    """How many of a million traces are kept."""


class ReplayConfiguration(Section):
    """Looks of the operator at its keys, kept to be replayed; ours."""

    folder: str = ""
    """Folder that gets a bundle of each look; none does when empty, but those of looks that failed go to a temporary one."""
    bundles: Positive = 1000
    """How many bundles of a kind the folder holds before the oldest goes."""
    in_memory: Annotated[Int32, Field(ge=0)] = 20
    """How many looks are held in memory, to be written when the process gets SIGUSR1."""


class OwnerControllerConfiguration(Section):
    """A controller of objects that own many others."""

    concurrent_syncs: Positive = 10
    """Objects reconciled at the same time."""


class MemberControllerConfiguration(Section):
    """A controller of objects of which a set has few."""

    concurrent_syncs: Positive = 5
    """Objects reconciled at the same time."""


class ControllersConfiguration(Section):
    """The controllers."""

    pod_clique_set: OwnerControllerConfiguration = DEFAULTED
    """The PodCliqueSet controller."""
    pod_clique: OwnerControllerConfiguration = DEFAULTED
    """The PodClique controller."""
    pod_clique_scaling_group: MemberControllerConfiguration = DEFAULTED
    """The PodCliqueScalingGroup controller."""
    pod_gang: MemberControllerConfiguration = DEFAULTED
    """The PodGang controller."""


class AuthorizerConfiguration(Section):
    """Protection of managed objects from others."""

    enabled: bool = False
    """Whether others are refused to change managed objects."""
    exempt_service_account_user_names: list[str] | None = None
    """Users that may change them all the same."""


class AdmissionConfiguration(Section):
    """What is asked beside the rules before a set is taken."""

    pod_templates: Literal["warn", "deny", "off"] = "warn"
    """What becomes of a set whose pods the API server refuses when it tries them: a warning, an error, or they are not tried."""
    pod_templates_timeout: Duration = "3s"
    """How long all pods of a set may take to be tried; then it passes."""
    mnnvl_webhooks: bool = False
    """Whether PodCliques that another controller writes get their ComputeDomains by webhooks, and PodGangs take these over."""


class TopologyAwareSchedulingConfiguration(Section):
    """Topology-aware scheduling."""

    enabled: bool = False
    """Whether sets may have topology constraints."""
    levels: list[TopologyLevel] | None = None
    """Levels of the default topology, from the broadest to the narrowest; without them none is made (GREP-244)."""


class NetworkConfiguration(Section):
    """Networks between pods."""

    auto_mnnvl_enabled: bool = Field(default=False, alias="autoMNNVLEnabled")
    """Whether new sets may name a `grove.io/mnnvl-group`; the other ways to multi-node NVLink, and sets that exist, do without."""


class SchedulerProfileConfiguration(Section):
    """A scheduler's own settings; each scheduler reads its own keys."""

    create_topology_resources: bool | None = None
    """kai-scheduler: whether a Topology is kept for each cluster topology; yes when absent (GREP-244)."""
    gang_scheduling: bool | None = None
    """default-scheduler: declared by shipped Grove and not read."""


class SchedulerProfile(Section):
    """A scheduler that pods may name."""

    name: Literal["kai-scheduler", "default-scheduler", "volcano", "lpx-scheduler"]
    """Name of the scheduler."""
    config: SchedulerProfileConfiguration | None = None
    """The scheduler's own settings."""
    default: bool | None = None
    """Whether it is the default, unless defaultProfileName says so (GREP-244)."""


class SchedulerConfiguration(Section):
    """The schedulers."""

    profiles: list[SchedulerProfile] | None = None
    """Schedulers that pods may name; default-scheduler is always one of them."""
    default_profile_name: str = ""
    """Scheduler of pods that name none; default-scheduler when empty."""


class InitContainerConfiguration(Section):
    """The container that makes pods wait for others."""

    image: str = "grove-initc"
    """Image; without a tag it gets the operator's version as its tag."""


class OperatorConfiguration(Section):
    """The operator's settings."""

    api_version: Literal["operator.config.grove.io/v1alpha1"]
    """Version of the API that the file is written in."""
    kind: Literal["OperatorConfiguration"]
    """Kind of the file."""
    runtime_client_connection: ClientConnectionConfiguration = DEFAULTED
    """The operator's client."""
    leader_election: LeaderElectionConfiguration = DEFAULTED
    """Which of several operators is active."""
    server: ServerConfiguration = DEFAULTED
    """What the operator serves."""
    debugging: DebuggingConfiguration | None = None
    """Profiling."""
    tracing: TracingConfiguration = DEFAULTED
    """Spans of what the operator does."""
    replay: ReplayConfiguration = DEFAULTED
    """Looks that are kept to be replayed."""
    controllers: ControllersConfiguration = DEFAULTED
    """The controllers."""
    log_level: Literal["debug", "info", "error"] = "info"
    """How much is logged."""
    log_format: Literal["json", "text"] = "json"
    """How it is logged."""
    admission: AdmissionConfiguration = DEFAULTED
    """What is asked before a set is taken."""
    authorizer: AuthorizerConfiguration = DEFAULTED
    """Protection of managed objects from others."""
    topology_aware_scheduling: TopologyAwareSchedulingConfiguration = DEFAULTED
    """Topology-aware scheduling."""
    network: NetworkConfiguration = DEFAULTED
    """Networks between pods."""
    scheduler: SchedulerConfiguration = DEFAULTED
    """The schedulers."""
    init_container: InitContainerConfiguration = DEFAULTED
    """The container that makes pods wait for others."""
