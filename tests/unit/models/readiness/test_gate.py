"""A model that is asked only while its server will do."""

import asyncio
from dataclasses import replace

import pytest

from taoloop.core.deadlines import Deadline
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.models.ports import ChatMessage, ChatRequest, ModelFailed, ModelFailureKind, Role
from taoloop.models.profiles import ModelProfile
from taoloop.models.readiness.gate import GateOptions, ReadyChatModel, Standing, can_be_asked, watched
from taoloop.models.readiness.probing import Probe
from taoloop.testing.chat.probe import ServedModel
from taoloop.testing.chat.scripted_model import ScriptedChatModel
from taoloop.testing.clock import FakeClock
from tests.unit.models.readiness.played import PlayedModel, away

REQUEST = ChatRequest(messages=(ChatMessage(Role.USER, "hello"),), max_tokens=10)
PROFILE = ModelProfile(max_top_logprobs=20)


class Watched:
    """A gate before a scripted model, with a played server behind its probe."""

    def __init__(self, *replies: str | ModelFailed, served: ServedModel | None = None) -> None:
        self.clock = FakeClock()
        self.telemetry = Telemetry.build(TelemetrySettings(), "test")
        self.server = PlayedModel(served or ServedModel())
        self.model = ScriptedChatModel(replies or ("hi",), PROFILE)
        self.gate = ReadyChatModel(
            self.model,
            self.server,
            Probe(self.server, PROFILE, 1024, self.clock),
            GateOptions(purpose="planner", again_seconds=10.0),
            self.telemetry,
            self.clock,
        )

    async def ask(self) -> str:
        return (await self.gate.complete(REQUEST, Deadline.after(5.0, self.clock))).text

    async def failure(self) -> ModelFailed:
        with pytest.raises(ModelFailed) as failed:
            await self.ask()
        return failed.value

    def shows(self, line: str) -> bool:
        return line in self.telemetry.metrics.exposition()

    async def pass_a_round(self) -> None:
        """Let the keeper fall asleep, wake it, and let it look."""
        await _settled()
        assert self.clock.sleepers == 1
        self.clock.advance(10.0)
        await _settled()


async def _settled() -> None:
    """Let every task run until it waits."""
    for _ in range(50):
        await asyncio.sleep(0)


def failed_by(kind: ModelFailureKind, status_code: int = 0) -> ModelFailed:
    return ModelFailed(kind, "It failed.", status_code=status_code)


async def test_nothing_is_asked_before_a_probe_has_passed() -> None:
    watch = Watched()
    failed = await watch.failure()
    assert (failed.kind, failed.is_retriable, failed.retry_after_seconds) == (ModelFailureKind.NOT_READY, True, 10.0)
    assert not watch.model.requests
    assert watch.shows('taoloop_model_ready{purpose="planner"} 0.0')


async def test_a_keeper_looks_at_once_and_who_waits_for_the_first_look_is_told() -> None:
    watch = Watched()
    assert not can_be_asked(watch.gate)
    async with watched(watch.gate):
        await watch.gate.first_look(5.0)
        assert can_be_asked(watch.gate)
        assert await watch.ask() == "hi"


async def test_who_waits_for_a_look_that_never_ends_goes_on() -> None:
    watch = Watched()
    await watch.gate.first_look(0.01)
    assert watch.gate.standing is Standing.UNKNOWN


def test_a_model_that_nobody_probes_is_believed() -> None:
    assert can_be_asked(ScriptedChatModel(["hi"]))


async def test_a_server_that_passes_is_asked() -> None:
    watch = Watched()
    report = await watch.gate.look()
    assert report is not None
    assert await watch.ask() == "hi"
    assert watch.shows('taoloop_model_ready{purpose="planner"} 1.0')
    assert watch.shows('taoloop_model_probes_total{outcome="ready",purpose="planner"} 1.0')
    assert watch.shows('taoloop_model_degraded{capability="seed",purpose="planner"} 0.0')


