"""Shows why the graph planner decides as it does: spans, scores of tools, assignment, chain and the three numbers."""

from __future__ import annotations

from dataclasses import fields

from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.plan.model import StepOutput
from taoloop.plan.thinking import ThinkRequest
from taoloop.thought.planners.graph.calibration.evidence import FitEvidence
from taoloop.thought.planners.graph.calibration.model import Calibration, fitted
from taoloop.thought.planners.graph.calls.model import Step
from taoloop.thought.planners.graph.chain import Chaining
from taoloop.thought.planners.graph.decide import Ask, Call, Verdict, choose, decide
from taoloop.thought.planners.graph.index import PlannerIndex
from taoloop.thought.planners.graph.rank import rank, read_intent
from taoloop.thought.planners.graph.sources import Bound
from taoloop.thought.planners.graph.view import RequestView, read_request
from taoloop.tools.catalogue import Catalogue

SHOWN_TOOLS = 5
"""How many tools of a clause are shown."""


def explain(catalogue: Catalogue, request: ThinkRequest) -> dict[str, JsonValue]:
    """Return what each stage makes of a request, as JSON; permissions are not looked at.

    ```json
    {"spans": [{"kind": "date", "text": "tomorrow", "start": 4, "end": 12}],
     "clauses": [{"text": "...", "intent": "read", "tools": [{"tool": "...", "score": 1.2}], "chosen": {"fit": 0.8}}],
     "steps": [{"id": "1.t1", "tool": "...", "arguments": [{"pointer": "/day", "from": "request", "value": "..."}]}],
     "decision": {"kind": "plan", "fits": 0.8, "arguments": 0.7, "missing": 0.1}}
    ```
    """
    calibration = fitted()
    view = read_request(request)
    if view is None:
        return {"spans": [], "clauses": [], "steps": [], "decision": {"kind": "none"}}
    index = PlannerIndex(catalogue.signatures())
    chaining = Chaining(index, view, request.iteration, frozenset(tool.name for tool in index.tools))
    verdict = decide(chaining, {}, calibration)
    return {
        "spans": [_span(view, number) for number in range(len(view.mentions))],
        "clauses": _clauses(chaining, calibration),
        "steps": [_step(step) for step in verdict.steps] if isinstance(verdict, Call) else [],
        "decision": _decision(verdict),
    }


def _span(view: RequestView, number: int) -> dict[str, JsonValue]:
    mention = view.mentions[number]
    shown: dict[str, JsonValue] = {
        "kind": mention.kind.value, "text": mention.text, "start": mention.start, "end": mention.end,
    }  # fmt: skip
    return shown | ({"unit": mention.unit} if mention.unit else {}) | ({"name": mention.label} if mention.label else {})


def _clauses(chaining: Chaining, calibration: Calibration) -> list[JsonValue]:
    shown: list[JsonValue] = []
    steps: tuple[Step, ...] = ()
    for clause in chaining.view.clauses:
        place = (clause.start, clause.end)
        intent, verbs = read_intent(chaining.view.plain_text(place))
        ranked = rank(chaining.index, chaining.view.words_in(place), intent, verbs, limit=SHOWN_TOOLS)
        row: dict[str, JsonValue] = {
            "text": clause.text.strip(),
            "intent": intent.value,
            "tools": [{"tool": item.tool.name, "score": round(item.score, 3)} for item in ranked],
        }
        choice = choose(chaining, {}, place, steps, calibration)
        if choice is not None:
            row["chosen"] = _chosen(choice.tool.name, choice.fit, choice.evidence)
            row["assignment"] = [_argument(item) for item in choice.draft.bound.values()]
            row["missing"] = [item.slot.pointer for item in choice.draft.missing]
            steps = steps if choice.draft.missing else choice.draft.steps
        shown.append(row)
    return shown


def _chosen(tool: str, fit: float, evidence: FitEvidence) -> dict[str, JsonValue]:
    names = [item.name for item in fields(evidence)]
    numbers: dict[str, JsonValue] = {
        name: round(number, 3) for name, number in zip(names, evidence.values(), strict=True)
    }
    return {"tool": tool, "fit": round(fit, 3), "evidence": numbers}


def _argument(item: Bound) -> dict[str, JsonValue]:
    shown: dict[str, JsonValue] = {"pointer": item.slot.pointer, "from": item.origin}
    if isinstance(item.source, StepOutput):
        field = item.source.pointer
        if item.items is not None:  # of every item, not of the first
            field = f"{item.items.pointer}/*{field.removeprefix(item.items.pointer + '/0')}"
        return shown | {"step": item.source.step_id, "field": field}
    if item.mention is not None:
        shown |= {"words": item.mention.text, "score": round(item.score, 3)}
    return shown | ({} if item.value is ABSENT else {"value": item.value})


def _step(step: Step) -> dict[str, JsonValue]:
    return {
        "id": step.step_id,
        "tool": step.tool.name,
        "arguments": [_argument(item) for item in step.bound.values()],
    }


def _decision(verdict: Verdict) -> dict[str, JsonValue]:
    shown: dict[str, JsonValue] = {"fits": round(verdict.fit, 3)}
    match verdict:
        case Call(arguments=arguments, missing=missing):
            return {"kind": "plan", **shown, "arguments": round(arguments, 3), "missing": round(missing, 3)}
        case Ask(missing=field, gap=gap):
            asked: dict[str, JsonValue] = {"tool": field.tool.name, "pointer": field.slot.pointer}
            return {"kind": "ask", **shown, "missing": round(gap, 3), "field": asked, "reason": field.reason.value}
        case _:
            return {"kind": "none", **shown}
