"""The part of `taoloop evaluate planning` that asks a language model: its server, what it said, what that took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from taoloop.core.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

    from taoloop.cli.batch.progress import Progress
    from taoloop.core.clock import Clock
    from taoloop.evaluation.planning.models.consumption import Consumption
    from taoloop.evaluation.planning.models.running import AskedRow
    from taoloop.models.settings import ChatModelSettings


@dataclass(frozen=True, slots=True)
class ModelRun:
    """How a model is asked.

    Attributes:
        reasoning: How much it says before it decides: `full`, `brief` or `off`.
        concurrency: Questions at the same time.
        every: Every so many-th case is asked about.
    """

    reasoning: str
    concurrency: int
    every: int


def ask_model(cases: Path, out: Path | None, run: ModelRun, *, as_json: bool) -> None:
    """Ask the model of the environment about the cases and print how many of its plans are right.

    Raises:
        ConfigurationError: No model is set up.
        BackendUnavailable: Its server is away; what it said before is kept in `out`.
    """
    from taoloop.cli.batch.progress import Progress
    from taoloop.cli.commands.evaluating.planning import show_shares
    from taoloop.cli.settings import ModelCommandSettings
    from taoloop.cli.terminal import output, print_json, styled
    from taoloop.core.clock import SystemClock
    from taoloop.core.settings import load_settings
    from taoloop.evaluation.planning.figures import figures
    from taoloop.evaluation.planning.models.consumption import consumption
    from taoloop.wire.event_loop import run as run_loop

    clock = SystemClock()
    settings = load_settings(ModelCommandSettings).model
    size = cases.stat().st_size if cases.is_file() else 0
    with Progress("asked", size, clock) as progress:
        by, rows = run_loop(_asked(cases, out, run, settings, progress, clock))
    found, took = figures([row.scored for row in rows]), consumption([row.asked for row in rows])
    if as_json:
        shares = {name: value for name, value in found.as_json().items() if name != "calibration_error"}
        print_json({"cases": len(rows), "by": by, **shares, **took.as_json()})
        return
    show_shares(found, len(rows))
    output().print(styled(f"by {by}; mean {found.mean_ms / 1000:.1f} s a reply, {run.concurrency} at a time"))
    output().print(styled(_told(took)))


async def _asked(
    cases: Path, out: Path | None, run: ModelRun, settings: ChatModelSettings, progress: Progress, clock: Clock
) -> tuple[str, list[AskedRow]]:
    from taoloop.core.settings import TelemetrySettings
    from taoloop.core.telemetry import Telemetry
    from taoloop.evaluation.planning.models.asking import CaseAsker
    from taoloop.evaluation.planning.models.keeping import PredictionFile
    from taoloop.evaluation.planning.models.running import RunOptions, ask_cases
    from taoloop.models.opening import open_chat_model
    from taoloop.thought.planners.model.offer import Reason
    from taoloop.thought.planners.model.questions import QuestionRules

    telemetry = Telemetry.build(TelemetrySettings(), "taoloop-evaluate")
    # Nobody waits for this process to start, and questions before the end of the probe would be refused.
    patient = settings.model_copy(update={"probe_start_seconds": settings.probe_seconds})
    async with open_chat_model(patient, "planner", telemetry, clock) as model:
        if model is None:
            raise ConfigurationError("There is no URL of a model's server; set TAOLOOP_MODEL__URL.")
        rules = QuestionRules(reason=Reason(run.reasoning), temperature=0.0)
        asker = CaseAsker(model, rules, clock, settings.timeout_seconds)
        options = RunOptions(concurrency=run.concurrency, every=run.every)
        with PredictionFile(out, asker.identity) as file:
            rows = await ask_cases(cases, asker, file, options, progress.advance)
    await telemetry.aclose()
    return asker.identity, rows


def _told(took: Consumption) -> str:
    sizes = ", ".join(
        f"{name} median {spread.median}, 90 % at most {spread.p90}, largest {spread.largest}"
        for name, spread in (("prompt", took.input_tokens), ("output", took.output_tokens))
    )
    unusable = ", ".join(f"{name} {count}" for name, count in took.failures.most_common(6)) or "none"
    return f"tokens: {sizes}; {took.cached_share:.0%} of the prompts cached. Replies of no use: {unusable}"
