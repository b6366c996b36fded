"""The arguments of servers and channels, both made from one group of settings."""

from __future__ import annotations

import json
from typing import Final

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
