"""Lets steps run once more after a correction."""

from __future__ import annotations

from collections.abc import Mapping

from taoloop.loop.steps.step_record import StepRecord


def reopen(steps: Mapping[str, StepRecord], step_id: str) -> None:
    """Let a step run once more, and with it the steps that were skipped because of it."""
    if step_id in steps:
        steps[step_id].reopen()
    reopen_dependents(steps, step_id)


def reopen_dependents(steps: Mapping[str, StepRecord], step_id: str) -> None:
    """Let the steps run that were skipped because of one that has a result after all."""
    for record in steps.values():
        if record.skipped is not None and record.skipped.cause_step_id == step_id:
            record.reopen()
