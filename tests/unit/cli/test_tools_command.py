"""Rules of `taoloop tools`, `plan` and `observe`, which need no service."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Invoke

CATALOGUE = """
apiVersion: taoloop.dev/v1
kind: Catalogue
metadata: {name: shop}
spec:
  bases: {shop: "http://127.0.0.1:1"}
  tools: tools/*.yaml
"""
TOOL = """
apiVersion: taoloop.dev/v1
kind: Tool
metadata: {name: find_book}
spec:
  description: Price of a book by its title.
  use_when: the user asks what a book costs
  avoid_when: anything but books
  effect: read
  parameters:
    type: object
    required: [title]
    additionalProperties: false
    properties: {title: {type: string, description: Title of the book}}
  response:
    type: object
    required: [price]
    properties: {price: {type: number}}
  transport:
    http: {method: GET, url: "{{base.shop}}/books", query: {title: "{title}"}}
  timeout: 1500ms
"""


HITS = "{price: {type: number}, weight: {type: string}, hits: {type: array, items: {type: object}}}"
OBSERVE = """\
  success: {"===": [{"var": status_code}, 200]}
  breaker: {preset: strict}
  errors: [{when: {"===": [{"var": status_code}, 404]}, code: NOT_FOUND}]
  observe:
    min_score: {field: /hits/*/score, min: 0.6, take: best}
    pick: [/price, /hits]
    normalise: [{field: /weight, as: unit, to_unit: kg}]
    rules: [{id: dear, severity: soft, when: {"<": [{"var": data.price}, 90]}}]
    known: {/price: [10, 20]}
    weight: 0.5
    redact: [phone, {field: /price}, {name: shelf, pattern: "S-[0-9]{4}"}]
    projections: {cost: {when: what it costs, expose: [/price]}}
    expose: [/price]
