"""Settings of the client library: arguments win over the environment, which wins over the defaults."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, Self

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings

from taoloop.core.settings import GrpcSettings, Seconds, ServiceSettings, SettingsGroup, TraceSettings

_ADDRESS: Final = re.compile(r"unix:.+|(?:[a-z0-9]+:/*)?[^/]+:[0-9]{1,5}")


class ClientTlsSettings(SettingsGroup):
    """How the connection is encrypted, and who shows a certificate to whom."""

    is_on: bool = Field(default=False, description="Whether the client connects by TLS.")
    ca_file: Path | None = Field(
        default=None, description="Certificates of authorities that sign the server's; unset: those of gRPC."
    )
    certificate_file: Path | None = Field(
        default=None, description="Certificate chain by which the client shows who it is; unset: none is shown."
    )
    key_file: Path | None = Field(default=None, description="Private key of that certificate.")
    server_name: str = Field(
        default="", description="Name that the server's certificate must have, where it is not that of the address."
    )

    @model_validator(mode="after")
    def _certificate_has_its_key(self) -> Self:
        if (self.certificate_file is None) != (self.key_file is None):
            raise ValueError("certificate_file and key_file are set together or not at all")
        return self


class ClientLibrarySettings(SettingsGroup):
    """What only the client library reads."""

    tls: ClientTlsSettings = Field(default=ClientTlsSettings(), description="Encryption.")
    metadata: dict[str, SecretStr] = Field(
        default={},
        description='Entries that every call has, as JSON, such as `{"authorization": "Bearer …"}`.',
    )
    first_pause_seconds: Seconds = Field(
        default=0.1, description="Longest pause before the first repeat of a call; it doubles with each one."
    )
    longest_pause_seconds: Seconds = Field(
        default=2.0, description="What that pause grows to, where the server does not ask for a longer one."
    )

    @model_validator(mode="after")
    def _secrets_are_encrypted(self) -> Self:
        if "authorization" in self.metadata and not self.tls.is_on:
            raise ValueError("metadata has an authorization entry, which is sent by TLS only; set tls.is_on")
        return self


class ClientSettings(BaseSettings):
    """What `taoloop.client` reads from the environment."""

    model_config = ServiceSettings.model_config

    loop_address: str = Field(default="127.0.0.1:7701", description="Where the loop service is reached.")
    tenant: str = Field(default="default", description="The tenant that the calls are made for.")
    grpc: GrpcSettings = Field(default_factory=GrpcSettings, description="Channels.")
    telemetry: TraceSettings = Field(
        default_factory=TraceSettings, description="Traces, where the program has none of its own."
    )
    client: ClientLibrarySettings = Field(default=ClientLibrarySettings(), description="The client library.")

    @field_validator("loop_address")
    @classmethod
    def _address_has_a_port_and_is_no_web_address(cls, address: str) -> str:
        # Otherwise nothing would answer until the time of each call is over.
        if address.startswith(("http:", "https:")) or not _ADDRESS.fullmatch(address):
            raise ValueError(f"{address!r} is neither `host:port` nor `dns:///name:port`")
        return address
