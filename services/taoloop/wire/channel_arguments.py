"""The arguments of servers and channels, both made from one group of settings, and the credentials of channels."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

import grpc
import grpc.aio

from taoloop.core.settings import GrpcSettings

Arguments = tuple[tuple[str, int | str], ...]

KEEPALIVE_TIME: Final = "grpc.keepalive_time_ms"
MIN_PING_INTERVAL: Final = "grpc.http2.min_ping_interval_without_data_ms"

# Calls are spread over all addresses of a headless service; no retry policy, so that nothing is sent twice.
_SERVICE_CONFIG = json.dumps({"loadBalancingConfig": [{"round_robin": {}}]})


def server_arguments(settings: GrpcSettings) -> Arguments:
    """Return the arguments of a server."""
    return (
        *_both_sides(settings),
        (MIN_PING_INTERVAL, _milliseconds(settings.min_ping_interval_seconds)),
        ("grpc.max_connection_age_ms", _milliseconds(settings.max_connection_age_seconds)),
        ("grpc.max_connection_age_grace_ms", _milliseconds(settings.max_connection_age_grace_seconds)),
        ("grpc.so_reuseport", 0),  # else a second server takes the same port and half of the calls
    )


def client_arguments(settings: GrpcSettings) -> Arguments:
    """Return the arguments of a channel."""
    return (
        *_both_sides(settings),
        ("grpc.service_config", _SERVICE_CONFIG),
        ("grpc.service_config_disable_resolution", 1),  # no look-up of TXT records
        ("grpc.enable_http_proxy", 0),  # services talk to each other directly, whatever the environment says
        # The library's own pauses grow to two minutes, in which a service that is back is not seen.
        ("grpc.initial_reconnect_backoff_ms", 200),
        ("grpc.max_reconnect_backoff_ms", 2_000),
        ("grpc.use_local_subchannel_pool", 1),  # a channel that was closed leaves no connection to the next one
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsCredentials:
    """What the two sides of an encrypted connection know each other by.

    Attributes:
        authorities: Certificates, as PEM, that may sign the server's; None trusts those that gRPC knows.
        chain: Certificates, as PEM, by which the client shows who it is; None shows none.
        key: Private key, as PEM, of the first of them.
        name: What the server's certificate must be made out to, where that is not the name in the address.
    """

    authorities: bytes | None = None
    chain: bytes | None = None
    key: bytes | None = None
    name: str = ""


def encrypted(address: str, arguments: Arguments, tls: TlsCredentials) -> grpc.aio.Channel:
    """Return a channel whose connections are encrypted."""
    named = (("grpc.ssl_target_name_override", tls.name),) if tls.name else ()
    credentials = grpc.ssl_channel_credentials(tls.authorities, tls.key, tls.chain)
    return grpc.aio.secure_channel(address, credentials, options=(*arguments, *named))


def _both_sides(settings: GrpcSettings) -> Arguments:
    return (
        ("grpc.max_send_message_length", settings.max_message_bytes),
        ("grpc.max_receive_message_length", settings.max_message_bytes),
        (KEEPALIVE_TIME, _milliseconds(settings.keepalive_seconds)),
        ("grpc.keepalive_timeout_ms", _milliseconds(settings.keepalive_timeout_seconds)),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),  # a stream may be silent while a person thinks
    )


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1_000)