"""


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    """A catalogue of one tool."""
    (tmp_path / "tools").mkdir()
    (tmp_path / "catalogue.yaml").write_text(CATALOGUE, encoding="utf-8")
    (tmp_path / "tools" / "find_book.yaml").write_text(TOOL, encoding="utf-8")
    return tmp_path


def test_a_good_catalogue_is_exit_code_0_with_a_summary(catalogue: Path, invoke: Invoke) -> None:
    done = invoke("tools", "check", str(catalogue))
    assert done.code == 0, done.out
    assert "1 tool, 0 samples, 0 findings, digest " in done.out


def test_a_tool_without_a_sample_is_named_and_refused_where_samples_are_required(
    catalogue: Path, invoke: Invoke
) -> None:
    done = invoke("tools", "check", str(catalogue))
    assert "without a sample: find_book" in done.out
    assert invoke("tools", "check", str(catalogue), "--require-samples").code == 1
    whole = json.loads(invoke("tools", "check", str(catalogue), "--json").out)
    assert whole["summary"]["without_samples"] == ["find_book"]
    assert invoke("tools", "check", "examples/customer-service", "--require-samples").code == 0
    assert invoke("tools", "check", str(catalogue / "bundle.json"), "--require-samples").code == 2


def test_every_finding_has_its_place_and_exit_code_1(catalogue: Path, invoke: Invoke) -> None:
    path = catalogue / "tools" / "find_book.yaml"
    path.write_text(TOOL.replace("effect: read", "effect: maybe"), encoding="utf-8")
    done = invoke("tools", "check", str(catalogue))
    assert done.code == 1
    assert f"{path}:9:" in done.out
    finding, summary = map(json.loads, invoke("tools", "check", str(catalogue), "--json").out.splitlines())
    assert (finding["severity"], finding["line"]) == ("error", 9)
    assert finding["cause"]
    assert finding["remedy"]
    assert summary["summary"]["errors"] == 1
    annotated = invoke("tools", "check", str(catalogue), "--annotations")
    assert annotated.code == 1
    assert annotated.out.startswith(f"::error file={path},line=9,col=")


def test_show_tells_the_time_limit_that_is_in_effect(catalogue: Path, invoke: Invoke) -> None:
    done = invoke("tools", "show", "find_book", "--catalogue", str(catalogue))
    assert "timeout_seconds: 1.5" in done.out
    shown = json.loads(invoke("tools", "show", "find_book", "--catalogue", str(catalogue), "--json").out)
    assert shown["timeout_seconds"] == 1.5
    assert shown["output_schema"]["required"] == ["price"]


def test_show_tells_every_part_of_the_contract_that_judges_and_bounds_a_call(catalogue: Path, invoke: Invoke) -> None:
    path = catalogue / "tools" / "find_book.yaml"
    path.write_text(TOOL.replace("{price: {type: number}}", HITS) + OBSERVE, encoding="utf-8")
    shown = json.loads(invoke("tools", "show", "find_book", "--catalogue", str(catalogue), "--json").out)
    assert shown["success"] == {"===": [{"var": "status_code"}, 200]}
    assert shown["min_score"] == {"field": "/hits/*/score", "min": 0.6, "take": "best"}
    assert shown["pick"] == ["/price", "/hits"]
    assert shown["normalise"] == [{"field": "/weight", "to": "/weight", "as": "unit", "to_unit": "kg"}]
    assert shown["rules"] == [{"id": "dear", "severity": "soft", "when": {"<": [{"var": "data.price"}, 90]}}]
    assert shown["known"] == {"/price": [10, 20]}
    assert shown["redact"] == ["phone", {"field": "/price"}, {"name": "shelf", "pattern": "S-[0-9]{4}"}]
    assert shown["projections"] == {"cost": {"when": "what it costs", "expose": ["/price"]}}
    assert (shown["weight"], shown["exposed"]) == (0.5, ["/price"])
    assert shown["breaker"] == {"failures": 3, "open_for_seconds": 60, "half_open_calls": 1}
    assert shown["errors"] == [
        {"when": {"===": [{"var": "status_code"}, 404]}, "code": "NOT_FOUND", "retriable": False}
    ]
    assert "\nmin_score: " in invoke("tools", "show", "find_book", "--catalogue", str(catalogue)).out


def test_show_tells_the_defaults_of_what_a_contract_leaves_out(catalogue: Path, invoke: Invoke) -> None:
    shown = json.loads(invoke("tools", "show", "find_book", "--catalogue", str(catalogue), "--json").out)
    assert (shown["retry"]["attempts"], shown["retry"]["backoff_seconds"]) == (2, 0.2)
    assert (shown["pick"], shown["exposed"]) == (["everything"], ["everything"])
    unset = ("success", "max_latency_seconds", "min_score", "breaker", "limiter", "cache", "fallback", "approval")
    assert [shown[name] for name in unset] == [None] * len(unset)
    path = catalogue / "tools" / "find_book.yaml"
    path.write_text(TOOL.replace("effect: read", "effect: write"), encoding="utf-8")
    shown = json.loads(invoke("tools", "show", "find_book", "--catalogue", str(catalogue), "--json").out)
    assert shown["retry"]["attempts"] == 1


def test_an_unknown_tool_is_told_with_what_is_near(catalogue: Path, invoke: Invoke) -> None:
    done = invoke("tools", "show", "find_bok", "--catalogue", str(catalogue))
    assert done.code == 1
    assert "Perhaps find_book" in done.err


def test_a_bundle_has_the_digest_of_its_catalogue(catalogue: Path, invoke: Invoke) -> None:
    bundle = catalogue / "bundle.json"
    packed = json.loads(invoke("tools", "pack", str(catalogue), "-o", str(bundle), "--json").out)
    assert packed["digest"] == json.loads(bundle.read_text(encoding="utf-8"))["digest"]
    assert invoke("tools", "list", str(bundle), "--json").out == invoke("tools", "list", str(catalogue), "--json").out


def test_a_plan_with_faults_names_each_place(catalogue: Path, invoke: Invoke) -> None:
    plan = catalogue / "plan.json"
    plan.write_text('{"version": "1.0", "steps": [{"id": "1.t1", "tool": "find_bok", "args": {}}]}', encoding="utf-8")
    done = invoke("plan", "check", str(plan), "--catalogue", str(catalogue))
    assert done.code == 1
    assert "/steps/0/tool: UNKNOWN_TOOL" in done.out
    assert "find_book" in done.out


def test_a_good_plan_is_exit_code_0_with_its_order(catalogue: Path, invoke: Invoke) -> None:
    plan = catalogue / "plan.json"
    args = {"title": {"$query": {"turn": 0, "start": 0, "end": 4, "text": "Emma"}}}
    steps = [{"id": "1.t1", "tool": "find_book", "args": args}]
    plan.write_text(json.dumps({"version": "1.0", "steps": steps}), encoding="utf-8")
    done = invoke("plan", "check", str(plan), "--catalogue", str(catalogue), "--query", "Emma", "--json")
    assert done.code == 0, done.out
    assert json.loads(done.out) == {"valid": True, "order": ["1.t1"]}


SAMPLES = """
  success: {"!==": [{"var": "body.ok"}, false]}
  errors:
    - {when: {"===": [{"var": "status_code"}, 404]}, code: NOT_FOUND, retriable: false}
  observe:
    rules:
      - {id: costs_something, severity: hard, when: {">": [{"var": "body.price"}, 0]}}
  samples: [samples/*.json]
"""


def write_sample(catalogue: Path, name: str, body: object, status: int = 200, **more: object) -> None:
    (catalogue / "samples").mkdir(exist_ok=True)
    written = {"request": {"arguments": {"title": "Emma"}}, "response": {"status": status, "body": body}, **more}
    (catalogue / "samples" / f"{name}.json").write_text(json.dumps(written, indent=1), encoding="utf-8")


@pytest.fixture
def sampled(catalogue: Path) -> Path:
    """The catalogue with rules and two samples that are right."""
    (catalogue / "tools" / "find_book.yaml").write_text(TOOL + SAMPLES, encoding="utf-8")
    write_sample(catalogue, "emma", {"price": 5})
    write_sample(catalogue, "none", {"error": "none"}, 404, expect={"valid": False, "fault": "NOT_FOUND"})
    return catalogue


def test_samples_are_counted_and_a_failure_that_is_stated_is_no_finding(sampled: Path, invoke: Invoke) -> None:
    done = invoke("tools", "check", str(sampled))
    assert done.code == 0, done.out
    assert "1 tool, 2 samples, 0 findings, digest " in done.out


def test_a_sample_that_drifts_is_told_with_line_rule_values_and_remedy(sampled: Path, invoke: Invoke) -> None:
    write_sample(sampled, "drift", {"price": 0})
    done = invoke("tools", "check", str(sampled))
    assert done.code == 1
    path = sampled / "samples" / "drift.json"
    assert f"{path}:10:" in done.out
    assert "costs_something" in done.out
    assert 'actual: {"body.price":0}' in done.out
    assert "1 tool, 3 samples, 1 finding (1 error, 0 warnings)" in done.out
    finding, summary = map(json.loads, invoke("tools", "check", str(sampled), "--json").out.splitlines())
    assert finding["pointer"] == "/response/body/price"
    assert (finding["tool"], finding["rule"], finding["actual"]) == ("find_book", "costs_something", {"body.price": 0})
    assert finding["expected"] == {">": [{"var": "body.price"}, 0]}
    counted = {"tools": 1, "samples": 3, "findings": 1, "errors": 1, "warnings": 0}
    assert counted.items() <= summary["summary"].items()


def test_samples_of_good_contracts_are_judged_beside_a_broken_one(sampled: Path, invoke: Invoke) -> None:
    broken = TOOL.replace("find_book", "other").replace("effect: read", "effect: maybe")
    (sampled / "tools" / "other.yaml").write_text(broken, encoding="utf-8")
    write_sample(sampled, "drift", {"price": "free"})
    done = invoke("tools", "check", str(sampled))
    assert "1 tool, 3 samples, 2 findings (2 errors" in done.out
    assert "/response/body/price" in done.out


def test_a_file_that_is_no_sample_is_a_finding(sampled: Path, invoke: Invoke) -> None:
    (sampled / "samples" / "bad.json").write_text('{"request": {}}', encoding="utf-8")
    done = invoke("tools", "check", str(sampled))
    assert done.code == 1
    assert "bad.json" in done.out
