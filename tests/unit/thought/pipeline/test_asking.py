"""Asking a model once: what is sent, what comes back, and that a failure is data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from taoloop.core.faults import FaultCode
from taoloop.models.metering import prompt_sha256
from taoloop.models.ports import ChatMessage, ModelFailed, ModelFailureKind, Role, TokenUsage
from taoloop.thought.pipeline.asking import Asking, Attempt
from taoloop.thought.pipeline.ports import PlanningModel
from taoloop.thought.pipeline.rungs import Rung
from taoloop.thought.planners.model.expansion import context_of
from taoloop.thought.planners.model.offer import Offer, Reason
from taoloop.thought.planners.model.questions import Question, QuestionRules, Questions
from tests.unit.thought.pipeline.rig import BAD, CATALOGUE, GOOD, Rig, Said, reply
from tests.unit.thought.planners.model.tools import TEXT, TOOLS, request_of


def question(rules: QuestionRules | None = None) -> Question:
    request = request_of()
    context = context_of(Offer.of(TOOLS, request), request)
    return Questions(CATALOGUE, rules or QuestionRules()).about(request, CATALOGUE.signatures(), context, 7)


async def ask(
    rig: Rig, said: Said, rules: QuestionRules | None = None, before: tuple[ChatMessage, ...] = ()
) -> Attempt:
    parts = rig.parts([said])
    asking = Asking(rules or QuestionRules(), rig.stages, rig.clock)
    return await asking.ask(parts.models[0], question(rules), rig.deadline(), before)


async def test_a_model_is_asked_by_the_rules_with_form_and_seed() -> None:
    rig = Rig()
    rules = QuestionRules(temperature=0.3, top_p=0.9, reason=Reason.OFF)

    attempt = await ask(rig, '{"plan": [[2, "555-0199"]]}', rules)

    (asked,) = rig.chats[0].requests
    assert (asked.temperature, asked.top_p, asked.seed, asked.attempt) == (0.3, 0.9, 7, 1)
    assert asked.form is not None
    assert asked.form.is_told
    assert asked.max_tokens == question(rules).form.max_tokens
    assert [message.role for message in asked.messages] == [Role.SYSTEM, Role.USER]
    assert asked.messages[1].content.endswith(TEXT)
    assert attempt.expansion is not None
    assert (attempt.faults, attempt.failure, attempt.reason) == ((), None, "")


async def test_a_model_that_is_held_to_a_stricter_form_takes_the_likeliest_tokens() -> None:
    rig = Rig()
    made = question()
    strict = replace(made, request=replace(made.request, strict=True))

    asking = Asking(QuestionRules(temperature=0.3), rig.stages, rig.clock)
    await asking.ask(rig.parts([GOOD]).models[0], strict, rig.deadline())

    assert [asked.temperature for asked in rig.chats[0].requests] == [0.0]


async def test_what_was_said_since_counts_as_attempts() -> None:
    rig = Rig()
    before = (ChatMessage(Role.ASSISTANT, BAD), ChatMessage(Role.USER, "No."))

    await ask(rig, GOOD, before=before)

    (asked,) = rig.chats[0].requests
    assert asked.attempt == 2
    assert asked.messages[2:] == before


async def test_what_it_cost_is_told_with_the_time() -> None:
    rig = Rig(reply_seconds=1.5)

    attempt = await ask(rig, reply(GOOD, usage=TokenUsage(100, 9, 60), seed=5))

    assert (attempt.usage.input_tokens, attempt.usage.output_tokens) == (100, 9)
    assert (attempt.usage.cached_input_tokens, attempt.usage.model_calls) == (60, 1)
    assert attempt.usage.model_time_seconds == 1.5
    assert attempt.seed == 5


async def test_a_reply_with_faults_is_an_attempt_with_them() -> None:
    attempt = await ask(Rig(), BAD)

    assert attempt.expansion is None
    assert [fault.code for fault in attempt.faults] == [FaultCode.UNKNOWN_TOOL]
    assert (attempt.said, attempt.reason) == (BAD, "UNKNOWN_TOOL")


@pytest.mark.parametrize("kind", list(ModelFailureKind))
async def test_a_server_that_fails_is_an_attempt_of_that_kind(kind: ModelFailureKind) -> None:
    rig = Rig(reply_seconds=0.5)

    attempt = await ask(rig, ModelFailed(kind, "It failed."))

    assert (attempt.expansion, attempt.faults, attempt.failure, attempt.reason) == (None, (), kind, kind.value)
    assert (attempt.usage.model_calls, attempt.usage.model_time_seconds) == (1, 0.5)
    assert rig.span("thought plan")["error.type"] == kind.value
    line = f'taoloop_thought_stage_duration_seconds_count{{outcome="{kind}",stage="plan"}} 1.0'
    assert line in rig.shown()


async def test_the_span_names_prompts_and_tools_and_holds_no_text() -> None:
    rig = Rig()

    await ask(rig, f"<think>Hm.</think>```json\n{GOOD}\n```")

    told = rig.span("thought plan")
    prompt = question().prompt
    assert told["taoloop.prompt.sha256"] == prompt_sha256(rig.chats[0].requests[0].messages)
    assert (told["taoloop.prompt.version"], told["taoloop.prompt.digest"]) == ("v1", prompt.digest)
    assert told["taoloop.prompt.stable_share"] == round(prompt.stable_share, 3)
    assert (told["taoloop.thought.rung"], told["taoloop.thought.attempt"]) == ("model", 1)
    assert told["taoloop.thought.tools_offered"] == 3
    assert rig.span("thought expand")["taoloop.reply.repairs"] == ("fence", "reasoning")
    assert TEXT not in _everything(rig)


async def test_reasoning_that_the_server_took_out_is_kept() -> None:
    attempt = await ask(Rig(), reply('{"plan": [[2, "555-0199"]]}', reasoning="why: a number was given"))

    assert attempt.expansion is not None
    assert attempt.expansion.reasoning.why == "a number was given"


def test_a_planning_model_shows_its_rung() -> None:
    model = PlanningModel(rung=Rung.MODEL, model=Rig().parts([GOOD]).models[0].model, timeout_seconds=1.0)

    assert repr(model) == "<PlanningModel model scripted>"
    assert model.is_ready()


def _everything(rig: Rig) -> str:
    spans: list[dict[str, Any]] = [dict(span.attributes or {}) for span in rig.exporter.get_finished_spans()]
    return str(spans)
