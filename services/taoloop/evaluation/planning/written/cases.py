"""Makes planning cases of written families: each request with its tools, without one value, and without its tool."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import resources
from random import Random
from typing import Any, Final

from taoloop.evaluation.planning.written.notation import Family, WrittenCall, WrittenRequest, read_family

FORM: Final = "written/1"

Record = dict[str, Any]


def families(*, is_held_out: bool) -> tuple[Family, ...]:
    """Return the written families that are kept for judging, or the others, by name."""
    folder = resources.files(__package__).joinpath("held_out" if is_held_out else "fitted")
    paths = sorted((path for path in folder.iterdir() if path.name.endswith(".txt")), key=lambda path: path.name)
    return tuple(read_family(path.read_text(encoding="utf-8")) for path in paths)


def written(seed: int, *, is_held_out: bool) -> Iterator[Record]:
    """Yield the cases of the written families; the seed draws the tools that are offered besides.

    Each request of one call gives a case with its tool alone and one among others, one without a tool that serves it,
    and one for each value that may be left out. No tool states its effect, as strangers' tools do not.
    """
    rng = Random(seed)
    found = families(is_held_out=is_held_out)
    number = 0
    for family in found:
        others = [tool for other in found if other is not family and other.lang == family.lang
                  for tool in other.tools.values()]  # fmt: skip
        others = others or [tool for other in found if other is not family for tool in other.tools.values()]
        for record in _records(family, others, rng):
            number += 1
            yield {"id": f"w{seed}-{number:04}", "source": f"{FORM}/{family.name}", "lang": family.lang, **record}


def _records(family: Family, others: Sequence[Record], rng: Random) -> Iterator[Record]:
    for request in family.requests:
        used = list(dict.fromkeys(call.tool for call in request.calls))
        near = [tool for name, tool in family.tools.items() if name not in used]
        own = [family.tools[name] for name in used]
        yield from _plans(request, own, near, others, rng)
        for name, text in request.gaps.items():
            offered = [*own, *rng.sample(near, rng.choice((0, 0, 1, 2)))]
            yield _case("ask", text, offered, {"kind": "ask", "tool": used[0], "fields": [name], "steps": []})
        if len(request.calls) == 1 and rng.random() < 0.7:
            strangers = near if rng.random() < 0.6 else list(others)
            offered = rng.sample(strangers, rng.choice((1, 1, 2, 3)))
            yield _case("none", request.text, offered, {"kind": "none", "steps": []})
    for text, names in family.refused:
        offered = [family.tools[name] for name in names]
        offered = offered or rng.sample(list(family.tools.values()), rng.choice((2, 4, 6)))
        yield _case("none", text, offered, {"kind": "none", "steps": []})


def _plans(
    request: WrittenRequest, own: Sequence[Record], near: Sequence[Record], others: Sequence[Record], rng: Random
) -> Iterator[Record]:
    steps = [_step(number, call) for number, call in enumerate(request.calls, 1)]
    expected = {"kind": "plan", "steps": steps}
    few = [*own, *rng.sample(list(near), min(len(near), rng.choice((1, 2, 3)))), *rng.sample(list(others), 2)]
    if len(steps) == 1:
        yield _case("simple", request.text, own, expected)
        yield _case("choose", request.text, few, expected)
        return
    offered = few if rng.random() < 0.6 else own
    yield _case("multistep" if any(step["depends_on"] for step in steps) else "parallel", request.text, offered,
                expected)  # fmt: skip


def _step(number: int, call: WrittenCall) -> Record:
    arguments: Record = {}
    needed = []
    for name, values in call.arguments.items():
        if len(values) == 1 and isinstance(values[0], str) and values[0].startswith("$"):
            place, _, field = values[0][1:].partition(".")
            arguments[name] = {"$ref": f"s{place}.{field}"}
            needed.append(f"s{place}")
        else:
            arguments[name] = [_fields(value) for value in values]
    depends_on = list(dict.fromkeys(needed))
    return {"id": f"s{number}", "tool": call.tool, "args": arguments, "optional": list(call.optional),
            "depends_on": depends_on}  # fmt: skip


def _fields(value: Any) -> Any:
    if isinstance(value, dict):
        return {"$fields": {name: [_fields(member)] for name, member in value.items()}}
    return value


def _case(category: str, query: str, offered: Sequence[Record], expected: Record) -> Record:
    tools = [{name: part for name, part in tool.items() if name != "effect"} for tool in offered]
    return {
        "category": category, "context": "", "query": query, "match": "exact",
        "tools": sorted(tools, key=lambda tool: str(tool["name"])), "expected": expected,
    }  # fmt: skip
