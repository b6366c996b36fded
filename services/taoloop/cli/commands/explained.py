"""How `taoloop plan explain` asks and shows: one request, then each stage, then who would plan it."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Any

from taoloop.core.errors import FieldViolation, InvalidRequest
from taoloop.core.exact_json import JsonValue, dumps
from taoloop.plan.thinking import ThinkRequest

if TYPE_CHECKING:
    from taoloop.tools.catalogue import Catalogue


def explained_request(query: str, reference_time: str, time_zone: str, locale: str) -> ThinkRequest:
    """Return the request that is explained.

    Raises:
        InvalidRequest: The reference time is none.
    """
    from taoloop.core.clock import SystemClock
    from taoloop.plan.task import Permissions, Role, Turn
    from taoloop.tools.signature import Effect

    return ThinkRequest(
        run_id="0" * 32,
        iteration=1,
        turns=(Turn(role=Role.USER, text=query),),
        reference_time=_moment(reference_time) if reference_time else SystemClock().now(),
        time_zone=time_zone,
        locale=locale,
        permissions=Permissions(max_effect=Effect.WRITE),
    )


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        violation = FieldViolation("--at", "is no moment such as 2026-05-20T09:00:00Z")
        raise InvalidRequest(f"{text!r} is no moment with its offset.", violations=[violation])
    return moment


def routed(catalogue: Catalogue, request: ThinkRequest) -> dict[str, JsonValue]:
    """Return who would plan a request by the settings of the environment, and which tools a model would be offered.

    ```json
    {"route": {"planner": "graph", "reason": "urgent_words", "word": "asap", "input_tokens": 12},
     "selection": {"tools": ["..."], "needed_by": {"...": "..."}, "left_out": {"...": "no_room"}}}
    ```

    A model counts as ready here, so that what the request itself decides is seen.
    """
    from taoloop.core.settings import load_settings
    from taoloop.thought.pipeline.routing import Standing, route
    from taoloop.thought.pipeline.selecting import Selector
    from taoloop.thought.planners.graph import GraphPlanner
    from taoloop.thought.settings import ThoughtWorkerSettings

    settings = load_settings(ThoughtWorkerSettings, {"catalogue": "."}).thought
    authorisation = settings.authorise.authorisation()
    request = authorisation.narrowed(request)
    chosen = route(request, GraphPlanner(catalogue).plan(request), settings.route.rules(), Standing())
    selection = Selector(catalogue, settings.select.rules(authorisation.tools)).select(request)
    return {
        "route": {
            "planner": chosen.planner.value,
            "reason": chosen.reason.value,
            "word": chosen.word,
            "input_tokens": chosen.input_tokens,
        },
        "selection": {
            "tools": [tool.name for tool in selection.tools],
            "needed_by": dict(selection.needed_by),
            "left_out": {name: reason.value for name, reason in selection.left_out.items()},
        },
    }


def show_explanation(explanation: dict[str, Any]) -> None:
    """Write an explanation for a person: spans, clauses with their tools, the chain, the decision, the route."""
    from taoloop.cli.terminal import output, styled, table, table_output

    spans = table("spans", ("kind", "text", "place", "more"))
    for span in explanation["spans"]:
        more = ", ".join(f"{name} {span[name]}" for name in ("unit", "name") if name in span)
        spans.add_row(*map(styled, (span["kind"], span["text"], f"{span['start']}-{span['end']}", more)))
    table_output().print(spans)
    for clause in explanation["clauses"]:
        _show_clause(clause)
    for step in explanation["steps"]:
        output().print(styled(f"step {step['id']} {step['tool']}", "bold"))
        for argument in step["arguments"]:
            output().print(styled(f"  {_argument(argument)}"))
    decision = dict(explanation["decision"])
    field = decision.pop("field", None)
    numbers = ", ".join(f"{name} {value}" for name, value in decision.items() if name != "kind")
    asked = f" for {field['tool']}{field['pointer']}" if field else ""
    output().print(styled(f"decision: {decision['kind']}{asked}; {numbers}", "green"))
    _show_route(explanation["route"], explanation["selection"])


def _show_route(route: dict[str, Any], selection: dict[str, Any]) -> None:
    from taoloop.cli.terminal import output, styled

    word = f" {dumps(route['word'])}" if route["word"] else ""
    output().print(styled(f"route: {route['planner']} ({route['reason']}{word})", "green"))
    needed = selection["needed_by"]
    offered = [f"{name} (for {needed[name]})" if name in needed else name for name in selection["tools"]]
    output().print(styled(f"a model would be offered {len(offered)}: {', '.join(offered) or 'nothing'}"))
    reasons = Counter(selection["left_out"].values())
    if reasons:
        counts = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
        output().print(styled(f"left out: {counts}"))


def _show_clause(clause: dict[str, Any]) -> None:
    from taoloop.cli.terminal import output, styled

    output().print(styled(f"clause: {clause['text']} ({clause['intent']})", "bold"))
    ranked = ", ".join(f"{item['tool']} {item['score']}" for item in clause["tools"])
    output().print(styled(f"  tools: {ranked or 'none shares a word'}"))
    chosen = clause.get("chosen")
    if chosen is None:
        return
    evidence = ", ".join(f"{name} {value}" for name, value in chosen["evidence"].items())
    output().print(styled(f"  chosen: {chosen['tool']}, fit {chosen['fit']} by {evidence}"))
    for argument in clause["assignment"]:
        output().print(styled(f"    {_argument(argument)}"))
    for pointer in clause["missing"]:
        output().print(styled(f"    {pointer} is missing", "yellow"))


def _argument(argument: dict[str, JsonValue]) -> str:
    if "step" in argument:
        return f"{argument['pointer']} from {argument['field']} of step {argument['step']}"
    words = f" by {dumps(argument['words'])} (score {argument['score']})" if "words" in argument else ""
    value = f" = {dumps(argument['value'])}" if "value" in argument else ""
    return f"{argument['pointer']} from {argument['from']}{words}{value}"
