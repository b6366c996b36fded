"""A backend on asyncio: a run that asks, its events as they happen, and a run that outlives its caller.

`python asynchronous.py [ADDRESS]`, against `taoloop dev` with the catalogue of examples/customer-service.
"""

import asyncio
import sys
from contextlib import aclosing

from taoloop.client import Answer, AsyncClient, Outcome, StepStarted, TaoError, Task, user_says


async def ask_and_answer(client: AsyncClient) -> None:
    """Start a run that lacks a value, give it, and wait for the answer."""
    result = await client.run("How many keyboards are in stock in the warehouse?")
    while result.outcome is Outcome.NEEDS_INPUT and result.question is not None:
        for field in result.question.fields:
            print("asked for", field.pointer, field.question)
        # A product puts the question to its user; this one knows the answer.
        await client.provide_input(result.run_id, result.question.input_id, {"sku": "KB-2041"})
        result = await client.wait(result.run_id)
    print(result.outcome.value, result.text or result.fault)


async def show_what_happens(client: AsyncClient) -> None:
    """Show the steps of a run while it goes on; leaving the block early would cancel the run."""
    task = Task(turns=user_says("用手机号 13800138000 查订单，然后查它的物流"), time_zone="Asia/Shanghai")
    async with aclosing(client.stream(task, timeout_seconds=30.0)) as events:
        async for event in events:
            match event.body:
                case StepStarted(step_id=step_id, tool=tool):
                    print(event.sequence, "calls", tool, "as", step_id)
                case Answer(text=text):
                    print(event.sequence, "answers", text)


async def start_now_and_follow_later(client: AsyncClient) -> None:
    """Start a run that goes on without its caller, and follow it, as another process could, after a crash too."""
    # The order's own number names the request: whoever starts it again attaches to the same run.
    task = Task(request_id="order-20260308000012345", turns=user_says("订单 20260308000012345 的快递到哪里了？"))
    started = await client.submit(task)
    last_seen = 0
    async for event in client.watch(started.run_id, last_seen + 1):
        last_seen = event.sequence
    result = await client.wait(started.run_id)
    print(result.outcome.value, "after", last_seen, "events:", result.text)


async def main(address: str) -> int:
    """Run all three; the exit code is 1 when the service cannot do its job."""
    try:
        async with AsyncClient(address) as client:
            await ask_and_answer(client)
            await show_what_happens(client)
            await start_now_and_follow_later(client)
    except TaoError as error:
        print(f"{error.reason}: {error.message} {error.remedy}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:7701")))