async def test_what_a_server_lacks_is_told_and_left_out_and_it_is_asked_all_the_same() -> None:
    watch = Watched(served=ServedModel(repeats=False))
    await watch.gate.look()
    assert await watch.ask() == "hi"
    assert watch.server.adopted == replace(PROFILE, takes_seed=False)
    assert watch.shows('taoloop_model_degraded{capability="seed",purpose="planner"} 1.0')
    assert watch.shows('taoloop_model_probes_total{outcome="degraded",purpose="planner"} 1.0')


async def test_another_model_than_that_of_the_settings_is_never_asked() -> None:
    watch = Watched(served=ServedModel(names=("other",)))
    await watch.gate.look()
    assert watch.gate.standing is Standing.MISMATCHED
    assert (await watch.failure()).kind is ModelFailureKind.NOT_READY
    assert watch.shows('taoloop_model_probes_total{outcome="mismatch",purpose="planner"} 1.0')


async def test_a_server_that_is_away_is_probed_until_it_is_there() -> None:
    watch = Watched()
    watch.server.failure = away()
    assert await watch.gate.look() is None
    async with watched(watch.gate):
        await watch.pass_a_round()
        assert watch.gate.standing is Standing.AWAY
        watch.server.failure = None
        await watch.pass_a_round()
        assert await watch.ask() == "hi"
    assert watch.shows('taoloop_model_probes_total{outcome="unreachable",purpose="planner"} 2.0')


@pytest.mark.parametrize(
    ("failure", "calls"),
    [
        (failed_by(ModelFailureKind.UNREACHABLE), 1),
        (failed_by(ModelFailureKind.TIMEOUT), 3),
        (failed_by(ModelFailureKind.REFUSED, 500), 3),
        (failed_by(ModelFailureKind.UNREACHABLE, 200), 3),
    ],
)
async def test_a_server_whose_calls_fail_by_its_fault_is_probed_at_once(failure: ModelFailed, calls: int) -> None:
    watch = Watched(failure)
    await watch.gate.look()
    watch.server.failure = away()
    async with watched(watch.gate):
        for _ in range(calls):
            await _settled()
            assert await watch.failure() is failure
        await _settled()
        assert (await watch.failure()).kind is ModelFailureKind.NOT_READY


async def test_a_server_that_passes_and_fails_by_turns_is_not_probed_without_end() -> None:
    watch = Watched(failed_by(ModelFailureKind.UNREACHABLE))
    await watch.gate.look()
    async with watched(watch.gate):
        for _ in range(5):
            await watch.failure()
            await _settled()
        assert watch.shows('taoloop_model_probes_total{outcome="ready",purpose="planner"} 2.0')
        watch.clock.advance(10.0)
        await _settled()
        assert watch.shows('taoloop_model_probes_total{outcome="ready",purpose="planner"} 3.0')


@pytest.mark.parametrize(
    "failure",
    [
        failed_by(ModelFailureKind.REFUSED, 400),
        failed_by(ModelFailureKind.REFUSED, 429),
        failed_by(ModelFailureKind.CUT_OFF, 200),
        failed_by(ModelFailureKind.EMPTY, 200),
        failed_by(ModelFailureKind.TOO_LARGE),
    ],
)
async def test_a_call_that_fails_by_the_requests_fault_says_nothing_about_the_server(failure: ModelFailed) -> None:
    watch = Watched(failure)
    await watch.gate.look()
    async with watched(watch.gate):
        for _ in range(5):
            assert await watch.failure() is failure
        await asyncio.sleep(0)
        assert (watch.gate.standing, watch.clock.sleepers) == (Standing.READY, 0)


async def test_a_reply_between_failures_clears_the_server() -> None:
    late = failed_by(ModelFailureKind.TIMEOUT)
    watch = Watched(late, late, "hi", late, late, "hi")
    await watch.gate.look()
    async with watched(watch.gate):
        for _ in range(2):
            await watch.failure()
            await watch.failure()
            assert await watch.ask() == "hi"
        await asyncio.sleep(0)
        assert watch.clock.sleepers == 0
    assert repr(watch.gate) == "<ReadyChatModel scripted ready failures=0>"
