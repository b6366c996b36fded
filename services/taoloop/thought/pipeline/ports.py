"""What the pipeline needs of the world: planners that compute and planners that are asked, and a choice among them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from taoloop.models.ports import ChatModel
from taoloop.plan.thinking import ThinkRequest
from taoloop.thought.pipeline.rungs import Rung
from taoloop.thought.pipeline.selecting import Selection
from taoloop.thought.planners.graph import GraphPlanner, PlannerReply


class GraphRunner(Protocol):
    """Runs the graph planner where its computing holds nobody up."""

    @property
    def name(self) -> str:
        """Return name and version of the planner, such as `graph/1`."""
        ...

    async def plan(self, request: ThinkRequest) -> PlannerReply:
        """Decide on one request; every text gives a reply."""
        ...


class InThread:
    """A `GraphRunner` in threads of this process.

    Args:
        planner: Decides; it keeps no state, so that any number of threads may ask it at once.
    """

    def __init__(self, planner: GraphPlanner) -> None:
        self._planner = planner

    @property
    def name(self) -> str:
        """See `GraphRunner.name`."""
        return self._planner.name

    async def plan(self, request: ThinkRequest) -> PlannerReply:
        """See `GraphRunner.plan`."""
        return await asyncio.to_thread(self._planner.plan, request)

    def __repr__(self) -> str:
        return f"<InThread {self._planner.name}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanningModel:
    """A language model that plans.

    Attributes:
        rung: Where it stands in the ladder of planners.
        model: Replies.
        timeout_seconds: Its own limit for one reply.
        is_ready: Tells whether it can be asked now.
    """

    rung: Rung
    model: ChatModel
    timeout_seconds: float
    is_ready: Callable[[], bool] = lambda: True

    def __repr__(self) -> str:
        return f"<PlanningModel {self.rung} {self.model.name}>"


class ModelChoice(Protocol):
    """Chooses where on the ladder of models a request begins."""

    def choose(
        self, models: Sequence[PlanningModel], selection: Selection, request: ThinkRequest, prompt_tokens: int
    ) -> Rung | None:
        """Return the rung of the first model to ask; None when none fits.

        Args:
            models: Those that can be asked now, in order, at least one.
            selection: The tools that are offered.
            request: What is to be thought about.
            prompt_tokens: An estimate of the prompt's length.
        """
        ...


class FirstModel:
    """A `ModelChoice` that begins at the bottom of the ladder."""

    def choose(
        self,
        models: Sequence[PlanningModel],
        selection: Selection,  # noqa: ARG002 - the port's
        request: ThinkRequest,  # noqa: ARG002 - the port's
        prompt_tokens: int,  # noqa: ARG002 - the port's
    ) -> Rung | None:
        """See `ModelChoice.choose`."""
        return models[0].rung
