"""Rules of `taoloop observe` and of its commands, which need no service."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from taoloop.evaluation.samples.replaying import Replay
from tests.unit.cli.conftest import Done, Invoke
from tests.unit.evaluation.samples.orders import GOOD, OBSERVE, RULES, sample, write


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    """A catalogue of one tool, `get_order`."""
    (tmp_path / "catalogue").mkdir()
    return write(tmp_path / "catalogue", sample(GOOD))


def written(directory: Path, content: Any, name: str = "response.json") -> str:
    path = directory / name
    path.write_text(content if isinstance(content, str) else json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return str(path)


def observe(invoke: Invoke, catalogue: Path, content: Any, *more: str) -> Done:
    response = written(catalogue.parent, content)
    return invoke("observe", "--catalogue", str(catalogue), "--tool", "get_order", "--action-response", response, *more)


@pytest.mark.parametrize(
    ("body", "code", "part"), [('{"state":"S","eta":"x","fee":0.10}', 0, "0.10"), ("{}", 1, "/state")]
)
def test_a_response_is_judged_from_its_file(body: str, code: int, part: str, catalogue: Path, invoke: Invoke) -> None:
    done = observe(invoke, catalogue, body)
    assert done.code == code
    assert part in done.out
    assert json.loads(observe(invoke, catalogue, body, "--json").out)["valid"] is (code == 0)


def test_a_rule_that_fails_is_shown_with_the_values_that_it_read(catalogue: Path, invoke: Invoke) -> None:
    done = observe(invoke, catalogue, {**GOOD, "eta": ""})
    assert done.code == 1
    assert "rule shipped_has_eta: " in done.out
    assert 'data.status is "shipped"' in done.out
    assert 'body.eta is ""' in done.out


def test_an_answer_is_first_judged_as_the_action_service_does(catalogue: Path, invoke: Invoke) -> None:
    done = observe(invoke, catalogue, {"status_code": 404, "body": {}})
    assert "fault NOT_FOUND: " in done.out


def test_timing_tells_what_each_check_costs(catalogue: Path, invoke: Invoke) -> None:
    done = observe(invoke, catalogue, GOOD, "--timing")
    assert done.code == 0
    assert "µs  verdict" in done.out
    assert "µs  cheap" in done.out
    told = json.loads(observe(invoke, catalogue, GOOD, "--timing", "--json").out)["timing"]
    assert told[0]["check"] == "verdict"
    assert all(each["seconds"] > 0 for each in told)
    assert "timing" not in json.loads(observe(invoke, catalogue, GOOD, "--json").out)


def test_an_answer_that_the_tool_still_works_on_is_pending_and_no_judgement(catalogue: Path, invoke: Invoke) -> None:
    done = observe(invoke, catalogue, {"status_code": 202})
    assert done.code == 1
    assert done.out.startswith("get_order: pending")
    assert "confidence" not in done.out
    assert "suggested next: wait" in done.out


def test_a_sample_is_a_response_and_names_its_tool(catalogue: Path, invoke: Invoke) -> None:
    response = written(catalogue.parent, {**sample(GOOD), "tool": "get_order"})
    done = invoke("observe", "--catalogue", str(catalogue), "--action-response", response)
    assert done.code == 0, done.out + done.err
    assert done.out.startswith("get_order: valid")


def test_a_catalogue_whose_samples_drift_can_still_judge(catalogue: Path, invoke: Invoke) -> None:
    written(catalogue / "samples", sample({"state": 5}), "0.json")
    assert observe(invoke, catalogue, GOOD).code == 0


def test_explain_shows_normalisers_rules_step_by_step_and_the_confidence(catalogue: Path, invoke: Invoke) -> None:
    done = observe(invoke, catalogue, {**GOOD, "fee": 11}, "--explain")
    assert done.code == 0
    lines = [line.strip() for line in done.out.splitlines()]
    assert '/state → /status, enum: "S" → "shipped"' in lines
    assert "fail          cheap (soft)" in lines
    assert "body.fee → 11" in lines
    assert any(line.startswith("soft") and "score 0" in line for line in lines)
    verdict = json.loads(observe(invoke, catalogue, {**GOOD, "fee": 11}, "--explain", "--json").out)
    assert lines[-1].endswith(f"= {verdict['confidence']:.4f}".rstrip("0"))
    explained = verdict["explanation"]
    assert [rule["rule_id"] for rule in explained["rules"]] == ["success_rule", "cheap", "shipped_has_eta"]
    assert explained["normalisers"][0]["before"] == "S"


def test_explain_names_a_value_that_a_normaliser_refuses(catalogue: Path, invoke: Invoke) -> None:
    done = observe(invoke, catalogue, {**GOOD, "state": "LOST"}, "--explain")
    assert done.code == 1
    assert '/state → /status, enum: "LOST" refused: ' in done.out


def test_observe_without_a_response_says_what_is_missing(invoke: Invoke, catalogue: Path) -> None:
    done = invoke("observe", "--catalogue", str(catalogue))
    assert done.code == 2
    assert "--action-response" in done.err


@pytest.mark.parametrize("command", [[], ["replay"], ["answer"], ["sandbox"]])
def test_help_teaches_with_an_example(command: list[str], invoke: Invoke) -> None:
    done = invoke("observe", *command, "--help")
    assert done.code == 0
    assert "Example: taoloop observe" in done.out


def changed(catalogue: Path, **changes: Any) -> str:
    new = catalogue.parent / "new"
    new.mkdir()
    return str(write(new, sample(GOOD), **changes))


STRICT = [{**RULES[0], "severity": "hard", "when": {"<": [{"var": "body.fee"}, 1]}}, RULES[1]]


def test_a_replay_shows_the_verdicts_that_a_changed_contract_changes(catalogue: Path, invoke: Invoke) -> None:
    lines = [{"tool": "get_order", "status_code": 200, "body": body} for body in (GOOD, {**GOOD, "fee": 0})]
    records = written(catalogue.parent, "\n".join(map(json.dumps, lines)), "records.jsonl")
    new = changed(catalogue, spec__observe={**OBSERVE, "rules": STRICT})

    done = invoke("observe", "replay", records, "--catalogue", new, "--against", str(catalogue))

    assert done.code == 1
    assert f"{records}:1: get_order: valid → not valid (RULE_FAILED)" in done.out
    assert f"{records}:2" not in done.out
    assert "2 records, 1 valid; changed: 1 verdict (1 no longer valid)" in done.out
    as_json = invoke("observe", "replay", records, "--catalogue", new, "--against", str(catalogue), "--json").out
    first, summary = map(json.loads, as_json.splitlines())
    assert first["changed"] == {"verdict": True, "data": False, "exposed": False, "confidence": True}
    assert (first["old"]["valid"], first["new"]["fault"]) == (True, "RULE_FAILED")
    assert summary["summary"]["verdicts"] == 1


def test_a_replay_in_which_only_data_changes_is_exit_code_0(catalogue: Path, invoke: Invoke) -> None:
    rules = [{"field": "/state", "to": "/status", "enum": {"S": "sent", "D": "delivered"}}]
    new = changed(catalogue, spec__observe={"normalise": rules})
    done = invoke("observe", "replay", str(catalogue / "samples"), "--catalogue", new, "--against", str(catalogue))
    assert done.code == 0, done.out
    assert 'data /status: "shipped" → "sent"' in done.out


def test_bad_lines_of_a_replay_are_named_and_are_exit_code_2(catalogue: Path, invoke: Invoke) -> None:
    good = json.dumps({"tool": "get_order", "status_code": 200, "body": GOOD})
    records = written(catalogue.parent, f"{good}\nno json\n{good}", "records.jsonl")
    done = invoke("observe", "replay", records, "--catalogue", str(catalogue), "--against", str(catalogue))
    assert done.code == 2
    assert f"{records}:2: left out: it is not JSON" in done.err
    assert "2 records, 2 valid; " in done.out
    assert "1 left out" in done.out


def test_an_interrupted_replay_shows_what_it_counted(
    catalogue: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = iter([Replay.replayed])

    def interrupted(self: Replay, exchange: Any) -> Any:
        for original in calls:
            return original(self, exchange)
        raise KeyboardInterrupt

    monkeypatch.setattr(Replay, "replayed", interrupted)
    line = json.dumps({"tool": "get_order", "status_code": 200, "body": GOOD})
    records = written(catalogue.parent, f"{line}\n{line}", "records.jsonl")
    done = invoke("observe", "replay", records, "--catalogue", str(catalogue))
    assert done.code == 130
    assert "1 record, 1 valid" in done.out


def test_records_that_are_not_there_are_named(catalogue: Path, invoke: Invoke) -> None:
    done = invoke("observe", "replay", "nowhere", "--catalogue", str(catalogue))
    assert done.code == 2
    assert "nowhere" in done.err


def test_an_answer_is_held_against_observations(catalogue: Path, invoke: Invoke) -> None:
    evidence = written(catalogue.parent, observe(invoke, catalogue, {**GOOD, "fee": 1234.5}, "--json").out, "seen.json")
    right = written(catalogue.parent, "The fee is 1,234.50.", "right.txt")
    wrong = written(catalogue.parent, "The fee is 99.", "wrong.txt")

    done = invoke("observe", "answer", right, "--evidence", evidence)
    assert done.code == 0, done.out
    assert "1,234.50" in done.out
    assert "/fee" in done.out
    done = invoke("observe", "answer", wrong, "--evidence", evidence)
    assert done.code == 1
    assert "not grounded: 1 claims, 1 not supported" in done.out
    assert json.loads(invoke("observe", "answer", wrong, "--evidence", evidence, "--json").out)["grounded"] is False


def test_a_sandbox_tells_a_wrong_result_from_a_right_one(catalogue: Path, invoke: Invoke) -> None:
    request = ("sandbox", "where is my order? order_id A-1001", "--catalogue", str(catalogue), "--tool", "get_order")
    asked = ("--arguments", '{"order_id": "A-1001"}')

    wrong = invoke("observe", *request, "--action-response", written(catalogue.parent, {"state": 5}), *asked)
    assert wrong.code == 1
    assert "verdict: the tool's result is wrong" in wrong.out

    right = invoke("observe", *request, "--action-response", written(catalogue.parent, GOOD), *asked, "--json")
    shown = json.loads(right.out)
    assert shown["observation"]["valid"] is True
    assert shown["verdict"] in {"understood", "undecided"}
    assert right.code == 0
    assert shown["outcome"]["type"]


def test_a_secret_in_the_data_is_masked_where_a_build_would_keep_it(catalogue: Path, invoke: Invoke) -> None:
    done = observe(invoke, catalogue, {**GOOD, "note": "token=abc123456"})
    assert "abc123456" not in done.out
    assert "data: " in done.out
    assert "masked in prompts: /note" in done.out
