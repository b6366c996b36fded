"""Settings of the commands that call services."""

from __future__ import annotations

from pydantic import Field

from taoloop.core.settings import GrpcSettings, ServiceSettings
from taoloop.models.settings import ChatModelSettings


class CliSettings(ServiceSettings):
    """What the commands read from the environment; an option of the command line wins."""

    loop_address: str = Field(default="127.0.0.1:7701", description="Where the commands reach the loop service.")
    action_address: str = Field(default="127.0.0.1:7702", description="Where the commands reach the action service.")
    observation_address: str = Field(
        default="127.0.0.1:7703", description="Where the commands reach the observation service."
    )
    tenant: str = Field(default="default", description="The tenant that the commands speak for.")
    grpc: GrpcSettings = Field(default_factory=GrpcSettings, description="Channels.")


class ModelCommandSettings(ServiceSettings):
    """What the commands about models read: the first model of a thought worker."""

    model: ChatModelSettings = Field(
        default_factory=ChatModelSettings,
        description="The language model that `taoloop model probe` and `evaluate planning` ask.",
    )
