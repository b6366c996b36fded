"""`taoloop observe sandbox --thought` and `taoloop tools drift` against running services."""

from __future__ import annotations

import json
from pathlib import Path

from taoloop.testing.stack import StackOptions, dev_stack
from tests.e2e.processes import CATALOGUE
from tests.integration.cli.commands import command

RESPONSE = CATALOGUE / "samples" / "find_order" / "zh-completed.json"


async def test_the_sandbox_asks_a_running_thought_service_and_drift_is_listed(tmp_path: Path) -> None:
    async with dev_stack(StackOptions(catalogue=CATALOGUE, data_directory=tmp_path)) as stack:
        request = "我的手机号是18600001111，查一下我的订单"
        code, out, err = await command(
            *("observe", "sandbox", request, "--catalogue", str(CATALOGUE), "--tool", "find_order"),
            *("--action-response", str(RESPONSE), "--thought", stack.thought_address, "--json"),
        )
        assert code == 0, out + err
        shown = json.loads(out)
        assert shown["verdict"] == "understood"
        assert shown["outcome"]["type"] == "answer"

        code, out, err = await command("tools", "drift", "--address", stack.observation_address)
        assert (code, out.startswith("0 changes")) == (0, True), out + err
