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
    assert "1 tools, 0 error(s)" in done.out


def test_every_finding_has_its_place_and_exit_code_1(catalogue: Path, invoke: Invoke) -> None:
    path = catalogue / "tools" / "find_book.yaml"
    path.write_text(TOOL.replace("effect: read", "effect: maybe"), encoding="utf-8")
    done = invoke("tools", "check", str(catalogue))
    assert done.code == 1
    assert f"{path}:9:" in done.out
    as_json = [json.loads(line) for line in invoke("tools", "check", str(catalogue), "--json").out.splitlines()]
    assert [(each["severity"], each["line"]) for each in as_json] == [("error", 9)]
    assert as_json[0]["cause"]
    assert as_json[0]["remedy"]


def test_show_tells_the_time_limit_that_is_in_effect(catalogue: Path, invoke: Invoke) -> None:
    done = invoke("tools", "show", "find_book", "--catalogue", str(catalogue))
    assert "timeout_seconds: 1.5" in done.out
    shown = json.loads(invoke("tools", "show", "find_book", "--catalogue", str(catalogue), "--json").out)
    assert shown["timeout_seconds"] == 1.5
    assert shown["output_schema"]["required"] == ["price"]


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


@pytest.mark.parametrize(("body", "code", "part"), [('{"price": 0.10}', 0, "0.10"), ('{"cost": 1}', 1, "/price")])
def test_a_response_is_judged_from_its_file(body: str, code: int, part: str, catalogue: Path, invoke: Invoke) -> None:
    response = catalogue / "response.json"
    response.write_text(body, encoding="utf-8")
    arguments = ("observe", "--catalogue", str(catalogue), "--tool", "find_book", "--action-response", str(response))
    done = invoke(*arguments)
    assert done.code == code
    assert part in done.out
    assert json.loads(invoke(*arguments, "--json").out)["valid"] is (code == 0)
