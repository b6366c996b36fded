"""The graph planner in threads: the event loop goes on, and replies are the planner's own."""

from __future__ import annotations

import threading

from taoloop.plan.thinking import ThinkRequest
from taoloop.thought.pipeline.ports import InThread
from taoloop.thought.planners.graph import GraphPlanner, PlannerReply
from tests.unit.thought.pipeline.rig import CATALOGUE
from tests.unit.thought.planners.model.tools import request_of


class Noting(GraphPlanner):
    """A graph planner that notes where it computes."""

    threads: list[int]

    def plan(self, request: ThinkRequest) -> PlannerReply:
        self.threads = [threading.get_ident()]
        return super().plan(request)


async def test_the_planner_computes_in_another_thread_and_says_the_same() -> None:
    planner = Noting(CATALOGUE)
    runner = InThread(planner)

    reply = await runner.plan(request_of())

    assert planner.threads != [threading.get_ident()]
    assert reply == GraphPlanner(CATALOGUE).plan(request_of())
    assert (runner.name, repr(runner)) == ("graph/1", "<InThread graph/1>")
