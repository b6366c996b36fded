"""`taoloop serve`: each deployable a process, driven by the commands, stopped by SIGTERM."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path

import psutil
import pytest

from taoloop.core.exact_json import loads
from taoloop.testing.mock_tools import MockTools
from taoloop.testing.tool_samples import read_samples
from taoloop.testing.valkey import EmbeddedValkey
from taoloop.tools.served_catalogue import read_catalogue
from tests.e2e.deployment import deployment
from tests.e2e.processes import CATALOGUE, Running, json_lines, taoloop


@pytest.mark.timeout(180)
async def test_processes_serve_runs_and_end_in_order_at_sigterm(tmp_path: Path) -> None:
    catalogue = read_catalogue(CATALOGUE)
    async with (
        EmbeddedValkey(tmp_path / "valkey") as valkey,
        MockTools(catalogue, read_samples(CATALOGUE, catalogue)) as tools,
        deployment(tmp_path, valkey.url, tools.bases) as running,
    ):
        await _answers_and_asks(running.loop_address)
        for name, address in running.metrics.items():
            page = await _get(address, "/metrics")
            assert "taoloop_" in page, name
            assert "200 OK" in await _get(address, "/healthz"), name
        children = [psutil.Process(each.process.pid).children(recursive=True) for each in running.processes.values()]
        codes = {name: await asyncio.to_thread(each.stop, signal.SIGTERM) for name, each in running.processes.items()}
        assert set(codes.values()) == {0}, running.told()
        assert not [child for each in children for child in each if child.is_running()]
        for each in running.processes.values():
            events = [line["event"] for line in each.logged()]
            assert events[0] == "process_configured"
            assert events[-1] == "process_stopped"
            assert not [line for line in each.logged() if line["level"] == "error"]


async def _answers_and_asks(address: str) -> None:
    """Run one task to its answer, and one that asks, is answered and goes on."""
    answered = await asyncio.to_thread(
        taoloop, "run", "订单 20260308000012345 的快递到哪里了？", "--address", address, "--json"
    )
    assert answered.returncode == 0, answered.stdout + answered.stderr
    events = [loads(line) for line in answered.stdout.splitlines()]
    assert isinstance(events[-1], dict)
    assert events[-1]["body"]["outcome"] == "answered"  # type: ignore[index, call-overload]
    asked = await asyncio.to_thread(
        taoloop, "run", "How many keyboards are in stock in the warehouse?", "--address", address
    )
    assert asked.returncode == 3, asked.stdout + asked.stderr
    command = asked.stderr.split("Answer with: ", 1)[1].strip().replace("sku=…", "sku=KB-2041").split()
    assert command[:2] == ["taoloop", "input"]
    resumed = await asyncio.to_thread(taoloop, *command[1:])
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert "128" in resumed.stdout
    listed = await asyncio.to_thread(taoloop, "runs", "--address", address, "--json")
    assert [line["outcome"] for line in json_lines(listed.stdout)] == ["answered", "answered"]


async def test_start_is_logged_with_masked_settings() -> None:
    variables = {
        "TAOLOOP_CATALOGUE": str(CATALOGUE),
        "TAOLOOP_OBSERVATION_LISTEN": "127.0.0.1:0",
        "TAOLOOP_TELEMETRY__METRICS_PORT": "0",
        "TAOLOOP_REDIS__URL": "redis://user:hush@127.0.0.1:1/0",
        "TAOLOOP_LOG_LEVLE": "debug",
    }
    running = Running.start("serve", "observation", variables=variables)
    try:
        while not [line for line in running.logged() if line["event"] == "process_started"]:
            assert running.process.poll() is None, running.told()
            await asyncio.sleep(0.05)
    finally:
        assert running.stop(signal.SIGINT) == 0, running.told()
    configured = running.logged()[0]
    assert configured["deployables"] == "observation"
    assert configured["TAOLOOP_CATALOGUE"] == str(CATALOGUE)
    assert "hush" not in running.told()
    misspelt = [line["variable"] for line in running.logged() if line["event"] == "variable_not_known"]
    assert misspelt == ["TAOLOOP_LOG_LEVLE"]


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"TAOLOOP_CATALOGUE": "/nowhere"}, "CATALOGUE_INVALID"),
        ({"TAOLOOP_CATALOGUE": str(CATALOGUE), "TAOLOOP_OBSERVATION_LISTEN": "127.0.0.1:x"}, "CONFIGURATION_INVALID"),
        ({"TAOLOOP_GRPC__MAX_MESSAGE_BYTES": "many"}, "TAOLOOP_GRPC__MAX_MESSAGE_BYTES"),
    ],
)
def test_a_fault_at_start_is_one_line_and_exit_code_1(variables: dict[str, str], said: str) -> None:
    done = taoloop("serve", "observation", variables={"TAOLOOP_TELEMETRY__METRICS_PORT": "0", **variables})
    assert done.returncode == 1
    told = [line for line in done.stderr.splitlines() if not line.startswith("{")]
    assert len(told) == 1
    assert said in told[0]


async def _get(address: str, path: str) -> str:
    host, _, port = address.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    reply = await reader.read()
    writer.close()
    return reply.decode()


def test_names_that_do_not_exist_are_a_usage_error() -> None:
    done = taoloop("serve", "everything")
    assert done.returncode == 2
    assert "thought-worker" in done.stderr
    assert json.dumps("Traceback") not in done.stderr
