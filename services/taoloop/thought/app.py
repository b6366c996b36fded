"""The thought service and its worker put together: settings to component, settings to process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from taoloop.core.clock import Clock
from taoloop.core.errors import ConfigurationError, InvalidRequest
from taoloop.core.faults import FaultCode
from taoloop.core.ids import new_id
from taoloop.core.settings import RedisSettings
from taoloop.core.tasks import first_error
from taoloop.core.telemetry import Telemetry
from taoloop.models.opening import open_chat_model, open_prompt_counter
from taoloop.models.readiness.gate import can_be_asked
from taoloop.thought.budgets.choosing import CheapestThatFits
from taoloop.thought.budgets.counting import PromptLengths
from taoloop.thought.budgets.ports import PromptCounter, TenantBudget, TokenEstimator
from taoloop.thought.budgets.redis_tenant_budget import RedisTenantBudget
from taoloop.thought.budgets.settings import Estimator
from taoloop.thought.budgets.sklearn_estimator import BoostedEstimator
from taoloop.thought.budgets.spending import Spending
from taoloop.thought.front import ThoughtFront
from taoloop.thought.pipeline.asking import Asking
from taoloop.thought.pipeline.climbing import LadderParts, LadderRules, ModelLadder
from taoloop.thought.pipeline.pipeline import Pipeline, PipelineRules
from taoloop.thought.pipeline.ports import GraphRunner, InThread, PlanningModel
from taoloop.thought.pipeline.repairing import Repairing
from taoloop.thought.pipeline.rungs import EmptyPlanPolicy, Rung
from taoloop.thought.pipeline.selecting import Selector
from taoloop.thought.pipeline.stages import Stages
from taoloop.thought.plan_checking import PlanChecking
from taoloop.thought.planner_processes.planner_pool import planner_processes
from taoloop.thought.planner_processes.planner_process import Launch
from taoloop.thought.planners.graph import GraphPlanner
from taoloop.thought.planners.model.prompts import PromptSet, load_prompts, load_prompts_from
from taoloop.thought.planners.model.questions import QuestionRules, Questions
from taoloop.thought.queue.job_codec import JobCodec
from taoloop.thought.queue.queue_access import QueueAccess
from taoloop.thought.queue.queue_keys import QueueKeys
from taoloop.thought.queue.redis_job_queue import redis_job_queue
from taoloop.thought.queue.redis_job_source import SourceConfig, redis_job_source
from taoloop.thought.queue.redis_queue_desk import QueueDesk
from taoloop.thought.servicer import SERVICE_NAME, ThoughtServicer, record_codec, registrar
from taoloop.thought.settings import ThoughtSettings, ThoughtWorkerSettings
from taoloop.thought.thinker import Thinker
from taoloop.thought.worker import ThoughtWorker, WorkerConfig
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.served_catalogue import read_catalogue
from taoloop.wire.component import Component
from taoloop.wire.redis.redis_link import RedisLink, redis_link

MOST_SECONDS_BETWEEN_RENEWALS: Final = 1.0
"""With each renewal a worker learns which callers are gone; a second of wasted work is little, a call a second too."""


@asynccontextmanager
async def thought_component(settings: ThoughtSettings, telemetry: Telemetry, clock: Clock) -> AsyncIterator[Component]:
    """Build the front; it is ready when the queue takes jobs.

    Raises:
        CatalogueInvalid: The catalogue has faults.
    """
    catalogue = await asyncio.to_thread(read_catalogue, settings.catalogue)
    async with AsyncExitStack() as stack:
        link = await stack.enter_async_context(redis_link(settings.redis, telemetry))
        access = _queue_access(settings.redis, link, telemetry, clock)
        queue = await stack.enter_async_context(redis_job_queue(access, settings.queue_limits()))
        checking = PlanChecking(catalogue, settings.plan.limits(), telemetry.metrics)
        servicer = ThoughtServicer(ThoughtFront(queue), checking)
        yield Component(
            name="thought", service_names=(SERVICE_NAME,), register=registrar(servicer), is_ready=queue.is_ready
        )


@asynccontextmanager
async def opened_mind(
    settings: ThoughtWorkerSettings,
    catalogue: Catalogue,
    telemetry: Telemetry,
    clock: Clock,
    budget: TenantBudget | None = None,
) -> AsyncIterator[Thinker]:
    """Build what thinks: the graph planner, the language models of the settings, and the stages around them.

    Args:
        settings: What the worker is told.
        catalogue: The tools.
        telemetry: Where it is told.
        clock: Measures.
        budget: Keeps the models' tenants within their budgets; None for no budgets.

    Raises:
        ConfigurationError: The prompts or a model's profile cannot be used, or, with `probe: require`, a model's
            server is not what the settings say.
    """
    stages = Stages(telemetry, clock)
    async with AsyncExitStack() as stack:
        models: list[PlanningModel] = []
        counters: dict[str, PromptCounter] = {}
        estimators: dict[str, TokenEstimator] = {}
        if settings.thought.plan.enabled:
            for rung, chat, purpose in (
                (Rung.MODEL, settings.model, "planner"),
                (Rung.STRONGER_MODEL, settings.stronger_model, "stronger_planner"),
            ):
                model = await stack.enter_async_context(open_chat_model(chat, purpose, telemetry, clock))
                if model is not None:
                    timeout, ready = chat.timeout_seconds, partial(can_be_asked, model)
                    models.append(PlanningModel(rung=rung, model=model, timeout_seconds=timeout, is_ready=ready))
                    counter = await stack.enter_async_context(open_prompt_counter(chat, model.profile, clock))
                    if counter is not None:
                        counters[rung.value] = counter
                    if settings.budget.estimator is Estimator.BOOSTED:
                        estimators[rung.value] = stack.enter_context(await asyncio.to_thread(_boosted))
        lengths = PromptLengths(counters)
        spending = Spending(budget, telemetry, clock, settings.budget.when_spent, lengths, estimators)
        ladder = _ladder(models, settings, catalogue, stages, spending, clock) if models else None
        rules = PipelineRules(
            routing=settings.thought.route.rules(),
            authorisation=settings.thought.authorise.authorisation(),
            limits=settings.plan.limits(),
            summary=settings.thought.summarise.rules(),
            is_stall_refused=settings.thought.stall.enabled,
        )
        graph = await stack.enter_async_context(_graph_runner(settings, catalogue, telemetry, clock))
        pipeline = Pipeline(catalogue, graph, stages, ladder, rules)
        yield Thinker(catalogue, pipeline, clock, telemetry)


@asynccontextmanager
async def _graph_runner(
    settings: ThoughtWorkerSettings, catalogue: Catalogue, telemetry: Telemetry, clock: Clock
) -> AsyncIterator[GraphRunner]:
    in_thread = InThread(GraphPlanner(catalogue))
    if not settings.worker_planner_processes:
        yield in_thread
        return
    launch = Launch(catalogue=settings.catalogue, digest=catalogue.digest)
    count, timeout_seconds = settings.worker_planner_processes, settings.worker_planner_timeout_seconds
    async with planner_processes(
        launch, count, timeout_seconds, in_thread, clock=clock, telemetry=telemetry
    ) as in_processes:
        yield in_processes


def _ladder(
    models: Sequence[PlanningModel],
    settings: ThoughtWorkerSettings,
    catalogue: Catalogue,
    stages: Stages,
    spending: Spending,
    clock: Clock,
) -> ModelLadder:
    stage = settings.thought
    asked = [chat for chat in (settings.model, settings.stronger_model) if chat.url is not None]
    authorisation = stage.authorise.authorisation()
    rules = QuestionRules(
        prompts=_prompts(stage.plan.prompts),
        reason=stage.plan.reason,
        modes=authorisation.modes,
        temperature=stage.plan.temperature,
        top_p=stage.plan.top_p,
        max_output_tokens=min(stage.plan.max_output_tokens, *(chat.max_reply_tokens for chat in asked)),
        limits=settings.plan.limits(),
        summary=stage.summarise.rules(),
    )
    routing = stage.route.rules()
    is_replaced = routing.empty_plan is EmptyPlanPolicy.SINGLE_STEP
    repair = replace(stage.repair.rules(), final=frozenset({FaultCode.EMPTY_PLAN}) if is_replaced else frozenset())
    parts = LadderParts(
        models=tuple(models),
        questions=Questions(catalogue, rules),
        selector=Selector(catalogue, stage.select.rules(authorisation.tools)),
        repairing=Repairing(Asking(rules, stages, clock, spending), rules.prompts, repair, stages),
        choice=CheapestThatFits(settings.budget.choice()),
    )
    order = LadderRules(
        max_failures=routing.max_failures,
        forget_seconds=stage.route.forget_failures_seconds,
        reserve_seconds=stage.plan.reserve_seconds,
        is_stall_refused=stage.stall.enabled,
    )
    return ModelLadder(parts, stages, clock, order)


def _boosted() -> BoostedEstimator:
    try:
        return BoostedEstimator()
    except ModuleNotFoundError as exc:
        raise ConfigurationError(
            f"TAOLOOP_BUDGET__ESTIMATOR=boosted needs {exc.name}, which is missing; install the extra `estimator`.",
            metadata={"module": exc.name or ""},
        ) from exc


def tenant_budget(settings: ThoughtWorkerSettings, link: RedisLink, clock: Clock) -> TenantBudget | None:
    """Return what keeps tenants within their budgets; None where there are none."""
    if not settings.budget.enabled:
        return None
    return RedisTenantBudget(link, settings.redis.key_prefix, settings.budget.sizes(), clock)


def _prompts(named: str) -> PromptSet:
    try:
        return load_prompts_from(Path(named)) if "/" in named else load_prompts(named)
    except InvalidRequest as exc:
        raise ConfigurationError(exc.message, metadata={"prompts": named}) from exc


@dataclass(frozen=True, slots=True)
class RunningWorker:
    """A worker at work, and the component through which its health is asked for."""

    worker: ThoughtWorker
    component: Component


@asynccontextmanager
async def worker_process(
    settings: ThoughtWorkerSettings, telemetry: Telemetry, clock: Clock
) -> AsyncIterator[RunningWorker]:
    """Run a worker while the block runs; at its end the jobs in hand are answered and no new one is taken.

    Raises:
        CatalogueInvalid: The catalogue has faults.
    """
    catalogue = await asyncio.to_thread(read_catalogue, settings.catalogue)
    with first_error():
        async with AsyncExitStack() as stack:
            link = await stack.enter_async_context(redis_link(settings.redis, telemetry))
            access = _queue_access(settings.redis, link, telemetry, clock)
            source = await stack.enter_async_context(redis_job_source(access, _source_config(settings, clock)))
            budget = tenant_budget(settings, link, clock)
            mind = await stack.enter_async_context(opened_mind(settings, catalogue, telemetry, clock, budget))
            worker = ThoughtWorker(source, mind, _worker_config(settings), clock, telemetry)
            group = await stack.enter_async_context(asyncio.TaskGroup())
            working = group.create_task(worker.run(), name="thought worker")
            component = Component(name="thought-worker", service_names=(), register=_nothing, is_ready=source.is_ready)
            try:
                yield RunningWorker(worker, component)
            finally:
                worker.stop()
                _, unfinished = await asyncio.wait([working], timeout=settings.shutdown_grace_seconds)
                if unfinished:
                    working.cancel()


@asynccontextmanager
async def queue_desk(settings: RedisSettings, telemetry: Telemetry, clock: Clock) -> AsyncIterator[QueueDesk]:
    """Open what shows how the thought queue of a Redis stands."""
    async with redis_link(settings, telemetry) as link:
        yield QueueDesk(_queue_access(settings, link, telemetry, clock))


def _queue_access(settings: RedisSettings, link: RedisLink, telemetry: Telemetry, clock: Clock) -> QueueAccess:
    return QueueAccess(link, JobCodec(record_codec()), QueueKeys(settings.key_prefix), clock, telemetry)


def _source_config(settings: ThoughtWorkerSettings, clock: Clock) -> SourceConfig:
    return SourceConfig(
        consumer=new_id(clock),
        lease_seconds=settings.worker_lease_seconds,
        background_share=settings.worker_background_share,
        max_dead_letters=settings.worker_max_dead_letters,
        patience_seconds=settings.worker_outage_seconds,
    )


def _worker_config(settings: ThoughtWorkerSettings) -> WorkerConfig:
    return WorkerConfig(
        slots=settings.slots(),
        renew_every_seconds=min(MOST_SECONDS_BETWEEN_RENEWALS, settings.worker_lease_seconds / 4),
        outage_seconds=settings.worker_outage_seconds,
    )


def _nothing(_server: object) -> None:
    """Register no service: a worker's server answers for its health alone."""
