"""Summing up tokens: medians over replies, the cached share over all prompts, failures by their reason."""

from taoloop.evaluation.planning.models.asking import Asked
from taoloop.evaluation.planning.models.consumption import Spread, consumption
from taoloop.models.ports import TokenUsage


def asked(input_tokens: int, output_tokens: int, cached_tokens: int, failure: str = "") -> Asked:
    usage = TokenUsage(input_tokens, output_tokens, cached_tokens)
    return Asked(prediction={"id": "c", "kind": "none"}, failure=failure, usage=usage)


def test_spread_is_told_by_its_middle_and_its_ends() -> None:
    assert Spread.of(range(1, 11)) == Spread(total=55, median=5, p90=9, largest=10)
    assert Spread.of([7]) == Spread(total=7, median=7, p90=7, largest=7)
    assert Spread.of([]) == Spread()


def test_calls_without_a_reply_count_as_failures_alone() -> None:
    took = consumption([asked(1000, 20, 500), asked(3000, 40, 2500), asked(0, 0, 0, "timeout"), asked(900, 8, 0, "X")])
    assert took.input_tokens == Spread(total=4900, median=1000, p90=1000, largest=3000)
    assert took.output_tokens.largest == 40
    assert took.failures == {"timeout": 1, "X": 1}


def test_cached_share_is_of_all_tokens_of_the_prompts() -> None:
    assert consumption([asked(1000, 20, 500), asked(3000, 40, 2500)]).cached_share == 0.75
    assert consumption([]).cached_share == 0.0
    assert consumption([asked(1000, 20, 250)]).as_json()["cached_share"] == 0.25
