"""Arguments win over the environment, and what cannot be meant is refused with its variable."""

from pathlib import Path

import pytest

from taoloop.client import AsyncClient, ConfigurationError
from taoloop.client.settings import ClientSettings
from taoloop.core.settings import load_settings, masked


def test_argument_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAOLOOP_LOOP_ADDRESS", "loop.example:7701")
    monkeypatch.setenv("TAOLOOP_TENANT", "acme")
    monkeypatch.setenv("TAOLOOP_GRPC__KEEPALIVE_SECONDS", "44")
    monkeypatch.setenv("TAOLOOP_CLIENT__LONGEST_PAUSE_SECONDS", "7")
    settings = AsyncClient("127.0.0.1:1", client={"first_pause_seconds": 0.5})._settings
    assert (settings.loop_address, settings.tenant) == ("127.0.0.1:1", "acme")
    assert settings.grpc.keepalive_seconds == 44.0
    assert (settings.client.first_pause_seconds, settings.client.longest_pause_seconds) == (0.5, 7.0)


def test_secret_in_the_metadata_is_sent_by_tls_only() -> None:
    metadata = {"authorization": "Bearer s3cr3t"}
    with pytest.raises(ConfigurationError, match="TAOLOOP_CLIENT") as caught:
        AsyncClient(client={"metadata": metadata})
    assert "s3cr3t" not in str(caught.value)
    AsyncClient(client={"metadata": metadata, "tls": {"is_on": True}})


def test_metadata_is_never_shown() -> None:
    fixed = {"client": {"metadata": {"x-key": "s3cr3t"}, "tls": {"is_on": True}}}
    assert "s3cr3t" not in repr(masked(load_settings(ClientSettings, fixed)))
    assert "s3cr3t" not in repr(load_settings(ClientSettings, fixed))


def test_certificate_without_its_key_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="TAOLOOP_CLIENT__TLS"):
        AsyncClient(client={"tls": {"is_on": True, "certificate_file": Path("client.pem")}})


def test_environment_variable_of_a_wrong_value_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAOLOOP_CLIENT__FIRST_PAUSE_SECONDS", "never")
    with pytest.raises(ConfigurationError, match="TAOLOOP_CLIENT__FIRST_PAUSE_SECONDS"):
        AsyncClient()


@pytest.mark.parametrize("address", ["http://127.0.0.1:7701", "https://loop:443", "loop", "dns:///loop", "loop:x", ":"])
def test_address_that_nothing_can_answer_at_is_refused_at_once(address: str) -> None:
    with pytest.raises(ConfigurationError, match="TAOLOOP_LOOP_ADDRESS"):
        AsyncClient(address)


@pytest.mark.parametrize("address", ["loop:7701", "[::1]:7701", "dns:///loop.internal:7701", "unix:/run/loop.sock"])
def test_address_in_a_form_of_grpc_is_taken(address: str) -> None:
    AsyncClient(address)
