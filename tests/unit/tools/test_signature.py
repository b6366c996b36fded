"""The order of effects."""

import pytest

from taoloop.tools.signature import Effect


def test_effects_are_ordered_by_danger() -> None:
    assert [effect.rank for effect in Effect] == [0, 1, 2]


@pytest.mark.parametrize(
    ("effect", "maximum", "allowed"),
    [
        (Effect.READ, Effect.READ, True),
        (Effect.WRITE, Effect.READ, False),
        (Effect.IDEMPOTENT_WRITE, Effect.WRITE, True),
        (Effect.WRITE, Effect.IDEMPOTENT_WRITE, False),
    ],
)
def test_a_permission_covers_what_is_not_more_dangerous(effect: Effect, maximum: Effect, allowed: bool) -> None:
    assert effect.is_within(maximum) is allowed
