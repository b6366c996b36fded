"""How many tokens a language model reads and writes for the plans of a file of planning cases, as skeletons."""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from taoloop.core.exact_json import dumps, equal
from taoloop.evaluation.planning.cases import PLAN, PlanningCase, read_cases
from taoloop.evaluation.planning.predicting import request_of, signatures
from taoloop.plan.check_context import estimate_tokens
from taoloop.thought.planners.model.grammar import skeleton_schema
from taoloop.thought.planners.model.offer import Offer, OfferedTool
from taoloop.thought.planners.model.parameters import Parameter, ParameterKind
from taoloop.thought.planners.model.prompts import build_prompt, load_prompts
from taoloop.thought.planners.model.signatures import tool_lines

Count = Callable[[str], int]
_SENTENCE: Final = "The order number leads to the state of the order, which was asked for."


def main() -> None:
    """Print medians for each category, and one JSON object in the last line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", type=Path, help="JSON lines of planning cases; expected plans are only counted.")
    parser.add_argument("--encoding", default="", help="An encoding of the package bpe_openai; else an estimate.")
    options = parser.parse_args()
    count = _counter(options.encoding)
    cases = [line.case for line in read_cases(options.cases)]
    plans = [case for case in cases if case.kind == PLAN]
    written = {case.id: count(skeleton_of(case)) for case in plans}
    for category in sorted({case.category for case in plans}):
        figures = [written[case.id] for case in plans if case.category == category]
        print(f"{category:<12}{len(figures):>5} plans {statistics.median(figures):>6.0f} tokens, P95 {_p95(figures)}")
    print(
        json.dumps(
            {"tokens_by": options.encoding or "estimate", **_output(written, plans, count), **_input(cases, count)}
        )
    )


def _counter(encoding: str) -> Count:
    if not encoding:
        return estimate_tokens
    known = importlib.import_module("bpe_openai").get_encoding(encoding)
    return lambda text: len(known.encode_ordinary(text))


def _output(written: dict[str, int], plans: list[PlanningCase], count: Count) -> dict[str, float]:
    figures = list(written.values())
    as_json = [count(dumps({"steps": case.expected["steps"]})) for case in plans]
    return {
        "plans": len(figures),
        "skeleton_tokens_median": statistics.median(figures),
        "skeleton_tokens_p95": _p95(figures),
        "with_one_sentence_median": statistics.median(figures) + count(f'"why":"{_SENTENCE}",'),
        "plan_as_json_median": statistics.median(as_json),
    }


def _input(cases: Iterable[PlanningCase], count: Count) -> dict[str, float]:
    prompts, lines, schemas, shares, prompt_tokens, grammar_bytes = load_prompts(), 0, 0, [], [], []
    for case in cases:
        request = request_of(case)
        tools = [OfferedTool.of(signature) for signature in signatures(case.tools)]
        offer = Offer.of(tools, request)
        prompt = build_prompt(prompts, offer, request)
        lines += count(tool_lines(tools))
        schemas += count(dumps(list(case.tools)))
        shares.append(prompt.stable_share)
        prompt_tokens.append(sum(count(message.content) for message in prompt.messages))
        grammar_bytes.append(len(dumps(skeleton_schema(offer))))
    return {
        "signatures_to_schemas": round(lines / schemas, 3),
        "prompt_tokens_median": statistics.median(prompt_tokens),
        "stable_share_median": round(statistics.median(shares), 3),
        "grammar_bytes_median": statistics.median(grammar_bytes),
    }


def _p95(figures: list[int]) -> int:
    return sorted(figures)[max(0, round(0.95 * len(figures)) - 1)]


def skeleton_of(case: PlanningCase) -> str:
    """Return the expected plan as a skeleton; its values stand for quotes of the same length."""
    tools = {signature.name: (number, OfferedTool.of(signature)) for number, signature in _numbered(case)}
    steps = []
    for step in case.expected["steps"]:
        number, tool = tools[step["tool"]]
        optional = set(step.get("optional", ()))
        args = {name: _first(value) for name, value in step["args"].items() if name not in optional}
        steps.append(
            _trimmed([number, *(_value(parameter, args.get(parameter.name)) for parameter in tool.parameters)])
        )
    return dumps({"plan": steps})


def _numbered(case: PlanningCase) -> Iterable[tuple[int, Any]]:
    return enumerate(signatures(case.tools), 1)


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else value


def _value(parameter: Parameter, gold: Any) -> Any:
    if gold is None or gold == "":
        return None
    if isinstance(gold, dict) and set(gold) == {"$ref"}:
        step, _, place = str(gold["$ref"]).partition(".")
        return {step.removeprefix("s"): place or "."}
    chosen = next((choice.number for choice in parameter.choices if equal(choice.value, gold)), None)
    if chosen is not None:
        return chosen
    if parameter.kind is ParameterKind.OBJECT and isinstance(gold, dict):
        return _trimmed([_value(member, _first(gold.get(member.name))) for member in parameter.members])
    if parameter.kind is ParameterKind.LIST and isinstance(gold, list):
        return [_value(parameter.members[0], item) for item in gold]
    if isinstance(gold, bool):
        return {"true" if gold else "false": parameter.name}
    return gold if isinstance(gold, str) else dumps(gold)


def _trimmed(values: list[Any]) -> list[Any]:
    while values and values[-1] is None:
        values.pop()
    return values


if __name__ == "__main__":
    main()
