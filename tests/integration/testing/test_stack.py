"""The whole stack in one process: ready when it is there, and gone with its block."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from taoloop.cli.settings import CliSettings
from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import CatalogueInvalid, ConfigurationError
from taoloop.core.settings import load_settings
from taoloop.plan.observing import ListDriftRequest
from taoloop.testing.ports import is_taken
from taoloop.testing.stack import StackOptions, StackPorts, dev_stack
from taoloop.tools.bundle import pack
from taoloop.tools.served_catalogue import read_catalogue
from taoloop.wire.clients import observation_client
from taoloop.wire.health_check import check_health

CATALOGUE = Path(__file__).parents[3] / "examples" / "customer-service"


async def test_every_service_is_ready_and_nothing_is_left_at_the_end() -> None:
    async with dev_stack(StackOptions(catalogue=CATALOGUE)) as stack:
        addresses = (stack.loop_address, stack.action_address, stack.observation_address)
        for address in addresses:
            call = CallContext(deadline=Deadline.after(5.0, SystemClock()))
            assert await check_health(address, "", call) == "SERVING"
        pid = stack.valkey.pid
        directory = stack.data_directory
        assert directory.is_dir()
    assert pid is not None
    assert not psutil.pid_exists(pid)
    assert not directory.exists()
    assert not any(is_taken(int(address.rpartition(":")[2])) for address in addresses)


async def test_settings_of_one_deployable_can_differ() -> None:
    settings = {"loop": {"redis": {"key_prefix": "other"}, "max_open_runs": 3}}
    async with dev_stack(StackOptions(catalogue=CATALOGUE, settings=settings)) as stack:
        assert stack.valkey.pid is not None


async def test_what_changed_upstream_is_remembered_in_the_stacks_valkey() -> None:
    settings = load_settings(CliSettings)
    async with (
        dev_stack(StackOptions(catalogue=CATALOGUE)) as stack,
        observation_client(stack.observation_address, settings.grpc, stack.telemetry) as client,
    ):
        listed = await client.list_drift(ListDriftRequest(), CallContext(deadline=Deadline.after(5.0, SystemClock())))
        assert (listed.records, listed.is_local) == ((), False)


async def test_a_taken_port_is_told_and_what_was_started_is_stopped() -> None:
    async with dev_stack(StackOptions(catalogue=CATALOGUE)) as stack:
        taken = int(stack.observation_address.rpartition(":")[2])
        free = StackPorts.free()
        ports = StackPorts(
            loop=free.loop,
            action=free.action,
            observation=taken,
            metrics=free.metrics,
            valkey=free.valkey,
            mock=free.mock,
        )
        with pytest.raises(ConfigurationError, match=str(taken)):
            async with dev_stack(StackOptions(catalogue=CATALOGUE, ports=ports)):
                pass
        assert not is_taken(free.valkey)
        assert not is_taken(free.action)


async def test_a_catalogue_with_faults_is_told(tmp_path: Path) -> None:
    with pytest.raises(CatalogueInvalid):
        async with dev_stack(StackOptions(catalogue=tmp_path)):
            pass


async def test_a_bundle_has_no_samples_to_play(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.json"
    bundle.write_text(pack(read_catalogue(CATALOGUE)), encoding="utf-8")
    with pytest.raises(ConfigurationError, match="no samples"):
        async with dev_stack(StackOptions(catalogue=bundle)):
            pass
    async with dev_stack(StackOptions(catalogue=bundle, is_mocked=False)) as stack:
        assert stack.mock is None
