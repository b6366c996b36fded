"""The machine as it is meant: what is done about each kind of failure, state by state."""

from __future__ import annotations

import pytest

from taoloop.loop.correction.classes import FaultClass
from taoloop.loop.correction.machine import (
    EDGES,
    STATE_AFTER,
    Choice,
    Need,
    Reaction,
    Skipped,
    SkipReason,
    State,
    choose,
    edges_of,
)

T, THINK = "time", "news iterations thought_time"
FRESH, RETRIED, FIXED, FALLEN_BACK = "fresh", "retried", "fixed", "fallen_back"
REPLANNED, REPROMPTED, CROSS_CHECKED, PREFERRED = "replanned", "reprompted", "cross_checked", "preferred"

EXPECTED = [
    # kind of failure, state, what holds -> reaction; transient, same again useful, user told
    ("TOOL_TIMEOUT", FRESH, f"retriable first_attempt calls {T} {THINK}", "retry", "TU-"),
    ("TOOL_TIMEOUT", FRESH, f"retriable first_attempt {T} {THINK}", "replan", "T--"),
    ("TOOL_TIMEOUT", RETRIED, f"retriable first_attempt {T} {THINK}", "replan", "T--"),
    ("TOOL_TIMEOUT", FRESH, f"retriable {T} {THINK}", "replan", "T--"),
    ("TOOL_TIMEOUT", FRESH, f"first_attempt {T} {THINK}", "replan", "T--"),
    ("TOOL_TIMEOUT", FRESH, "retriable first_attempt", "fail", "T-t"),
    ("TOOL_TIMEOUT", REPLANNED, f"retriable first_attempt {T} {THINK}", "fail", "T-t"),
    ("TOOL_TIMEOUT", REPLANNED, f"write {T}", "hand_over", "T-t"),
    ("TOOL_UNAVAILABLE", FRESH, f"retriable first_attempt {T} {THINK}", "replan", "T--"),
    ("TOOL_UNAVAILABLE", REPLANNED, f"retriable {THINK}", "fail", "T-t"),
    ("TOOL_UNAVAILABLE", REPLANNED, "write", "hand_over", "T-t"),
    ("TOOL_UNAVAILABLE", FRESH, "news iterations", "fail", "T-t"),
    ("TOOL_SCHEMA_VIOLATION", FRESH, f"fixable calls askable next_round candidates {T} {THINK}", "fix_input", "-U-"),
    ("TOOL_SCHEMA_VIOLATION", FIXED, f"fixable askable next_round candidates {T} {THINK}", "ask", "--t"),
    ("TOOL_SCHEMA_VIOLATION", FRESH, f"askable next_round candidates {T} {THINK}", "ask", "--t"),
    ("TOOL_SCHEMA_VIOLATION", FRESH, f"askable next_round {T} {THINK}", "replan", "---"),
    ("TOOL_SCHEMA_VIOLATION", REPLANNED, f"askable next_round {T} {THINK}", "ask", "--t"),
    ("TOOL_SCHEMA_VIOLATION", REPLANNED, f"partly_written {T} {THINK}", "hand_over", "--t"),
    ("TOOL_SCHEMA_VIOLATION", REPLANNED, f"{T} {THINK}", "fail", "--t"),
    ("TOOL_FAILED", FRESH, f"other_source {T} {THINK}", "fallback", "---"),
    ("TOOL_FAILED", FALLEN_BACK, f"other_source {T} {THINK}", "replan", "---"),
    ("TOOL_FAILED", FRESH, f"{T} {THINK}", "replan", "---"),
    ("TOOL_FAILED", REPLANNED, f"write {THINK}", "hand_over", "--t"),
    ("TOOL_FAILED", REPLANNED, THINK, "fail", "--t"),
    ("RESPONSE_MALFORMED", FRESH, f"other_source {T} {THINK}", "fallback", "---"),
    ("RESPONSE_MALFORMED", FALLEN_BACK, f"other_source {T} {THINK}", "replan", "---"),
    ("RESPONSE_MALFORMED", REPLANNED, f"{T} {THINK}", "fail", "--t"),
    ("OBSERVATION_INCONSISTENT", FRESH, f"other_source {T} {THINK}", "cross_check", "---"),
    ("OBSERVATION_INCONSISTENT", FRESH, f"{T} {THINK}", "replan", "---"),
    ("OBSERVATION_INCONSISTENT", REPLANNED, f"other_source {T} {THINK}", "cross_check", "---"),
    ("OBSERVATION_INCONSISTENT", CROSS_CHECKED, f"sure_source {T} {THINK}", "prefer", "--t"),
    ("OBSERVATION_INCONSISTENT", CROSS_CHECKED, f"other_source {T} {THINK}", "hand_over", "--t"),
    ("OBSERVATION_INCONSISTENT", PREFERRED, f"sure_source {T} {THINK}", "hand_over", "--t"),
    ("OBSERVATION_INCONSISTENT", FRESH, "", "hand_over", "--t"),
    ("LLM_OUTPUT_MALFORMED", FRESH, "model iterations thought_time", "reprompt", "-U-"),
    ("LLM_OUTPUT_MALFORMED", REPROMPTED, "model iterations thought_time", "fail", "--t"),
    ("LLM_OUTPUT_MALFORMED", REPROMPTED, "model iterations thought_time escalated", "hand_over", "--t"),
    ("LLM_OUTPUT_MALFORMED", FRESH, THINK, "replan", "---"),
    ("LLM_OUTPUT_MALFORMED", FRESH, "model iterations", "fail", "--t"),
    ("PLAN_OUTDATED", FRESH, THINK, "replan", "TU-"),
    ("PLAN_OUTDATED", REPLANNED, THINK, "fail", "T-t"),
    ("PLAN_OUTDATED", REPLANNED, f"{THINK} escalated", "hand_over", "--t"),
    ("EFFECT_UNKNOWN", FRESH, f"retriable first_attempt other_source {T} {THINK}", "hand_over", "--t"),
    ("APPROVAL_UNUSED", FRESH, T, "approve", "-U-"),
    ("APPROVAL_UNUSED", RETRIED, T, "hand_over", "--t"),
    ("NOT_PERMITTED", FRESH, f"other_source {T} {THINK}", "fail", "--t"),
    ("PERSON_NEEDED", FRESH, f"other_source retriable {T} {THINK}", "hand_over", "--t"),
    ("REQUEST_UNSERVED", FRESH, f"{T} {THINK}", "fail", "--t"),
    ("LIMIT_REACHED", FRESH, f"retriable first_attempt {T} {THINK}", "fail", "--t"),
]


