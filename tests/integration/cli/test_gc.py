"""`taoloop gc` on a real ledger."""

import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from taoloop.action.ledger.approvals import ApprovalQuery, ApprovalQuestion
from taoloop.action.ledger.effects import EffectIntent, EffectQuery
from taoloop.action.ledger.sql.sql_ledger import sql_ledger
from taoloop.core.clock import SystemClock
from taoloop.plan.effects import EffectState
from taoloop.testing.clock import FakeClock
from tests.unit.cli.conftest import Invoke

INTENT = EffectIntent(
    tenant="acme", run_id="1" * 32, step_id="1.t1", iteration=1, tool="place_order", arguments_hash="a" * 64
)
QUESTION = ApprovalQuestion(
    tenant="acme", run_id="1" * 32, step_id="1.t9", tool="place_order", arguments_hash="a" * 64, expires_in_seconds=60.0
)
STATES = (EffectState.SUCCEEDED, EffectState.FAILED, EffectState.UNKNOWN, EffectState.STARTED)


async def fill(url: str, days_ago: float) -> None:
    """Record an effect in each state, and an approval that has lapsed, at a time in the past."""
    clock = FakeClock(start=SystemClock().now() - timedelta(days=days_ago))
    async with sql_ledger(url, clock) as ledger:
        for number, state in enumerate(STATES):
            intent = replace(INTENT, arguments_hash=f"{number}{days_ago}".ljust(64, "0"))
            effect_id = (await ledger.plan(intent)).entry.effect.effect_id
            await ledger.start(effect_id)
            if state is not EffectState.STARTED:
                await ledger.finish(effect_id, state, "")
        await ledger.approvals.ask(replace(QUESTION, step_id=f"1.d{days_ago}"))


async def left(url: str) -> tuple[list[EffectState], int]:
    async with sql_ledger(url, SystemClock()) as ledger:
        effects = await ledger.list("acme", EffectQuery())
        return sorted(effect.state for effect in effects), len(await ledger.approvals.list("acme", ApprovalQuery()))


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A ledger with entries of ten days and of two hours ago, which the environment names."""
    url = f"sqlite+aiosqlite:///{tmp_path}/ledger.sqlite"
    asyncio.run(fill(url, 10))
    asyncio.run(fill(url, 0.1))
    monkeypatch.setenv("TAOLOOP_LEDGER__URL", url)
    return url


def test_old_settled_effects_and_lapsed_approvals_are_forgotten_and_the_unsettled_kept(
    invoke: Invoke, url: str
) -> None:
    done = invoke("gc", "--older-than", "7d", "--json")
    reply = json.loads(done.out)
    assert (done.code, reply.pop("before") < SystemClock().now().isoformat()) == (0, True)
    assert reply == {"dry_run": False, "effects": 2, "approvals": 1, "unsettled": 2}
    assert asyncio.run(left(url)) == (
        sorted([*STATES, EffectState.UNKNOWN, EffectState.STARTED]),
        1,
    )


def test_a_dry_run_says_the_same_and_forgets_nothing(invoke: Invoke, url: str) -> None:
    before = asyncio.run(left(url))
    done = invoke("gc", "--older-than", "7d", "--dry-run")
    assert done.out.startswith("would forget 2 effects and 1 approvals from before ")
    assert "2 effects are as old and stay, since they are not settled" in done.out
    assert asyncio.run(left(url)) == before


def test_nothing_old_is_said_in_one_line(invoke: Invoke, url: str) -> None:
    done = invoke("gc")
    assert done.out.startswith("forgot 0 effects and 0 approvals")
    assert len(done.out.splitlines()) == 1


@pytest.mark.parametrize(
    ("age", "said"), [("23h", "at least 1d"), ("soon", "one of ms, s, m, h, d"), ("9999999d", "out of range")]
)
def test_an_age_that_is_none_or_that_runs_may_still_need_is_refused(
    invoke: Invoke, url: str, age: str, said: str
) -> None:
    done = invoke("gc", "--older-than", age)
    assert done.code == 2
    assert said in " ".join(done.err.split())


def test_a_mistyped_path_makes_no_new_ledger(invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAOLOOP_LEDGER__URL", f"sqlite+aiosqlite:///{tmp_path}/nope/ledger.sqlite")
    done = invoke("gc")
    assert done.code == 1
    assert "There is no ledger at" in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_url_that_is_none_is_said_to_be_none(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAOLOOP_LEDGER__URL", "ledger")
    assert "The ledger's URL is not a URL." in invoke("gc").err
