"""Generated cases: the same seed gives the same ones, and what is expected of them can be done."""

from collections import Counter
from importlib import resources
from itertools import islice

from taoloop.core.exact_json import dumps, loads
from taoloop.evaluation.planning.cases import case_of
from taoloop.evaluation.planning.generating.attributes import ATTRIBUTES
from taoloop.evaluation.planning.generating.cases import generate
from taoloop.evaluation.planning.generating.subjects import HELD_OUT, SUBJECTS
from taoloop.evaluation.planning.provenance import content_hash
from taoloop.evaluation.planning.scoring import score
from taoloop.thought.planners.graph.calibration.model import FILE
from taoloop.tools.schemas import CompiledSchema

CASES = list(generate(1, 400))


def test_the_same_seed_gives_the_same_cases() -> None:
    assert dumps(CASES) == dumps(list(generate(1, 400)))
    assert dumps(CASES) != dumps(list(generate(2, 400)))


def test_every_category_is_there_in_both_languages() -> None:
    found = Counter((case["category"], case["lang"]) for case in CASES)
    assert len(found) == 12
    assert min(found.values()) >= 5


def test_the_subjects_kept_for_judging_take_no_part_in_fitting() -> None:
    kept = {subject.token for subject in SUBJECTS[-HELD_OUT:]}
    fitted = {case["source"].partition("/1/")[2] for case in generate(1, 400, is_held_out=False)}
    judged = {case["source"].partition("/1/")[2] for case in generate(1, 400, is_held_out=True)}
    assert judged == kept
    assert not fitted & kept
    assert len(SUBJECTS) == 40


def test_every_attribute_of_a_subject_is_known() -> None:
    assert {name for subject in SUBJECTS for name in subject.attributes} <= ATTRIBUTES.keys()


def test_every_expected_plan_is_right_by_the_score_and_keeps_the_schemas() -> None:
    for record in islice((case for case in CASES if case["expected"]["kind"] == "plan"), 150):
        case = case_of(loads(dumps(record)))  # type: ignore[arg-type]  # a record is an object
        steps = [
            {"id": step["id"], "tool": step["tool"], "args": _first(step["args"]), "depends_on": step["depends_on"]}
            for step in case.expected["steps"]
        ]
        assert score(case, {"kind": "plan", "steps": steps}).is_right
        for step in steps:
            tool = next(tool for tool in case.tools if tool["name"] == step["tool"])
            literals = {name: value for name, value in step["args"].items() if not _is_reference(value)}
            parameters = {**tool["parameters"], "required": []}
            assert CompiledSchema.compile(parameters).is_valid(literals)


def test_the_calibration_that_ships_is_unchanged_since_it_was_fitted() -> None:
    text = resources.files("taoloop.thought.planners.graph.calibration").joinpath(FILE).read_text(encoding="utf-8")
    document = loads(text)
    assert isinstance(document, dict)
    assert document["sha256"] == content_hash(document)


def _is_reference(value: object) -> bool:
    return isinstance(value, dict) and "$ref" in value


def _first(arguments: dict[str, object]) -> dict[str, object]:
    """Return the first accepted value of each argument; references and objects as they are meant."""
    made: dict[str, object] = {}
    for name, accepted in arguments.items():
        if isinstance(accepted, dict):
            made[name] = accepted
            continue
        assert isinstance(accepted, list)
        value = accepted[0]
        if isinstance(value, dict) and "$fields" in value:
            value = {key: options[0] for key, options in value["$fields"].items()}
        made[name] = value
    return made