def chosen(kind: str, state: str, holds: str) -> Choice:
    return choose(FaultClass(kind), State[state.upper()], [Need(word) for word in holds.split()])


@pytest.mark.parametrize(("kind", "state", "holds", "reaction", "answers"), EXPECTED)
def test_what_is_done_about_a_failure(kind: str, state: str, holds: str, reaction: str, answers: str) -> None:
    edge = chosen(kind, state, holds).edge

    told = ("T" if edge.is_transient else "-") + ("U" if edge.is_retry_useful else "-") + ("t" if edge.is_told else "-")
    assert (edge.reaction.value, told) == (reaction, answers)


def test_every_edge_has_its_example() -> None:
    taken = {chosen(kind, state, holds).edge for kind, state, holds, _, _ in EXPECTED}

    assert set(EDGES) - taken == set()


def test_every_failure_ends_in_every_state_whatever_holds() -> None:
    for kind in FaultClass:
        last = edges_of(kind)[-1]
        assert (last.needs, last.next_state) == ((), State.ENDED)
        for state in State:
            if state is not State.ENDED:
                assert choose(kind, state, ()).edge.next_state > state


def test_every_step_of_a_correction_goes_up_so_that_there_is_no_way_back() -> None:
    for kind in FaultClass:
        for state in State:
            if state is not State.ENDED:
                assert choose(kind, state, list(Need)).edge.next_state > state
    assert set(STATE_AFTER) == set(Reaction)


def test_a_correction_has_no_more_reactions_than_there_are_states() -> None:
    for kind in FaultClass:
        state, count = State.FRESH, 0
        while state is not State.ENDED:
            state, count = choose(kind, state, list(Need)).edge.next_state, count + 1
        assert count < len(State)


def test_a_retry_is_made_for_a_timeout_and_for_nothing_else() -> None:
    assert {edge.kind for edge in EDGES if edge.reaction is Reaction.RETRY} == {FaultClass.TOOL_TIMEOUT}


def test_nothing_repeats_what_may_have_taken_effect() -> None:
    assert [edge.reaction for edge in edges_of(FaultClass.EFFECT_UNKNOWN)] == [Reaction.HAND_OVER]


def test_a_reaction_that_lacks_time_alone_is_skipped_and_told() -> None:
    choice = chosen("LLM_OUTPUT_MALFORMED", FRESH, "model iterations")

    assert choice.skipped == (Skipped(Reaction.REPROMPT, SkipReason.INSUFFICIENT_DEADLINE),)


def test_a_reaction_that_the_limit_of_thoughts_forbids_is_skipped_and_told() -> None:
    choice = chosen("TOOL_UNAVAILABLE", FRESH, "news thought_time")

    assert choice.skipped == (Skipped(Reaction.REPLAN, SkipReason.MAX_ITERATIONS),)


def test_a_reaction_that_is_switched_off_leaves_its_place_to_the_next() -> None:
    holds = [Need.RETRIABLE, Need.FIRST_ATTEMPT, Need.CALLS, Need.TIME, Need.NEWS, Need.ITERATIONS, Need.THOUGHT_TIME]
    choice = choose(FaultClass.TOOL_TIMEOUT, State.FRESH, holds, switched_off={Reaction.RETRY})

    assert choice.edge.reaction is Reaction.REPLAN
    assert choice.skipped == (Skipped(Reaction.RETRY, SkipReason.SWITCHED_OFF),)


def test_for_an_optional_step_nothing_is_done_outside_of_the_plan() -> None:
    every = list(Need)
    retry = choose(FaultClass.TOOL_TIMEOUT, State.FRESH, every, is_optional=True)
    after = choose(FaultClass.TOOL_TIMEOUT, State.RETRIED, every, is_optional=True)

    assert retry.edge.reaction is Reaction.RETRY
    assert (after.edge.reaction, after.edge.is_told) == (Reaction.LEAVE_OUT, True)
    assert {choose(kind, State.FRESH, (), is_optional=True).edge.reaction for kind in FaultClass} == {
        Reaction.LEAVE_OUT
    }


def test_every_word_of_the_machine_says_what_it_means() -> None:
    assert all(each.meaning.endswith(".") for each in (*Reaction, *Need))
    assert all(edge.because.endswith(".") for edge in EDGES)
