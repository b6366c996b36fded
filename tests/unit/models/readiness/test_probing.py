"""What a probe finds."""

from dataclasses import replace

import pytest

from taoloop.core.deadlines import Deadline
from taoloop.models.ports import ChatReply, ChatRequest, ModelFailed, ModelFailureKind, TokenUsage
from taoloop.models.profiles import ModelProfile, Speed, StructuredOutput
from taoloop.models.readiness import facts
from taoloop.models.readiness.model import Capability, ProbeReport
from taoloop.models.readiness.probing import Probe
from taoloop.testing.chat.probe import ServedModel
from taoloop.testing.clock import FakeClock
from tests.unit.models.readiness.played import PlayedModel, away

PROFILE = ModelProfile(max_top_logprobs=20)


async def probed(
    served: ServedModel, profile: ModelProfile = PROFILE, max_reply_tokens: int = 1024
) -> tuple[ProbeReport, PlayedModel]:
    clock, model = FakeClock(), PlayedModel(served)
    return await Probe(model, profile, max_reply_tokens, clock).run(Deadline.after(60.0, clock)), model


def lacking(report: ProbeReport) -> list[Capability]:
    return [one.capability for one in report.mismatches]


async def test_a_server_that_is_what_the_profile_says_passes_with_it() -> None:
    report, _ = await probed(ServedModel(names=("other", "small"), context_tokens=4096))
    assert (report.mismatches, report.is_usable) == ((), True)
    assert report.profile == replace(PROFILE, context_tokens=4096)


async def test_a_server_without_a_list_of_models_is_asked_all_the_same() -> None:
    report, _ = await probed(ServedModel(names=None))
    assert (report.mismatches, report.profile) == ((), PROFILE)


async def test_another_model_is_fatal_and_the_names_that_are_there_are_told() -> None:
    report, model = await probed(ServedModel(names=tuple(f"m{n}" for n in range(9))))
    (mismatch,) = report.mismatches
    assert (mismatch.capability, mismatch.is_fatal, report.is_usable) == (Capability.MODEL, True, False)
    assert mismatch.found == "'m0', 'm1', 'm2', 'm3', 'm4', …"
    assert not model.asked_by


@pytest.mark.parametrize("status", [401, 403])
async def test_a_key_that_is_not_taken_is_fatal(status: int) -> None:
    report, _ = await probed(ServedModel(names=("small",), listing_status=status))
    assert lacking(report) == [Capability.CREDENTIALS]
    assert not report.is_usable


async def test_a_context_that_leaves_no_room_for_a_prompt_is_fatal() -> None:
    report, _ = await probed(ServedModel(names=("small",), context_tokens=1279))
    assert (lacking(report), report.is_usable) == ([Capability.CONTEXT], False)


async def test_a_smaller_context_than_the_settings_say_is_counted_with() -> None:
    report, _ = await probed(
        ServedModel(names=("small",), context_tokens=2048), replace(PROFILE, context_tokens=32_768)
    )
    assert (lacking(report), report.is_usable, report.profile.context) == ([Capability.CONTEXT], True, 2048)


async def test_a_smaller_context_in_the_settings_is_no_mismatch() -> None:
    report, _ = await probed(
        ServedModel(names=("small",), context_tokens=32_768), replace(PROFILE, context_tokens=2048)
    )
    assert (report.mismatches, report.profile.context) == ((), 2048)


@pytest.mark.parametrize(
    ("served", "wanted", "found"),
    [
        (ServedModel(parameters=frozenset()), StructuredOutput.JSON_SCHEMA, StructuredOutput.JSON_MODE),
        (
            ServedModel(parameters=frozenset(), refuses=frozenset({"json_schema", "json_object"})),
            StructuredOutput.JSON_SCHEMA,
            StructuredOutput.NONE,
        ),
        (
            ServedModel(parameters=frozenset({"json_object"}), refuses=frozenset({"json_schema"})),
            StructuredOutput.JSON_SCHEMA,
            StructuredOutput.JSON_MODE,
        ),
        (
            ServedModel(parameters=frozenset(), refuses=frozenset({"structured_outputs"})),
            StructuredOutput.STRUCTURED_OUTPUTS,
            StructuredOutput.JSON_MODE,
        ),
        (ServedModel(refuses=frozenset({"json_object"})), StructuredOutput.JSON_MODE, StructuredOutput.NONE),
    ],
)
async def test_a_form_that_is_ignored_or_refused_is_asked_for_in_the_next_looser_way(
    served: ServedModel, wanted: StructuredOutput, found: StructuredOutput
) -> None:
    report, _ = await probed(served, replace(PROFILE, structured_output=wanted))
    (mismatch,) = report.mismatches
    assert (mismatch.capability, mismatch.expected, mismatch.found) == (
        Capability.STRUCTURED_OUTPUT,
        wanted.value,
        found.value,
    )
    assert (report.profile.structured_output, report.is_usable) == (found, True)


