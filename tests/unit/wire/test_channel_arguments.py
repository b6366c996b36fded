"""Both sides of a channel take their arguments from one group of settings."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from taoloop.core.settings import GrpcSettings
from taoloop.wire.channel_arguments import KEEPALIVE_TIME, MIN_PING_INTERVAL, client_arguments, server_arguments

_SIZES = ("grpc.max_send_message_length", "grpc.max_receive_message_length")


def _both(settings: GrpcSettings) -> tuple[dict[str, Any], dict[str, Any]]:
    return dict(client_arguments(settings)), dict(server_arguments(settings))


def test_a_server_that_is_back_is_seen_within_two_seconds() -> None:
    client, _ = _both(GrpcSettings())
    assert client["grpc.max_reconnect_backoff_ms"] == 2_000


@pytest.mark.parametrize("size", [65_536, 8_388_608])
def test_message_size_is_the_same_on_both_sides_in_both_directions(size: int) -> None:
    client, server = _both(GrpcSettings(max_message_bytes=size))
    assert {side[name] for side in (client, server) for name in _SIZES} == {size}


@pytest.mark.parametrize("settings", [GrpcSettings(), GrpcSettings(keepalive_seconds=5, min_ping_interval_seconds=5)])
def test_client_never_pings_faster_than_the_server_allows(settings: GrpcSettings) -> None:
    client, server = _both(settings)
    assert client[KEEPALIVE_TIME] >= server[MIN_PING_INTERVAL]
    assert server["grpc.keepalive_permit_without_calls"] == client["grpc.keepalive_permit_without_calls"] == 1


def test_settings_that_would_get_the_client_thrown_off_are_refused() -> None:
    with pytest.raises(ValidationError):
        GrpcSettings(keepalive_seconds=5, min_ping_interval_seconds=20)


def test_calls_are_spread_and_never_repeated() -> None:
    config = json.loads(_both(GrpcSettings())[0]["grpc.service_config"])
    assert config == {"loadBalancingConfig": [{"round_robin": {}}]}


def test_server_asks_clients_to_reconnect_and_shares_no_port() -> None:
    _, server = _both(GrpcSettings(max_connection_age_seconds=12.5, max_connection_age_grace_seconds=3))
    assert server["grpc.max_connection_age_ms"] == 12_500
    assert server["grpc.max_connection_age_grace_ms"] == 3_000
    assert server["grpc.so_reuseport"] == 0
