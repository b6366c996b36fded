"""Compares the tokens a second of the real vLLM server through front, queue and worker with those of direct calls."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import psutil

from benchmarks.caller import repeat
from benchmarks.hops import opened_front, thought_worker
from benchmarks.processor_time import Spread, used_ns
from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock, SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.ids import new_id
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.models.opening import open_chat_model
from taoloop.models.ports import ChatMessage, ChatModel, ChatRequest, JsonForm
from taoloop.models.ports import Role as ChatRole
from taoloop.models.settings import ChatModelSettings, ProbeMode
from taoloop.plan.task import Role, Turn
from taoloop.plan.thinking import Refusal, RefusalReason, ThinkRequest, ThinkResponse
from taoloop.testing.valkey import EmbeddedValkey
from taoloop.thought.front import ThoughtFront
from tests.vllm.server import MODEL, NAME, PYTHON, VllmServer

CALL_SECONDS: Final = 300.0
MAX_TOKENS: Final = 96
ITEMS: Final = 10
FORM: Final = JsonForm(
    name="counted",
    schema={
        "type": "object",
        "properties": {
            "parts": {
                "type": "array",
                "minItems": ITEMS,
                "maxItems": ITEMS,
                "items": {"type": "string", "enum": ["red", "green", "blue"]},
            }
        },
        "required": ["parts"],
        "additionalProperties": False,
    },
)
"""A reply of a length that is known: what is written without end is cut off, and half a reply is none."""
PROMPTS: Final = tuple(
    f"Parcel PX-{number} left the warehouse on day {number % 28 + 1}. Sort its parts by colour." for number in range(32)
)


@dataclass(frozen=True)
class TokenPlan:
    """How much is measured.

    Attributes:
        rounds: Each has both ways in turn.
        in_flight: Calls at the same time.
    """

    rounds: int = 4
    in_flight: int = 16


@dataclass(frozen=True, slots=True)
class AskingMind:
    """A mind that asks the model with the user's words, and says how many tokens its reply has."""

    model: ChatModel

    async def think(self, request: ThinkRequest, deadline: Deadline, _tenant: str) -> ThinkResponse:
        """See `Mind.think`."""
        tokens = await self.tokens(request.turns[0].text, deadline)
        return ThinkResponse(outcome=Refusal(reason=RefusalReason.NO_TOOL, message=str(tokens)), iteration=1)

    async def tokens(self, prompt: str, deadline: Deadline) -> int:
        """Ask the model; return how many tokens it wrote."""
        messages = (ChatMessage(ChatRole.USER, prompt),)
        reply = await self.model.complete(ChatRequest(messages=messages, max_tokens=MAX_TOKENS, form=FORM), deadline)
        return reply.usage.output_tokens


@dataclass
class Way:
    """One way to the model.

    Attributes:
        ask: Asks with a prompt, and returns the tokens of the reply.
        pids: Of all whose processor time counts.
        per_second: Tokens a second, round by round.
        cpu_ms: Processor time of a token, round by round.
        tokens: In all.
    """

    ask: Callable[[str], Awaitable[int]]
    pids: tuple[int, ...] = ()
    per_second: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)
    tokens: int = 0

    async def measure(self, in_flight: int) -> None:
        """Ask with every prompt."""
        prompts, tokens = iter(PROMPTS), 0

        async def once() -> bool:
            nonlocal tokens
            written = await self.ask(next(prompts))
            tokens += written
            return written > 0

        began, before = time.perf_counter(), sum(map(used_ns, self.pids))
        if await repeat(once, len(PROMPTS), in_flight) != len(PROMPTS):
            raise RuntimeError("the server does not say how many tokens a reply has")
        self.per_second.append(tokens / (time.perf_counter() - began))
        self.cpu_ms.append((sum(map(used_ns, self.pids)) - before) / 1e6 / tokens)
        self.tokens += tokens


