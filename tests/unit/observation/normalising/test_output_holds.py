"""Whatever a normaliser makes of a body that keeps the response schema keeps the derived output schema."""

from dataclasses import replace
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, dumps
from taoloop.observation.normalising import compile_normaliser
from taoloop.tools.contract import Observe
from taoloop.tools.normalisers.places import find
from taoloop.tools.output_schema import derive
from taoloop.tools.schemas import CompiledSchema
from tests.unit.observation.normalising.drawing import Drawing


def without_problems(schema: Any, observe: Observe) -> Observe:
    """Leave out the rules that loading refuses; another one may fit or not fit without them."""
    while True:
        bad = {problem.index for problem in derive(schema, observe).problems}
        if not bad:
            return observe
        kept = tuple(rule for index, rule in enumerate(observe.normalise) if index not in bad)
        observe = replace(observe, normalise=kept)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**63))
def test_what_is_made_of_a_body_keeps_the_derived_schema(seed: int) -> None:
    chance = Random(seed)
    drawing = Drawing(chance)
    drawn = drawing.document()
    some = tuple(drawing.rule(drawn.places) for _ in range(chance.randint(0, 4)))
    observe = without_problems(drawn.schema, Observe(normalise=some, pick=drawing.pick(drawn.places)))
    normaliser = compile_normaliser(observe)
    if normaliser is None:
        return
    derived: Any = derive(drawn.schema, observe).schema
    output = CompiledSchema.compile(derived)
    for _ in range(3):
        body = drawn.body()
        if not CompiledSchema.compile(drawn.schema).is_valid(body):
            continue
        before = dumps(body)
        made, outcome = normaliser.apply(body)
        assert dumps(body) == before
        if made is ABSENT:
            assert outcome.flaws
            assert all(_is_there(body, flaw) for flaw in outcome.flaws if flaw.failure.rule_id != "no_place")
        else:
            assert output.violations(made) == (), (drawn.schema, observe, body, made)


def _is_there(body: Any, flaw: Any) -> bool:
    return bool(list(find(body, pointers.parse(flaw.failure.pointer))))
