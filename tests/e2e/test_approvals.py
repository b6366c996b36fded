"""A person gives leave by the command line, and the run goes on."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from taoloop.core.exact_json import loads
from tests.e2e.processes import CATALOGUE, Running, json_lines, taoloop
from tests.e2e.test_dev import started

TASK = "订单 20260308000012345 的快递到哪里了？"
GUARDED = '{"===": [{"var": "tool"}, "get_shipment"]}'


@pytest.fixture
def guarded_dev(tmp_path: Path) -> Iterator[Running]:
    """A `taoloop dev` whose operator wants to be asked about one tool."""
    running = Running.start(
        *("dev", str(CATALOGUE), "--data", str(tmp_path / "data"), "--ports", "0", "--json"),
        variables={"TAOLOOP_APPROVAL__WHEN": GUARDED},
    )
    yield running
    running.stop()


@pytest.mark.timeout(120)
async def test_a_run_waits_for_leave_and_goes_on_with_it(guarded_dev: Running) -> None:
    addresses = await started(guarded_dev)
    loop, action = addresses["loop"], addresses["action"]
    asked = await asyncio.to_thread(taoloop, "run", TASK, "--address", loop, "--json")
    last = loads(asked.stdout.splitlines()[-1])
    assert isinstance(last, dict)
    assert last["body"]["outcome"] == "needs_approval", asked.stdout + asked.stderr  # type: ignore[index, call-overload]
    (waiting,) = json_lines((await _taoloop("approvals", "list", "--address", action, "--json")).stdout)
    assert (waiting["tool"], waiting["state"]) == ("get_shipment", "open")
    table = await _taoloop("approvals", "list", "--address", action)
    assert waiting["approval_id"] in table.stdout

    both = ("--address", action, "--loop-address", loop)
    approved = await _taoloop("approvals", "approve", waiting["approval_id"], "--by", "anna", *both)
    assert approved.returncode == 0, approved.stderr
    assert f"run {waiting['run_id']} goes on" in approved.stdout
    watched = await _taoloop("watch", waiting["run_id"], "--address", loop, "--json")
    bodies = [line["body"] for line in json_lines(watched.stdout)]
    assert bodies[-1]["outcome"] == "answered", watched.stdout
    (used,) = json_lines((await _taoloop("approvals", "list", "--state", "all", "--address", action, "--json")).stdout)
    assert (used["state"], used["decided_by"], bool(used["effect_id"])) == ("approved", "anna", True)

    late = await _taoloop("approvals", "reject", waiting["approval_id"], "--by", "bob", *both)
    assert (late.returncode, "is approved; that stands" in late.stdout) == (1, True)
    unknown = await _taoloop("approvals", "approve", "0" * 32, *both)
    assert unknown.returncode == 1
    assert "There is no approval" in unknown.stderr


async def _taoloop(*arguments: str) -> subprocess.CompletedProcess[str]:
    return await asyncio.to_thread(taoloop, *arguments)
