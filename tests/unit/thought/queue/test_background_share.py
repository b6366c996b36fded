"""The background gets its share while both wait, and saves nothing up while it needs none."""

from __future__ import annotations

import pytest

from taoloop.thought.queue.redis_taking import BackgroundShare


def handed_out(share: float, takes: int, count: int, interactive: int = 10**6, background: int = 10**6) -> str:
    """Return what a worker is handed out, take by take, from two streams of such lengths."""
    due, order = BackgroundShare(share), ""
    for _ in range(takes):
        first = min(due.due(count), background)
        other = min(count - first, interactive)
        rest = min(count - first - other, background - first)
        interactive, background = interactive - other, background - first - rest
        due.note(other, first + rest)
        order += "b" * first + "i" * other + "b" * rest
    return order


@pytest.mark.parametrize("share", [0.01, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("count", [1, 3, 32])
def test_the_background_gets_its_share_while_both_wait(share: float, count: int) -> None:
    order = handed_out(share, 3000 // count, count)

    assert order.count("b") / len(order) == pytest.approx(share, abs=0.02)


def test_interactive_jobs_come_first() -> None:
    assert handed_out(0.2, 10, 1) == "iiiibiiiib"


def test_nothing_is_saved_up_while_the_background_is_empty() -> None:
    due = BackgroundShare(0.2)
    for _ in range(1000):
        due.note(interactive=4, background=0)

    assert due.due(32) <= 2
