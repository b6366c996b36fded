"""How the settings become limits of the queue and room in a worker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from taoloop.core.settings import load_settings
from taoloop.thought.budgets.settings import BudgetSettings
from taoloop.thought.settings import ThoughtSettings, ThoughtWorkerSettings

HERE = {"catalogue": Path()}
MODEL = {"url": "http://model/v1", "max_in_flight": 32}


@pytest.mark.parametrize(
    ("settings", "slots"),
    [
        ({}, 4),
        ({"worker_planner_processes": 3}, 6),
        ({"model": MODEL}, 36),
        ({"model": MODEL, "worker_planner_processes": 1}, 34),
        ({"model": MODEL, "thought": {"plan": {"enabled": False}}}, 4),
        ({"model": MODEL, "worker_slots": 5}, 5),
    ],
)
def test_a_worker_has_room_for_what_its_planners_can_have_in_work(settings: dict[str, Any], slots: int) -> None:
    assert load_settings(ThoughtWorkerSettings, {**HERE, **settings}).slots() == slots


@pytest.mark.parametrize(
    ("settings", "most"),
    [
        ({}, 1000),
        ({"grpc": {"is_tenant_metadata_trusted": True}}, 500),
        ({"grpc": {"is_tenant_metadata_trusted": True}, "thought_max_jobs": 1}, 1),
        ({"thought_max_tenant_jobs": 7}, 7),
    ],
)
def test_a_tenant_may_fill_half_of_the_queue_where_tenants_are_told_apart(settings: dict[str, Any], most: int) -> None:
    assert load_settings(ThoughtSettings, {**HERE, **settings}).queue_limits().max_tenant_jobs == most


def test_a_tenants_budget_is_above_zero() -> None:
    with pytest.raises(ValidationError, match="greater than 0"):
        BudgetSettings(tenants={"acme": 0.0})
