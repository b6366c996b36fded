"""The load tester against a whole stack, as a user starts it: its report, its limits, its end by Ctrl-C."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import pytest_asyncio

from taoloop.core.telemetry import names
from taoloop.testing.ports import free_ports
from taoloop.testing.stack import DevStack, StackOptions, dev_stack
from tests.e2e.waiting import eventually

CHECKOUT = Path(__file__).parents[2]
MIX = CHECKOUT / "loadtest" / "mix.yaml"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack() -> AsyncIterator[DevStack]:
    async with dev_stack(StackOptions(catalogue=CHECKOUT / "examples" / "customer-service")) as running:
        yield running


async def started(address: str, *options: str, tasks: Path = MIX) -> Process:
    arguments = ["--address", address, "--tasks", str(tasks), *options]
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "loadtest", "run", *arguments, cwd=CHECKOUT, stdout=PIPE, stderr=PIPE
    )


async def finished(process: Process) -> tuple[int, str, str]:
    output, errors = await process.communicate()
    assert process.returncode is not None
    return process.returncode, output.decode(), errors.decode()


def read_report(path: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(path.read_text("utf-8"))
    schema = json.loads((CHECKOUT / "loadtest" / "report.schema.json").read_text("utf-8"))
    jsonschema_rs.Draft202012Validator(schema, validate_formats=True).validate(report)
    return report


@pytest.mark.asyncio(loop_scope="module")
async def test_mix_is_sent_at_the_rate_and_every_arrival_is_accounted_for(stack: DevStack, tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    options = ["--rate", "10", "--warm-up", "0.5", "--duration", "2", "--seed", "4", "--json", str(out)]
    code, output, errors = await finished(
        await started(stack.loop_address, *options, "--max-error-share", "0", "--max-unexpected-share", "0")
    )
    report = read_report(out)

    assert (code, errors) == (0, ""), output
    assert report["arrivals"] == {"scheduled": 20, "sent": 20, "ended": 20, "abandoned": 0}
    assert sum(found["count"] for found in report["outcomes"].values()) == 20
    assert report["errors"] == {}
    assert report["latency_seconds"]["count"] == 20
    assert 0 < report["latency_seconds"]["p50"] <= report["latency_seconds"]["max"]


@pytest.mark.asyncio(loop_scope="module")
async def test_broken_limit_is_named_and_ends_in_status_1(stack: DevStack, tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    options = ["--rate", "10", "--duration", "0.5", "--max-p99", "0.001", "--json", str(out)]
    code, output, _ = await finished(await started(stack.loop_address, *options))

    assert code == 1
    assert "BROKEN" in output
    assert len(read_report(out)["broken_thresholds"]) == 1


@pytest.mark.asyncio(loop_scope="module")
async def test_ctrl_c_prints_what_there_is_and_leaves_no_run_behind(stack: DevStack, tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    assert stack.mock is not None
    before = stack.mock.calls.total()
    process = await started(stack.loop_address, "--rate", "50", "--duration", "60", "--json", str(out))

    async def is_sending() -> bool:
        assert stack.mock is not None
        return stack.mock.calls.total() >= before + 5

    await eventually(is_sending, "calls of the tools")
    process.send_signal(signal.SIGINT)
    code, output, _ = await finished(process)

    async def is_idle() -> bool:
        open_runs: float = stack.telemetry.metrics.gauge(names.OPEN_RUNS)._value.get()
        return open_runs == 0

    await eventually(is_idle, "the end of every run")  # the service ends them after the calls were closed

    assert code == 130
    assert "interrupted" in output
    report = read_report(out)
    assert report["is_interrupted"] is True
    assert report["arrivals"]["abandoned"] == report["arrivals"]["sent"] - report["arrivals"]["ended"]


async def test_address_where_nobody_answers_is_named(tmp_path: Path) -> None:
    address = f"127.0.0.1:{free_ports(1)[0]}"
    code, output, errors = await finished(await started(address, "--rate", "1", "--duration", "1"))

    assert (code, output) == (2, "")
    assert address in errors
    assert "Traceback" not in errors


async def test_file_that_cannot_be_used_is_named_before_anything_is_sent(tmp_path: Path) -> None:
    tasks = tmp_path / "tasks.yaml"
    code, _, errors = await finished(await started("127.0.0.1:1", "--rate", "1", "--duration", "1", tasks=tasks))

    assert (code, errors) == (2, f"loadtest: {tasks}: No such file or directory.\n")
