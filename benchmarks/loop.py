"""What a run of two steps costs the services, and what its log costs beside bare pipelined XADDs of the same bytes.

The last line is one JSON object; docs/benchmarks.md explains its keys.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from benchmarks.deployment import deployed
from benchmarks.processor_time import Spread
from benchmarks.skeleton import (
    CATALOGUE,
    LIMIT_SECONDS,
    TASK,
    TASKS,
    Caller,
    Figures,
    Options,
    beside,
    group_of,
    measure_runs,
    measure_stage,
    options_of,
    spreads_of,
    stages_on,
)

FORM: Final = "taoloop.benchmark.loop/v1"
_STAGES: Final = frozenset({"log_encode", "log_append", "bare_append"})


def main() -> None:
    """Measure, show a table, and end with one line of JSON."""
    options = options_of("python -m benchmarks.loop", __doc__)
    if options.concurrency < 2:
        sys.exit("the server's share of an append is measured with --concurrency 2 and above")
    print(json.dumps(_result(options, spreads_of(_measured, options, digits=2))))


async def _measured(options: Options, directory: Path) -> Figures:
    figures: Figures = defaultdict(list)
    # A part that hangs is an error that ends everything, not a benchmark that never does.
    async with asyncio.timeout(LIMIT_SECONDS), AsyncExitStack() as stack:
        deployment = await stack.enter_async_context(deployed(CATALOGUE, directory, options.settings))
        arguments = [deployment.loop_address, deployment.loop_address, str(TASKS), TASK]
        asked = stack.enter_context(beside("caller", arguments, options, directory, is_asked=True))
        caller = Caller(asked, directory / "caller.log")
        stages = await stack.enter_async_context(stages_on(deployment, options.concurrency))
        wanted = [stage for stage in stages if stage.name in _STAGES]
        await caller.ask("runs", options.runs // 2 + options.concurrency, options.concurrency)
        for _ in range(options.rounds):
            await measure_runs(caller, deployment, options, figures)
            for stage in wanted:
                await measure_stage(stage, deployment, figures)
            _note_ratio(figures)
    return figures


def _note_ratio(figures: Figures) -> None:
    """Note the ratio of one round, in which both sides met the same machine."""
    ours, bare = (
        figures[f"stage.{name}"][-1] + figures[f"stage.{name}.valkey"][-1] for name in ("log_append", "bare_append")
    )
    figures["append_ratio"].append(ours / bare)


def _result(options: Options, spreads: Mapping[str, Spread]) -> dict[str, object]:
    services = spreads["run_services"]
    return {
        "form": FORM,
        "task": TASK,
        "rounds": options.rounds,
        "runs_per_round": options.runs,
        "concurrency": options.concurrency,
        "settings": dict(options.settings),
        "cpu_ms_per_two_step_run": round(services.median / 1000, 3),
        "cpu_ms_per_two_step_run_spread": [round(services.low / 1000, 3), round(services.high / 1000, 3)],
        "append_ratio": round(spreads["append_ratio"].median, 2),
        "append_ratio_spread": [round(spreads["append_ratio"].low, 2), round(spreads["append_ratio"].high, 2)],
        "process_us": group_of("process", spreads),
        "append_us": group_of("stage", spreads),
    }


if __name__ == "__main__":
    main()
