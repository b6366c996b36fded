"""A case passes only when the product said everything that is expected, in time."""

from __future__ import annotations

from typing import Any

import pytest

from taoloop.evaluation.cases.model import Adapter, Case, CaseInput, Said, Unsupported, Verdict
from taoloop.evaluation.cases.running import Counts, run_case, run_cases
from taoloop.testing.clock import FakeClock


def case(case_id: str = "C1-1", component: str = "grpc", expect: dict[str, Any] | None = None, **given: Any) -> Case:
    case_input = {"kind": "echo", "text": "x", **given}
    return Case(
        line=1,
        case_id=case_id,
        component=component,
        kind=case_input["kind"],
        input=case_input,
        expect=expect or {"text": "x"},
    )


def echo(case_input: CaseInput) -> Said:
    return {"text": case_input["text"]}


ADAPTERS = {"echo": Adapter(feed=echo, required=("text",))}


async def test_a_case_whose_expectation_holds_passes() -> None:
    result = await run_case(case(), ADAPTERS, FakeClock())

    assert (result.verdict, result.reason) == (Verdict.PASS, "")


async def test_a_case_whose_expectation_breaks_fails_with_the_reason_on_one_line() -> None:
    result = await run_case(case(expect={"text": "a\nb"}), ADAPTERS, FakeClock())

    assert (result.verdict, result.reason) == (Verdict.FAIL, 'text: expected "a\\nb", got "x"')


async def test_an_adapter_may_be_a_coroutine_function() -> None:
    async def feed(case_input: CaseInput) -> Said:
        return echo(case_input)

    result = await run_case(case(), {"echo": Adapter(feed=feed, required=("text",))}, FakeClock())

    assert result.verdict is Verdict.PASS


async def test_a_kind_without_adapter_is_unsupported() -> None:
    result = await run_case(case(kind="unheard_of"), ADAPTERS, FakeClock())

    assert (result.verdict, result.reason) == (
        Verdict.UNSUPPORTED,
        "the product has no function yet for the kind unheard_of",
    )


async def test_a_key_that_nobody_reads_makes_the_case_unsupported() -> None:
    result = await run_case(case(shade="blue"), ADAPTERS, FakeClock())

    assert (result.verdict, result.reason) == (
        Verdict.UNSUPPORTED,
        "nothing reads shade of an input of the kind echo",
    )


async def test_an_adapter_says_why_an_input_is_unsupported() -> None:
    def feed(_: CaseInput) -> Said:
        raise Unsupported("too odd")

    result = await run_case(case(), {"echo": Adapter(feed=feed, required=("text",))}, FakeClock())

    assert (result.verdict, result.reason) == (Verdict.UNSUPPORTED, "too odd")


async def test_what_the_product_raises_is_a_failure_and_the_next_case_runs() -> None:
    def feed(case_input: CaseInput) -> Said:
        if case_input["text"] == "bad":
            raise LookupError("nothing there")
        return echo(case_input)

    adapters = {"echo": Adapter(feed=feed, required=("text",))}
    results = await run_cases([case(text="bad"), case("C1-2")], adapters, FakeClock())

    assert [(result.verdict, result.reason) for result in results] == [
        (Verdict.FAIL, "LookupError was raised: nothing there"),
        (Verdict.PASS, ""),
    ]


@pytest.mark.parametrize(("seconds", "verdict"), [(0.2, Verdict.PASS), (0.3, Verdict.FAIL)])
async def test_max_s_bounds_the_time_that_the_product_takes(seconds: float, verdict: Verdict) -> None:
    clock = FakeClock()

    def feed(case_input: CaseInput) -> Said:
        clock.advance(seconds)
        return echo(case_input)

    result = await run_case(case(max_s=0.2), {"echo": Adapter(feed=feed, required=("text",))}, clock)

    assert result.verdict is verdict


async def test_counts_are_kept_by_component() -> None:
    cases = [case(), case("C1-2", expect={"text": "y"}), case("C1-3", "queue", kind="unheard_of")]

    counts = Counts.of(await run_cases(cases, ADAPTERS, FakeClock()))

    assert {name: dict(count) for name, count in counts.by_component.items()} == {
        "grpc": {Verdict.PASS: 1, Verdict.FAIL: 1},
        "queue": {Verdict.UNSUPPORTED: 1},
    }
    assert counts.total.total() == 3
