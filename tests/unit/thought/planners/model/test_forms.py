"""Forms are made once for what they depend on, and know how long a reply can be."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from taoloop.core.exact_json import JsonValue, dumps
from taoloop.plan.check_context import PlanLimits
from taoloop.plan.task import ProvidedInput
from taoloop.plan.thinking import CompletedStep
from taoloop.thought.planners.model.forms import ReplyForms, longest_characters
from taoloop.thought.planners.model.grammar import skeleton_schema
from taoloop.thought.planners.model.offer import ALL_MODES, Mode, Offer, Reason
from taoloop.tools.schemas import CompiledSchema
from taoloop.tools.signature import Trust
from tests.unit.thought.planners.model.tools import TOOLS, request_of

MANY = 10_000


def offer(modes: frozenset[Mode] = ALL_MODES, limits: PlanLimits | None = None, **more: Any) -> Offer:
    return Offer.of(TOOLS, request_of(**more), modes, limits or PlanLimits())


def test_a_form_is_the_schema_of_the_skeletons() -> None:
    form = ReplyForms(MANY).of(offer(), Reason.BRIEF).form

    assert form.schema == skeleton_schema(offer(), Reason.BRIEF)
    assert form.is_told


def test_users_with_other_values_in_the_same_state_share_a_form() -> None:
    forms = ReplyForms(MANY)

    one = forms.of(offer(state={"user": {"id": "u-1", "age": 30}}), Reason.OFF)
    other = forms.of(offer(state={"user": {"id": "u-2", "age": 31}}), Reason.OFF)

    assert one is other
    assert forms.made == 1


def test_whatever_a_form_depends_on_makes_another_one() -> None:
    forms = ReplyForms(MANY)
    done = CompletedStep(step_id="1.t1", tool="find_guest", exposed={"id": "g-7"}, trust=Trust.TRUSTED)
    offers = [
        offer(),
        Offer.of(TOOLS[:2], request_of()),
        offer(modes=frozenset({Mode.ASK})),
        offer(limits=PlanLimits(max_steps=2)),
        offer(state={}),
        offer(state={"user": "single"}),
        offer(state={"user": "a"}),
        offer(state={"user": 1}),
        offer(inputs=(ProvidedInput(input_id="a" * 32, values={"phone": "1"}),)),
        offer(completed=(done,)),
    ]
    for each in offers:
        assert forms.of(each, Reason.OFF).form.schema == skeleton_schema(each, Reason.OFF)
    forms.of(offers[0], Reason.FULL)

    assert forms.made == len(offers) + 1


def test_the_forms_that_were_used_last_are_kept() -> None:
    forms = ReplyForms(MANY, capacity=2)
    for steps in (1, 2, 1, 3, 1):
        forms.of(offer(limits=PlanLimits(max_steps=steps)), Reason.OFF)
    assert forms.made == 3

    forms.of(offer(limits=PlanLimits(max_steps=2)), Reason.OFF)

    assert forms.made == 4
    assert repr(forms) == "<ReplyForms 2 of 2 kept, 4 made>"


def test_a_reply_is_bounded_by_its_form_and_by_the_limit() -> None:
    asking = offer(modes=frozenset({Mode.NONE}))

    assert ReplyForms(MANY).of(asking, Reason.OFF).max_tokens == len('{"none":true}') + 16
    assert ReplyForms(20).of(asking, Reason.OFF).max_tokens == 20


@given(
    st.sampled_from(list(Reason)),
    st.lists(st.text(min_size=1, max_size=200, alphabet="ab 你"), min_size=2, max_size=2),
    st.integers(1, 7),
)
def test_no_skeleton_of_a_form_is_longer_than_the_longest(reason: Reason, words: list[str], steps: int) -> None:
    schema, longest = measured(reason, steps)
    said: dict[str, JsonValue] = {}
    if reason is Reason.BRIEF:
        said = {"why": words[0][:160]}
    elif reason is Reason.FULL:
        facts: JsonValue = [words[0][:160]] * 5
        said = {"known": facts, "gap": facts, "tool": 2, "why": words[1][:160], "expected": words[1][:160]}
    later: list[JsonValue] = [[1, words[1]] for _ in range(steps - 1)]
    skeleton: JsonValue = {**said, "plan": [[1, words[0]], *later]}

    assert schema.violations(skeleton) == ()
    assert len(dumps(skeleton)) <= longest


@lru_cache
def measured(reason: Reason, steps: int) -> tuple[CompiledSchema, int]:
    schema = skeleton_schema(offer(limits=PlanLimits(max_steps=steps)), reason)
    return CompiledSchema.compile(schema), longest_characters(schema)
