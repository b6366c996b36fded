"""Opens what a client stands on: settings, telemetry, and a channel with or without TLS."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from prometheus_client import CollectorRegistry

from taoloop.client.settings import ClientSettings, ClientTlsSettings
from taoloop.core.errors import ConfigurationError
from taoloop.core.telemetry import Metrics, Telemetry, Tracing
from taoloop.core.telemetry.tracing import build_tracer_provider
from taoloop.wire.channel import connect
from taoloop.wire.channel_arguments import TlsCredentials
from taoloop.wire.clients import LoopClient


@asynccontextmanager
async def connected(settings: ClientSettings, telemetry: Telemetry) -> AsyncIterator[LoopClient]:
    """Give a client of the loop service; its channel is closed with the block.

    Raises:
        ConfigurationError: A file of certificates or keys cannot be read.
        InvalidMetadata: An entry is not printable ASCII.
    """
    library = settings.client
    metadata = {key: value.get_secret_value() for key, value in library.metadata.items()}
    credentials = await asyncio.to_thread(_credentials, library.tls) if library.tls.is_on else None
    async with connect(settings.loop_address, settings.grpc, telemetry, metadata, credentials) as channel:
        yield LoopClient(channel)


@asynccontextmanager
async def telemetry_of(settings: ClientSettings, registry: CollectorRegistry | None) -> AsyncIterator[Telemetry]:
    """Give the telemetry of a client: its spans go where those of the program go, if it traces with OpenTelemetry.

    Args:
        settings: Where spans go of a program that does not.
        registry: Where the metrics are shown; nowhere by default.
    """
    metrics = Metrics(registry)
    provider = trace.get_tracer_provider()
    if isinstance(provider, TracerProvider):
        yield Telemetry(metrics, Tracing(provider))
        return
    own = build_tracer_provider(settings.telemetry, "taoloop-client")
    telemetry = Telemetry(metrics, Tracing(own))
    try:
        yield telemetry
    finally:
        try:
            await telemetry.aclose()
        except RuntimeError:  # the interpreter ends with the client open, and lends no thread any more
            own.shutdown()


def _credentials(tls: ClientTlsSettings) -> TlsCredentials:
    return TlsCredentials(
        authorities=_read(tls.ca_file), chain=_read(tls.certificate_file), key=_read(tls.key_file), name=tls.server_name
    )


def _read(path: Path | None) -> bytes | None:
    try:
        return None if path is None else path.read_bytes()
    except OSError as exc:
        raise ConfigurationError(
            f"{path} cannot be read: {exc.strerror or exc}.", metadata={"path": str(path)}
        ) from exc