@dataclass(frozen=True)
class Served:
    """A server of a model.

    Attributes:
        url: Base URL.
        pids: Its processes; none where somebody else runs it.
    """

    url: str
    pids: tuple[int, ...] = ()


async def compare_tokens(served: Served, plan: TokenPlan) -> dict[str, Any]:
    """Measure both ways in turns; return the figures.

    Args:
        served: The model's server.
        plan: How much.
    """
    clock, telemetry = SystemClock(), Telemetry.build(TelemetrySettings(sample_ratio=0.0), "taoloop-benchmark")
    settings = ChatModelSettings(
        url=served.url,
        model=NAME,
        profile="vllm",
        probe=ProbeMode.OFF,
        timeout_seconds=CALL_SECONDS,
        silence_seconds=CALL_SECONDS,
    )
    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="taoloop-bench-")))
        model = await stack.enter_async_context(open_chat_model(settings, "benchmark", telemetry, clock))
        assert model is not None
        mind = AskingMind(model)
        valkey = await stack.enter_async_context(EmbeddedValkey(directory))
        front = await stack.enter_async_context(opened_front(valkey.url, telemetry, clock))
        await stack.enter_async_context(thought_worker(valkey.url, mind, telemetry, clock, slots=plan.in_flight))
        assert valkey.pid is not None
        pids = (os.getpid(), valkey.pid, *served.pids)
        direct = Way(lambda prompt: mind.tokens(prompt, Deadline.after(CALL_SECONDS, clock)), pids)
        through = Way(lambda prompt: _through(front, prompt, clock), pids)
        for way in (direct, through):  # the prompts are read, so that both find them alike
            await Way(way.ask).measure(plan.in_flight)
        for number in range(plan.rounds):
            for way in (direct, through) if number % 2 else (through, direct):
                await way.measure(plan.in_flight)
    ratios = Spread.of([one / other for one, other in zip(through.per_second, direct.per_second, strict=True)])
    per_token = Spread.of([other / one for one, other in zip(through.cpu_ms, direct.cpu_ms, strict=True)])
    return {
        # Without the server's own time it would be the ratio of something else.
        "vllm_processor_ratio": per_token.as_json(3) if served.pids else None,
        "vllm_ratio": round(ratios.median, 3),
        "vllm_ratio_spread": ratios.as_json(3),
        "vllm_tokens_per_second": Spread.of(through.per_second).as_json(),
        "vllm_direct_tokens_per_second": Spread.of(direct.per_second).as_json(),
        "vllm_tokens": {"through": through.tokens, "direct": direct.tokens},
        "vllm_in_flight": plan.in_flight,
        "vllm_rounds": plan.rounds,
        "vllm_prompts": len(PROMPTS),
    }


async def _through(front: ThoughtFront, prompt: str, clock: Clock) -> int:
    request = ThinkRequest(run_id=new_id(clock), iteration=1, turns=(Turn(role=Role.USER, text=prompt),))
    response = await front.think(request, CallContext(deadline=Deadline.after(CALL_SECONDS, clock)))
    assert isinstance(response.outcome, Refusal)
    return int(response.outcome.message)


@contextmanager
def vllm(wanted: str) -> Iterator[Served | None]:
    """Give the server to measure with; None for none.

    Args:
        wanted: `no`, the base URL of one that runs, or `auto` to start it where it is installed.
    """
    if wanted not in ("auto", "no"):
        yield Served(wanted)
    elif wanted == "no" or not (PYTHON.exists() and MODEL.exists()):
        yield None
    else:
        server = VllmServer()
        server.start()
        try:
            yield Served(server.url, _serving(server.port))
        finally:
            server.stop()


def _serving(port: int) -> tuple[int, ...]:
    """Return the child of this process that was told the port, with all of its own."""
    for child in psutil.Process().children():
        if str(port) in child.cmdline():
            return (child.pid, *(each.pid for each in child.children(recursive=True)))
    return ()
