"""Follows one run to its end, asking for what it needs where somebody can answer."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from taoloop.cli.run_options import value_of
from taoloop.cli.run_view import field_words
from taoloop.cli.terminal import ExitCode
from taoloop.core.calls import CallContext
from taoloop.core.exact_json import JsonValue
from taoloop.plan.running import InputRequired, ProvideInputRequest, RunEvent, RunFinished
from taoloop.plan.task import Outcome, ProvidedInput
from taoloop.wire.clients import LoopClient

EXIT_CODES: Final = {
    Outcome.ANSWERED: ExitCode.OK,
    Outcome.NEEDS_INPUT: ExitCode.NEEDS_INPUT,
    Outcome.NO_TOOL: ExitCode.NO_TOOL,
    Outcome.FAILED: ExitCode.RUN_FAILED,
    Outcome.CANCELLED: ExitCode.CANCELLED,
    Outcome.LIMIT_REACHED: ExitCode.LIMIT_REACHED,
    Outcome.NEEDS_APPROVAL: ExitCode.NEEDS_APPROVAL,
    Outcome.NEEDS_HUMAN: ExitCode.NEEDS_HUMAN,
}

Ask = Callable[[str], str]
"""Puts a question to a person and returns the answer."""


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How far a run came.

    Attributes:
        run_id: The run.
        finished: Its last event, when it was seen.
        question: What it waits for, when it does.
    """

    run_id: str = ""
    finished: RunFinished | None = None
    question: InputRequired | None = None

    @property
    def exit_code(self) -> ExitCode:
        """What the command's exit status is."""
        outcome = self.finished.outcome if self.finished is not None else None
        return EXIT_CODES[outcome] if outcome is not None else ExitCode.FAILED


async def follow(events: AsyncIterator[RunEvent], show: Callable[[RunEvent], None]) -> RunEnd:
    """Show every event; return how the run ended or what it waits for."""
    end = RunEnd()
    async for event in events:
        show(event)
        body = event.body
        if isinstance(body, InputRequired):
            end = RunEnd(event.run_id, None, body)
        elif isinstance(body, RunFinished):
            end = RunEnd(event.run_id, body, end.question if body.outcome is Outcome.NEEDS_INPUT else None)
        else:
            end = RunEnd(event.run_id, None, None)
    return end


async def answer(
    client: LoopClient, call: CallContext, end: RunEnd, values: dict[str, JsonValue], show: Callable[[RunEvent], None]
) -> RunEnd:
    """Give a waiting run its values and follow it on."""
    assert end.question is not None
    given = ProvidedInput(input_id=end.question.input_id, values=values)
    reply = await client.provide_input(
        ProvideInputRequest(request_id=uuid.uuid4().hex, run_id=end.run_id, input=given), call
    )
    async with aclosing(client.watch(reply.run_id, reply.next_sequence, call)) as events:
        return await follow(events, show)


async def answer_by_asking(
    client: LoopClient, call: CallContext, end: RunEnd, ask: Ask, show: Callable[[RunEvent], None]
) -> RunEnd:
    """Put every question of the run to a person until it needs nothing more."""
    while end.question is not None:
        values: dict[str, JsonValue] = {}
        for field in end.question.fields:
            # Reading a terminal blocks; the channel's pings go on meanwhile.
            text = await asyncio.to_thread(ask, field_words(field))
            values[field.pointer] = value_of(text, field.schema)
        end = await answer(client, call, end, values, show)
    return end
