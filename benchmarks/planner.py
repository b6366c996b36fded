"""How many plans the graph planner makes a second, and how long the slowest take, on generated requests."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from taoloop.evaluation.planning.cases import PlanningCase
from taoloop.evaluation.planning.predicting import request_of, signatures
from taoloop.evaluation.planning.provenance import generated_cases
from taoloop.plan.thinking import ThinkRequest
from taoloop.thought.planners.graph import GraphPlanner
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.signature import ToolSignature

SEED: Final = 5
CORES: Final = 2
FEW_TOOLS: Final = 12
MANY_TOOLS: Final = 500
_WARM_UP: Final = 20


@dataclass(frozen=True, slots=True)
class Plan:
    """What one plan cost: by the clock, and of the processor."""

    seconds: float
    processor_seconds: float


def main() -> None:
    """Print the figures of each catalogue size, and one JSON object in the last line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=600, help="How many requests each process plans.")
    options = parser.parse_args()
    cases = generated_cases(SEED, options.requests)
    with multiprocessing.get_context("fork").Pool(CORES) as pool:
        few = [plan for plans in pool.starmap(_planned, [(cases, FEW_TOOLS)] * CORES) for plan in plans]
    many = _planned(cases[: max(100, options.requests // 3)], MANY_TOOLS)
    print(f"{FEW_TOOLS} tools: {_shown(few)}; {MANY_TOOLS} tools: {_shown(many)}")
    figures = {
        "graph_plans_per_second": round(CORES * len(few) / sum(plan.processor_seconds for plan in few), 1),
        "graph_p50_ms": _percentile_ms(few, 0.5),
        "graph_p99_ms": _percentile_ms(few, 0.99),
        "graph_p99_processor_ms": _percentile_ms(few, 0.99, of_processor=True),
        "graph_mean_ms_500_tools": round(1000 * sum(plan.seconds for plan in many) / len(many), 2),
        "graph_p99_ms_500_tools": _percentile_ms(many, 0.99),
        "graph_mean_processor_ms_500_tools": round(1000 * sum(p.processor_seconds for p in many) / len(many), 2),
        "requests": options.requests,
        "cores": CORES,
    }
    print(json.dumps(figures))


def _planned(cases: Sequence[PlanningCase], tools: int) -> list[Plan]:
    """Plan every request against a catalogue of so many tools that holds its own.

    Twelve tools are compiled anew for each request, which is not timed; five hundred are compiled once.
    """
    offered = _all_tools()
    rng = Random(SEED)
    planner: GraphPlanner | None = None
    spent = []
    for number, case in enumerate(cases):
        if planner is None or tools < MANY_TOOLS:
            own = {tool.name: tool for tool in signatures(case.tools)}
            others = [tool for tool in offered if tool.name not in own]
            chosen = [*own.values(), *rng.sample(others, max(0, tools - len(own)))]
            planner = GraphPlanner(Catalogue.from_signatures(chosen, name="bench"))
        plan = _timed(planner, request_of(case))
        if number >= _WARM_UP:
            spent.append(plan)
    return spent


def _timed(planner: GraphPlanner, request: ThinkRequest) -> Plan:
    began, processor = time.perf_counter(), time.thread_time()
    planner.plan(request)
    return Plan(time.perf_counter() - began, time.thread_time() - processor)


def _all_tools() -> list[ToolSignature]:
    """Return five hundred different tools of the generator, under names of their own where two would share one."""
    found: dict[str, ToolSignature] = {}
    for case in generated_cases(SEED + 1, 4 * MANY_TOOLS):
        for tool in signatures(case.tools):
            found.setdefault(tool.name, tool)
            if len(found) >= MANY_TOOLS:
                return list(found.values())
    return list(found.values())


def _percentile_ms(plans: Sequence[Plan], share: float, *, of_processor: bool = False) -> float:
    seconds = sorted(plan.processor_seconds if of_processor else plan.seconds for plan in plans)
    return round(1000 * seconds[min(len(seconds) - 1, int(share * len(seconds)))], 2)


def _shown(plans: Sequence[Plan]) -> str:
    half, most = _percentile_ms(plans, 0.5), _percentile_ms(plans, 0.99)
    return f"{len(plans)} plans, median {half} ms, p99 {most} ms"


if __name__ == "__main__":
    main()
