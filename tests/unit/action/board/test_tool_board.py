"""The board as one replica sees it."""

from __future__ import annotations

from datetime import timedelta

from taoloop.action.attempts import SwitchedOff
from taoloop.action.board.local_board_store import LocalBoardStore
from taoloop.action.board.model import BoardContent, OpenBreaker, Switch
from taoloop.action.board.tool_board import ToolBoard, following
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable
from taoloop.testing.clock import FakeClock


class AwayStore(LocalBoardStore):
    """A store that can go away."""

    is_away = False

    async def read(self, deadline: Deadline) -> BoardContent:
        if self.is_away:
            raise BackendUnavailable("away")
        return await super().read(deadline)


class Replica:
    """A board with what a test may turn."""

    def __init__(self, fixed: dict[str, str] | None = None) -> None:
        self.clock = FakeClock()
        self.store = AwayStore(self.clock)
        self.own: tuple[OpenBreaker, ...] = ()
        self.board = ToolBoard(self.store, fixed or {}, self.clock, every_seconds=1.0)
        self.board.publish_from(lambda: self.own)

    def soon(self) -> Deadline:
        return Deadline.after(5.0, self.clock)

    def breaker(self, seconds: float) -> OpenBreaker:
        return OpenBreaker(tool="pay", endpoint="x", retry_at=self.clock.now() + timedelta(seconds=seconds))


async def test_a_switch_binds_at_once_where_it_was_thrown_and_elsewhere_after_the_next_reading() -> None:
    here = Replica()
    there = ToolBoard(here.store, {}, here.clock, every_seconds=1.0)
    await here.board.switch_off("pay", "audit", "ann", here.soon())
    assert here.board.switch_of("pay") == SwitchedOff("audit")
    assert there.switch_of("pay") is None

    await there.exchange()

    assert there.switch_of("pay") == SwitchedOff("audit")
    assert there.availability("pay").reason == "switched_off: audit"
    await there.switch_on("pay", here.soon())
    await here.board.exchange()
    assert here.board.switch_of("pay") is None
    assert here.board.availability("pay").available


async def test_what_the_settings_switch_off_stays_off() -> None:
    here = Replica({"pay": "not in this region"})
    await here.board.switch_on("pay", here.soon())
    await here.board.exchange()

    assert here.board.switch_of("pay") == SwitchedOff("not in this region")


async def test_an_open_breaker_of_any_replica_makes_the_tool_unavailable_until_its_time() -> None:
    here = Replica()
    there = ToolBoard(here.store, {}, here.clock, every_seconds=1.0)
    here.own = (here.breaker(30.0),)
    await here.board.exchange()
    await there.exchange()
    told = there.availability("pay")
    assert (told.available, told.reason, told.retry_at) == (False, "breaker_open", here.own[0].retry_at)
    assert there.switch_of("pay") is None

    here.clock.advance(31.0)
    assert there.availability("pay").available


async def test_a_breaker_that_closed_is_taken_off_the_board() -> None:
    here = Replica()
    here.own = (here.breaker(30.0),)
    await here.board.exchange()
    here.own = ()
    await here.board.exchange()

    assert (await here.store.read(here.soon())).open_breakers == ()


async def test_while_the_store_is_away_what_was_known_stands() -> None:
    here = Replica()
    await here.board.switch_off("pay", "", "", here.soon())
    await here.board.exchange()
    here.store.is_away = True
    await here.board.exchange()
    await here.board.exchange()
    assert here.board.switch_of("pay") == SwitchedOff()
    assert here.board.availability("pay").reason == "switched_off"
    assert "away" in repr(here.board)

    here.store.is_away = False
    await here.board.exchange()
    assert "up" in repr(here.board)


async def test_the_board_is_read_before_it_is_used_and_then_every_second() -> None:
    here = Replica()
    await here.store.switch_off(Switch(tool="pay"), here.soon())
    async with following(here.board) as board:
        assert board.switch_of("pay") is not None
        await here.store.switch_on("pay", here.soon())
        for _ in range(3):
            await here.clock.sleep(0)
        here.clock.advance(1.0)
        for _ in range(3):
            await here.clock.sleep(0)
        assert board.switch_of("pay") is None
