"""What the callers want: one run each, of a kind that chance chooses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Final

from taoloop.plan.task import Permissions, Task, Turn
from taoloop.plan.task import Role as TurnRole
from taoloop.tools.signature import Effect


class Manner(StrEnum):
    """How a caller goes about its run."""

    READ = "read"
    """Reads only."""
    ORDER = "order"
    """Reads, then writes to a server that knows no keys."""
    RESERVE = "reserve"
    """Reads, then writes under a key."""
    APPROVE = "approve"
    """Reads, then writes after a person gave leave."""
    REJECT = "reject"
    """As APPROVE, and leave is denied."""
    ASK = "ask"
    """Leaves a value out, and gives it when asked; then reads and writes."""
    CANCEL = "cancel"
    """As ORDER, and is cancelled at some moment."""


SHARES: Final[Mapping[Manner, int]] = {
    Manner.READ: 20,
    Manner.ORDER: 30,
    Manner.RESERVE: 20,
    Manner.APPROVE: 12,
    Manner.REJECT: 4,
    Manner.ASK: 9,
    Manner.CANCEL: 5,
}
SAID: Final[Mapping[Manner, str]] = {
    Manner.READ: "What is in basket {basket}?",
    Manner.ORDER: "Find basket {basket}, then order the basket",
    Manner.RESERVE: "Look up basket {basket} and reserve the basket",
    Manner.APPROVE: "Look up basket {basket}, then purchase the basket",
    Manner.REJECT: "Look up basket {basket}, then purchase the basket",
    Manner.ASK: "Look up the basket, then order the basket",
    Manner.CANCEL: "Find basket {basket}, then order the basket",
}
STREAMED: Final = 0.15
"""Share of the runs that are started by `Run`, which ends them with its connection, and not by `Submit`."""
WATCHED_TWICE: Final = 0.1
"""Share of the runs that somebody else watches too, from an event in the middle."""


@dataclass(frozen=True, slots=True)
class Wish:
    """One run that is wanted.

    Attributes:
        number: Its number.
        manner: How its caller goes about it.
        task: What is asked of the service; its request id names the wish.
        basket: Number of the basket.
        is_streamed: Whether it is started by `Run`.
        is_watched_twice: Whether somebody else watches it too.
    """

    number: int
    manner: Manner
    task: Task
    basket: str
    is_streamed: bool
    is_watched_twice: bool

    @property
    def order_key(self) -> str:
        """The key under which the receiver counts the order."""
        return f"order-{self.basket}"

    @property
    def may_write(self) -> bool:
        """Whether an order may take effect at all."""
        return self.manner not in (Manner.READ, Manner.REJECT)


def wishes(count: int, random: Random) -> list[Wish]:
    """Return so many wishes."""
    manners = random.choices(list(SHARES), weights=list(SHARES.values()), k=count)
    return [_wish(number, manner, random) for number, manner in enumerate(manners)]


def _wish(number: int, manner: Manner, random: Random) -> Wish:
    basket = f"B{number:06}"
    turn = Turn(role=TurnRole.USER, text=SAID[manner].format(basket=basket))
    task = Task(request_id=f"wish-{number}", turns=(turn,), permissions=Permissions(max_effect=Effect.WRITE))
    is_plain = manner in (Manner.READ, Manner.ORDER, Manner.RESERVE)
    is_streamed = is_plain and random.random() < STREAMED
    return Wish(number, manner, task, basket, is_streamed, random.random() < WATCHED_TWICE)
