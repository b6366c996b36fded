"""The callers: each places its orders and repeats what was not answered, as the loop does."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import TaoError
from taoloop.core.ids import new_id
from taoloop.plan.acting import ActionResult, ActionStatus, ExecuteRequest, Provenance
from taoloop.plan.task import Permissions
from taoloop.tools.signature import Effect, Trust
from taoloop.wire.clients import ActionClient
from tests.chaos.catalogue import WRITES

TENANT = "chaos"
CALL_SECONDS = 5.0
CLOCK = SystemClock()
REPEATED = frozenset({"UNAVAILABLE", "DEADLINE_EXCEEDED", "ABORTED", "CANCELLED"})
"""gRPC codes after which the caller makes the same call again."""


@dataclass(frozen=True)
class Order:
    """One order that is to be placed once."""

    order_key: str
    request: ExecuteRequest


@dataclass
class Placed:
    """What the callers were told.

    Attributes:
        results: Order key → every result that came, in order.
        repeats: gRPC code → how often a call was made again after it.
        surprises: Errors that no caller should see.
    """

    results: dict[str, list[ActionResult]] = field(default_factory=dict)
    repeats: Counter[str] = field(default_factory=Counter)
    surprises: list[str] = field(default_factory=list)


def orders(count: int, random: Random) -> list[Order]:
    """Return so many orders, five to a run."""
    made = []
    run_id = ""
    for number in range(count):
        if number % 5 == 0:
            run_id = new_id(CLOCK)
        order_key = f"order-{number:06}"
        request = ExecuteRequest(
            request_id=new_id(CLOCK),
            run_id=run_id,
            thought_id=new_id(CLOCK),
            iteration=1,
            step_id=f"1.t{number % 5 + 1}",
            tool=random.choice(list(WRITES)),
            arguments={"order_key": order_key},
            provenance=(Provenance(pointer="/order_key", source="state_path", trust=Trust.TRUSTED),),
            permissions=Permissions(max_effect=Effect.WRITE),
        )
        made.append(Order(order_key, request))
    return made


async def place(
    wanted: Sequence[Order], clients: Sequence[ActionClient], parallel: int, seconds: float, random: Random
) -> Placed:
    """Place the orders, so many at a time; when so many seconds are over, no further one is begun."""
    placed = Placed()
    waiting = iter(wanted)
    last = CLOCK.monotonic() + seconds

    async def caller() -> None:
        for order in waiting:
            await _place(order, clients, placed, random)
            if CLOCK.monotonic() >= last:
                return

    async with asyncio.TaskGroup() as group:
        for number in range(parallel):
            group.create_task(caller(), name=f"caller {number}")
    return placed


async def _place(order: Order, clients: Sequence[ActionClient], placed: Placed, random: Random) -> None:
    results = placed.results.setdefault(order.order_key, [])
    if random.random() < 0.1:  # a caller that was taken over, and the one that took over, at the same time
        both = (_until_answered(order, [client], placed, random) for client in clients[:2])
        results.extend(await asyncio.gather(*both))
        return
    results.append(await _until_answered(order, clients, placed, random))
    if results[-1].status is ActionStatus.OUTCOME_UNKNOWN or random.random() < 0.1:
        # It must not be made again, whoever asks and whatever came of it.
        results.append(await _until_answered(order, clients, placed, random))


async def _until_answered(
    order: Order, clients: Sequence[ActionClient], placed: Placed, random: Random
) -> ActionResult:
    while True:
        call = CallContext(deadline=Deadline.after(CALL_SECONDS, CLOCK), tenant=TENANT)
        try:
            return await random.choice(clients).execute(order.request, call)
        except TaoError as error:
            if error.code not in REPEATED:
                placed.surprises.append(f"{order.order_key}: {error.code} {error.reason}: {error.message}")
                raise
            placed.repeats[error.code] += 1
        await asyncio.sleep(random.uniform(0.1, 0.8))