async def test_a_way_that_is_looser_than_the_server_is_left_as_the_settings_say() -> None:
    report, _ = await probed(ServedModel(), replace(PROFILE, structured_output=StructuredOutput.JSON_MODE))
    assert (report.mismatches, report.profile.structured_output) == ((), StructuredOutput.JSON_MODE)


async def test_a_server_that_gives_no_form_in_any_way_is_said_to_have_none() -> None:
    report, _ = await probed(ServedModel(parameters=frozenset(), follows_words=False))
    assert Capability.STRUCTURED_OUTPUT in lacking(report)
    assert report.profile.structured_output is StructuredOutput.NONE


async def test_a_form_filled_with_blanks_is_kept_and_told() -> None:
    report, _ = await probed(ServedModel(fills_with_blanks=True))
    (mismatch,) = report.mismatches
    assert mismatch.capability is Capability.COMPACT
    assert "disable_any_whitespace" in mismatch.remedy
    assert report.profile.structured_output is StructuredOutput.JSON_SCHEMA


@pytest.mark.parametrize(
    ("served", "capability"),
    [
        (ServedModel(is_honest=False), Capability.FACTS),
        (ServedModel(has_usage=False), Capability.USAGE),
        (ServedModel(has_logprobs=False), Capability.LOGPROBS),
        (ServedModel(repeats=False), Capability.SEED),
    ],
)
async def test_each_lack_is_found_by_itself(served: ServedModel, capability: Capability) -> None:
    report, _ = await probed(served)
    assert (lacking(report), report.is_usable) == ([capability], True)


async def test_what_is_lacking_is_left_out_of_the_profile() -> None:
    report, _ = await probed(ServedModel(repeats=False, has_logprobs=False))
    assert lacking(report) == [Capability.SEED, Capability.LOGPROBS]
    assert (report.profile.takes_seed, report.profile.max_top_logprobs) == (False, 0)


async def test_what_the_profile_does_not_promise_is_not_asked_about() -> None:
    profile = replace(PROFILE, takes_seed=False, max_top_logprobs=0)
    report, model = await probed(ServedModel(repeats=False, has_logprobs=False), profile)
    assert report.mismatches == ()
    assert len(model.asked_by) == 2


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_server_in_trouble_says_nothing_about_its_profile(status: int) -> None:
    with pytest.raises(ModelFailed) as failed:
        await probed(ServedModel(status=status))
    assert (failed.value.kind, failed.value.status_code) == (ModelFailureKind.REFUSED, status)


async def test_a_server_that_is_away_is_no_mismatch() -> None:
    clock = FakeClock()
    with pytest.raises(ModelFailed):
        await Probe(PlayedModel(failure=away()), PROFILE, 1024, clock).run(Deadline.after(60.0, clock))


class TimedModel(PlayedModel):
    """Takes one second to the first token and ten for the rest."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__()
        self._clock = clock

    async def asked(self, request: ChatRequest, seconds: float, profile: ModelProfile) -> ChatReply:
        reply = await super().asked(request, seconds, profile)
        self._clock.advance(11.0)
        return replace(reply, first_token_seconds=1.0, usage=TokenUsage(10, 21))


@pytest.mark.parametrize(("usual", "is_slow"), [(3.9, False), (4.1, True)])
async def test_a_server_less_than_half_as_fast_as_its_profile_is_slow(usual: float, is_slow: bool) -> None:
    clock = FakeClock()
    profile = replace(PROFILE, speed=Speed(first_token_seconds=1.0, tokens_per_second=usual))
    report = await Probe(TimedModel(clock), profile, 1024, clock).run(Deadline.after(60.0, clock))
    assert report.tokens_per_second == pytest.approx(2.0)
    assert (Capability.SPEED in lacking(report)) is is_slow


def test_the_questions_are_about_nobody_and_of_no_real_tool() -> None:
    assert facts.fits('{"parcel": "QX-17", "pieces": 3, "state": "returned"}')
    assert facts.states_the_facts(' {"state": "returned", "pieces": 3, "parcel": "QX-17"}\n')
    assert not facts.states_the_facts('{"parcel": "QX-17", "pieces": 4, "state": "returned"}')
    assert not facts.fits('{"parcel": "QX-17", "pieces": 3}')
    assert not facts.fits("It was returned.")
