"""OperatorConfiguration: the operator's settings file (shipped semantics §1.13, GREP-244)."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import ConfigDict, Field, ValidationInfo, field_validator, model_validator

from grove_compiler.api.clustertopology import TopologyLevel
from grove_compiler.api.kube import CONFIGURATION, Duration, Int32, Kube
from grove_compiler.kube.duration import parse

DEFAULT_SCHEDULER: Literal["default-scheduler"] = "default-scheduler"
Positive = Annotated[Int32, Field(gt=0)]
Port = Annotated[Int32, Field(ge=0, le=65535)]


class Section(Kube):
    """A part of the file. Unknown keys are passed over, since charts write keys that some versions do not have."""

    model_config = ConfigDict(extra="ignore")
    package: ClassVar[str] = CONFIGURATION


SectionType = TypeVar("SectionType", bound=Section)


def defaulted(section: type[SectionType]) -> Any:
    """Returns a section that is there with its defaults when the file leaves it out."""
    return Field(default_factory=lambda: section.model_validate({}), json_schema_extra={"default": {}})


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

    @model_validator(mode="after")
    def _workable(self) -> Self:
        if not self.enabled:
            return self
        for name, text in (
            ("leaseDuration", self.lease_duration),
            ("renewDeadline", self.renew_deadline),
            ("retryPeriod", self.retry_period),
        ):
            if parse(text) <= 0:
                raise ValueError(f"{name} must be greater than 0")
        if parse(self.lease_duration) <= parse(self.renew_deadline):
            raise ValueError("leaseDuration must be greater than renewDeadline")
        for name, text in (("resourceLock", self.resource_lock), ("resourceName", self.resource_name)):
            if not text:
                raise ValueError(f"{name} is required")
        return self


class WebhookServer(Section):
    """The admission webhooks' server."""

    bind_address: str = ""
    """Address to listen on, all when empty."""
    port: Port = 2750
    """Port to listen on."""
    server_cert_dir: str = "/etc/grove-operator/webhook-certs"
    """Folder of the certificate."""
    secret_name: str = "grove-webhook-server-cert"
    """Secret of the certificate."""
    cert_provision_mode: Literal["auto", "manual"] = "auto"
    """Whether the operator makes the certificate or finds it."""


class HealthProbesServer(Section):
    """The health probes' server."""

    bind_address: str = ""
    """Address to listen on, all when empty."""
    port: Port = 2751
    """Port to listen on."""


class MetricsServer(Section):
    """The metrics' server."""

    bind_address: str = ""
    """Address to listen on, all when empty."""
    port: Port = 2752
    """Port to listen on."""


class ServerConfiguration(Section):
    """What the operator serves."""

    webhooks: WebhookServer = defaulted(WebhookServer)
    """The admission webhooks."""
    health_probes: HealthProbesServer = defaulted(HealthProbesServer)
    """The health probes."""
    metrics: MetricsServer = defaulted(MetricsServer)
    """The metrics."""


class DebuggingConfiguration(Section):
    """Profiling; off when the section is absent."""

    enable_profiling: bool | None = None
    """Whether profiles are served."""
    pprof_bind_host: str = "127.0.0.1"
    """Address of the profiles."""
    pprof_bind_port: Port = 2753
    """Port of the profiles."""


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

    pod_clique_set: OwnerControllerConfiguration = defaulted(OwnerControllerConfiguration)
    """The PodCliqueSet controller."""
    pod_clique: OwnerControllerConfiguration = defaulted(OwnerControllerConfiguration)
    """The PodClique controller."""
    pod_clique_scaling_group: MemberControllerConfiguration = defaulted(MemberControllerConfiguration)
    """The PodCliqueScalingGroup controller."""
    pod_gang: MemberControllerConfiguration = defaulted(MemberControllerConfiguration)
    """The PodGang controller."""


class AuthorizerConfiguration(Section):
    """Protection of managed objects from others."""

    enabled: bool = False
    """Whether others are refused to change managed objects."""
    exempt_service_account_user_names: list[str] | None = None
    """Users that may change them all the same."""


class TopologyAwareSchedulingConfiguration(Section):
    """Topology-aware scheduling."""

    enabled: bool = False
    """Whether sets may have topology constraints."""
    levels: list[TopologyLevel] | None = None
    """Levels of the default topology, from the broadest to the narrowest; without them none is made (GREP-244)."""

    @model_validator(mode="after")
    def _unique_levels(self) -> Self:
        if not self.enabled or self.levels is None:
            return self
        if not self.levels:
            raise ValueError("levels must have at least one level")
        for field in ("domain", "key"):
            values = [getattr(level, field) for level in self.levels]
            repeated = sorted({value for value in values if values.count(value) > 1})
            if repeated:
                raise ValueError(f"{field} must be unique across all levels: {', '.join(repeated)}")
        return self


class NetworkConfiguration(Section):
    """Networks between pods."""

    auto_mnnvl_enabled: bool = Field(default=False, alias="autoMNNVLEnabled")
    """Whether ComputeDomains are made for sets that ask for multi-node NVLink."""


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

    profiles: list[SchedulerProfile] = Field(default_factory=list, validate_default=True)
    """Schedulers that pods may name; default-scheduler is always one of them."""
    default_profile_name: Annotated[str, Field(validate_default=True)] = ""
    """Scheduler of pods that name none; default-scheduler when empty."""

    @field_validator("profiles")
    @classmethod
    def _with_default_scheduler(cls, profiles: list[SchedulerProfile]) -> list[SchedulerProfile]:
        names = [profile.name for profile in profiles]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise ValueError(f"profile names must be unique: {', '.join(repeated)}")
        if sum(profile.default is True for profile in profiles) > 1:
            raise ValueError("only one profile can be the default")
        return profiles if DEFAULT_SCHEDULER in names else [*profiles, SchedulerProfile(name=DEFAULT_SCHEDULER)]

    @field_validator("default_profile_name")
    @classmethod
    def _known_profile(cls, name: str, info: ValidationInfo) -> str:
        profiles: list[SchedulerProfile] = info.data.get("profiles", [])
        if not name:
            return next((profile.name for profile in profiles if profile.default), DEFAULT_SCHEDULER)
        if profiles and name not in [profile.name for profile in profiles]:
            raise ValueError(f"{name} is none of the profiles")
        return name


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
    runtime_client_connection: ClientConnectionConfiguration = defaulted(ClientConnectionConfiguration)
    """The operator's client."""
    leader_election: LeaderElectionConfiguration = defaulted(LeaderElectionConfiguration)
    """Which of several operators is active."""
    server: ServerConfiguration = defaulted(ServerConfiguration)
    """What the operator serves."""
    debugging: DebuggingConfiguration | None = None
    """Profiling."""
    controllers: ControllersConfiguration = defaulted(ControllersConfiguration)
    """The controllers."""
    log_level: Literal["debug", "info", "error"] = "info"
    """How much is logged."""
    log_format: Literal["json", "text"] = "json"
    """How it is logged."""
    authorizer: AuthorizerConfiguration = defaulted(AuthorizerConfiguration)
    """Protection of managed objects from others."""
    topology_aware_scheduling: TopologyAwareSchedulingConfiguration = defaulted(TopologyAwareSchedulingConfiguration)
    """Topology-aware scheduling."""
    network: NetworkConfiguration = defaulted(NetworkConfiguration)
    """Networks between pods."""
    scheduler: SchedulerConfiguration = defaulted(SchedulerConfiguration)
    """The schedulers."""
    init_container: InitContainerConfiguration = defaulted(InitContainerConfiguration)
    """The container that makes pods wait for others."""
