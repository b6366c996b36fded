"""Rules of the breakers of a process."""

from __future__ import annotations

from taoloop.action.policies.breaker import Breaker, Permit
from taoloop.action.policies.breaker_registry import BreakerKey, BreakerRegistry
from taoloop.tools.contract import ConsecutiveBreaker

RULES = ConsecutiveBreaker(failures=1, open_for_seconds=30.0)
A = BreakerKey("look_up", "https", "a.example", 443)
B = BreakerKey("look_up", "https", "b.example", 443)
C = BreakerKey("find", "https", "a.example", 443)


def fail(breaker: Breaker) -> None:
    admitted = breaker.admit(0)
    assert isinstance(admitted, Permit)
    admitted.failed(0, 0.1)


def test_tools_and_servers_do_not_share_a_breaker() -> None:
    registry = BreakerRegistry()
    breakers = {registry.get(key, RULES, 0) for key in (A, B, C, A)}
    assert len(breakers) == 3
    assert set(registry.of_tool("look_up")) == {registry.get(A, RULES, 0), registry.get(B, RULES, 0)}


def test_what_is_not_closed_is_told() -> None:
    registry = BreakerRegistry()
    registry.get(A, RULES, 0)
    fail(registry.get(B, RULES, 0))
    assert [key for key, _ in registry.not_closed(1)] == [B]
    assert repr(registry) == (
        "BreakerRegistry(look_up@a.example:443: Breaker(closed, row of 0), "
        "look_up@b.example:443: Breaker(open until 30))"
    )


def test_other_rules_make_a_new_breaker() -> None:
    registry = BreakerRegistry()
    fail(registry.get(A, RULES, 0))
    registry.get(A, ConsecutiveBreaker(failures=2), 0)
    assert registry.not_closed(1) == ()


def test_a_closed_breaker_goes_before_an_open_one() -> None:
    registry = BreakerRegistry(max_breakers=2)
    fail(registry.get(A, RULES, 0))
    registry.get(B, RULES, 0)
    fail(registry.get(C, RULES, 0))
    assert [key for key, _ in registry.not_closed(1)] == [A, C]
    registry.get(B, RULES, 1)
    assert [key for key, _ in registry.not_closed(1)] == [C]
