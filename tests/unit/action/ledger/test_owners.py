"""Who is alive among the processes that share a ledger."""

from __future__ import annotations

from taoloop.action.ledger.owners import OwnerWatch


def test_a_counter_that_stands_still_for_the_lease_is_dead() -> None:
    watch = OwnerWatch(10.0)
    assert watch.dead({"a": 1, "b": 1}, 0.0) == {}
    assert watch.dead({"a": 1, "b": 2}, 9.9) == {}
    assert watch.dead({"a": 1, "b": 2}, 10.0) == {"a": 1}
    assert repr(watch) == "OwnerWatch(owners=2, lease_seconds=10)"


def test_one_that_was_gone_and_came_back_has_its_whole_lease_again() -> None:
    watch = OwnerWatch(10.0)
    watch.dead({"a": 1}, 0.0)
    assert watch.dead({}, 5.0) == {}
    assert watch.dead({"a": 1}, 10.0) == {}
    assert watch.dead({"a": 1}, 20.0) == {"a": 1}


def test_times_in_which_the_store_was_away_do_not_count() -> None:
    watch = OwnerWatch(10.0)
    watch.dead({"a": 1}, 0.0)
    watch.forget()
    assert watch.dead({"a": 1}, 30.0) == {}
