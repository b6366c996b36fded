"""`taoloop dev`: everything in one process, gone after Ctrl-C."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psutil
import pytest
import pytest_asyncio

from taoloop.testing.mock_tools import FaultProfile
from taoloop.testing.stack import StackOptions, dev_stack
from tests.e2e.processes import CATALOGUE, PROGRAM, Running, environment, json_lines, taoloop
from tests.e2e.waiting import eventually, is_serving


def begun(data: Path) -> Running:
    """Start a `taoloop dev` on free ports."""
    return Running.start("dev", str(CATALOGUE), "--data", str(data), "--ports", "0", "--json")


@pytest.fixture
def dev(tmp_path: Path) -> Iterator[Running]:
    """A `taoloop dev` that a test may stop."""
    running = begun(tmp_path / "data")
    yield running
    running.stop()


@pytest.fixture(scope="module")
def shared_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data directory of the one that no test stops."""
    return tmp_path_factory.mktemp("dev") / "data"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(shared_data: Path) -> AsyncIterator[dict[str, str]]:
    """The addresses of a `taoloop dev` that no test stops, so that all share it."""
    running = begun(shared_data)
    try:
        yield await started(running)
    finally:
        running.stop()


async def started(running: Running) -> dict[str, str]:
    """Return the addresses that it printed, when it serves."""

    async def has_told() -> bool:
        assert running.process.poll() is None, running.told()
        return bool(running.out)

    await eventually(has_told, "the first line")
    addresses: dict[str, str] = json.loads(running.out[0])
    assert await is_serving(addresses["loop"])
    return addresses


async def test_ctrl_c_stops_everything_and_leaves_no_process(dev: Running) -> None:
    addresses = await started(dev)
    children = psutil.Process(dev.process.pid).children(recursive=True)
    assert any("valkey" in child.name() for child in children)
    assert dev.stop(signal.SIGINT) == 0, dev.told()
    assert not any(child.is_running() for child in children)
    assert not await is_serving(addresses["loop"])


async def test_a_process_that_is_killed_takes_valkey_with_it(dev: Running) -> None:
    await started(dev)
    children = psutil.Process(dev.process.pid).children(recursive=True)
    dev.process.kill()

    async def are_gone() -> bool:
        return not any(child.is_running() for child in children)

    await eventually(are_gone, "the end of Valkey")


async def test_a_second_signal_stops_at_once_and_still_leaves_no_process(dev: Running) -> None:
    await started(dev)
    children = psutil.Process(dev.process.pid).children(recursive=True)
    dev.send(signal.SIGINT)
    assert dev.stop(signal.SIGINT) in {0, 130}, dev.told()
    assert not any(child.is_running() for child in children)


async def test_runs_survive_a_restart_with_the_same_data_directory(dev: Running, tmp_path: Path) -> None:
    addresses = await started(dev)
    done = taoloop("run", "随便问问", "--address", addresses["loop"], "--json")
    assert done.returncode == 4, done.stdout + done.stderr
    run_id = json.loads(done.stdout.splitlines()[0])["run_id"]
    assert dev.stop(signal.SIGINT) == 0
    again = begun(tmp_path / "data")
    try:
        addresses = await started(again)
        watched = taoloop("watch", run_id, "--address", addresses["loop"], "--json")
        assert watched.stdout == done.stdout
    finally:
        again.stop()


@pytest.mark.usefixtures("served")
def test_two_on_one_data_directory_are_refused(shared_data: Path) -> None:
    done = taoloop("dev", str(CATALOGUE), "--data", str(shared_data), "--ports", "0")
    assert done.returncode == 1
    assert "Another process uses the data directory" in done.stderr


async def test_run_on_a_terminal_asks_for_what_is_missing_and_goes_on(served: dict[str, str]) -> None:
    primary, secondary = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        *(PROGRAM, "run", "How many keyboards are in stock in the warehouse?", "--address", served["loop"]),
        stdin=secondary,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=environment(),
    )
    os.close(secondary)
    os.write(primary, b"KB-2041\n")
    out, _ = await asyncio.wait_for(process.communicate(), 30.0)
    os.close(primary)
    assert process.returncode == 0, out.decode()
    assert "128" in out.decode()


async def test_ctrl_c_during_a_run_is_130_and_cancels_it() -> None:
    held = FaultProfile(latency_seconds=20.0)
    options = StackOptions(catalogue=CATALOGUE, mock_profile=held)
    async with dev_stack(options) as stack:
        running = Running.start(
            "run", "订单 20260308000012345 的快递到哪里了？", "--address", stack.loop_address, "--json"
        )

        async def is_called() -> bool:
            assert stack.mock is not None
            return stack.mock.calls.total() > 0

        await eventually(is_called, "the call of the tool")
        assert await asyncio.to_thread(running.stop, signal.SIGINT) == 130, running.told()
        assert "Traceback" not in running.told()

        async def is_cancelled() -> bool:
            listed = await asyncio.to_thread(taoloop, "runs", "--address", stack.loop_address, "--json")
            return [run.get("outcome") for run in json_lines(listed.stdout)] == ["cancelled"]

        await eventually(is_cancelled, "the end of the run")


def test_effects_are_listed_and_an_unknown_one_is_told(served: dict[str, str]) -> None:
    nothing = taoloop("effects", "list", "--address", served["action"], "--json")
    assert (nothing.returncode, nothing.stdout) == (0, "")
    missing = taoloop("effects", "show", "0" * 32, "--address", served["action"])
    assert missing.returncode == 1
    assert "There is no effect" in missing.stderr
    unknown = taoloop("effects", "resolve", "0" * 32, "--took-place", "--by", "anna", "--address", served["action"])
    assert unknown.returncode == 1
    assert "UNKNOWN_EFFECT" in unknown.stderr


def test_cancelling_a_run_that_waits_ends_it(served: dict[str, str]) -> None:
    asked = taoloop("run", "How many keyboards are in stock in the warehouse?", "--address", served["loop"], "--json")
    assert asked.returncode == 3, asked.stdout + asked.stderr
    run_id = json_lines(asked.stdout)[0]["run_id"]
    done = taoloop("cancel", run_id, "--reason", "no longer wanted", "--address", served["loop"], "--json")
    assert json_lines(done.stdout) == [{"run_id": run_id, "outcome": "cancelled"}]
    late = taoloop("input", run_id, "--value", "sku=KB-2041", "--address", served["loop"])
    assert late.returncode == 1
    assert "NOT_WAITING" in late.stderr


def test_health_tells_by_its_exit_code(served: dict[str, str]) -> None:
    assert taoloop("health", served["loop"], "--service", "taoloop.api.v1.LoopService").stdout == "SERVING\n"
    unknown = taoloop("health", served["loop"], "--service", "taoloop.api.v1.NoService")
    assert unknown.returncode == 1
    assert "has no service" in unknown.stderr
