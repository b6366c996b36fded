"""Rules of the read cache."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.action.policies.read_cache import ENTRY_BYTES, CachedAnswer, CacheKey, ReadCache

KEY = CacheKey("acme", "d" * 64, "a" * 64)


def key(name: str) -> CacheKey:
    return CacheKey("acme", "d", name)


def test_an_answer_is_found_with_its_age_until_it_is_too_old() -> None:
    cache = ReadCache[str]()
    assert cache.find(KEY, 60.0, 0.0) is None
    assert cache.keep(KEY, "sunny", 10, 5.0)
    assert cache.find(KEY, 60.0, 65.0) == CachedAnswer("sunny", 60.0)
    assert cache.find(KEY, 60.0, 65.1) is None
    assert cache.find(KEY, 3600.0, 65.25) == CachedAnswer("sunny", 60.25)
    assert cache.find(KEY, 0.0, 5.0) is None
    assert cache.find(KEY, 1.0, 4.0) == CachedAnswer("sunny", 0.0)


@pytest.mark.parametrize(
    "other", [CacheKey("else", "d" * 64, "a" * 64), CacheKey("acme", "e", "a" * 64), CacheKey("acme", "d" * 64, "b")]
)
def test_tenants_tools_and_arguments_are_told_apart(other: CacheKey) -> None:
    cache = ReadCache[str]()
    cache.keep(KEY, "sunny", 10, 0.0)
    assert cache.find(other, 60.0, 0.0) is None


def test_a_newer_answer_takes_the_place_and_the_bytes_of_the_older() -> None:
    cache = ReadCache[str]()
    cache.keep(KEY, "sunny", 100, 0.0)
    cache.keep(KEY, "rain", 10, 50.0)
    assert cache.find(KEY, 60.0, 60.0) == CachedAnswer("rain", 10.0)
    assert repr(cache) == f"ReadCache(1 answers, {10 + ENTRY_BYTES} of 67108864 bytes)"
    cache.drop(KEY)
    cache.drop(KEY)
    assert repr(cache) == "ReadCache(0 answers, 0 of 67108864 bytes)"


def test_the_answer_that_was_not_used_for_longest_goes_first_and_is_counted() -> None:
    evicted: list[None] = []
    cache = ReadCache[str](3 * ENTRY_BYTES, on_eviction=lambda: evicted.append(None))
    for name in "abc":
        cache.keep(key(name), name, 0, 0.0)
    assert cache.find(key("a"), 1.0, 0.0) is not None
    cache.keep(key("d"), "d", 0, 0.0)
    assert [name for name in "abcd" if cache.find(key(name), 1.0, 0.0)] == ["a", "c", "d"]
    assert len(evicted) == 1


def test_an_answer_larger_than_the_cache_is_not_kept_and_displaces_nothing_else() -> None:
    cache = ReadCache[str](2 * ENTRY_BYTES)
    cache.keep(key("a"), "a", 0, 0.0)
    assert not cache.keep(key("b"), "b", 10 * ENTRY_BYTES, 0.0)
    assert cache.find(key("a"), 1.0, 0.0) is not None
    assert cache.find(key("b"), 1.0, 0.0) is None


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3 * ENTRY_BYTES)), max_size=60))
def test_it_never_holds_more_than_its_bytes(kept: list[tuple[int, int]]) -> None:
    cache = ReadCache[int](8 * ENTRY_BYTES)
    for number, size in kept:
        cache.keep(key(str(number)), number, size, 0.0)
        assert cache._bytes <= 8 * ENTRY_BYTES
        assert cache._bytes == sum(entry.size_bytes for entry in cache._entries.values())
