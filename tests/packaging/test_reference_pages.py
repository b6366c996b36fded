"""Pages that describe what the code has agree with it: terms, spans, metrics, contract fields, example catalogues."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from taoloop.core.telemetry import names
from taoloop.plan.model import QuerySpan, ThoughtPlan
from taoloop.plan.task import Role, Turn
from taoloop.plan.thinking import ThinkRequest
from taoloop.thought.planners.graph import GraphPlanner
from taoloop.tools.loading import load_catalogue
from taoloop.tools.loading.contract_document import UNSERVED
from tests.packaging import checkout, pages

DOCS = checkout.ROOT / "docs"
GLOSSARY, TELEMETRY, TOOLS, QUICKSTART = (
    DOCS / f"{name}.md" for name in ("glossary", "telemetry", "tools", "quickstart")
)
PROMISES = DOCS / "promises.md"
TRANSPORTS = sorted((DOCS / "transports").glob("*.md"))
# Schemas of their own, and what is written as the rows of `http` say.
_FREE_FORM = (
    "/spec/parameters",
    "/spec/response",
    "/spec/transport/job/create",
    "/spec/transport/job/query",
    "/spec/transport/job/cancel",
    "/spec/transport/job/states",
    "/spec/transport/mcp/server/auth",
    "/spec/transport/grpc/auth",
)


def quoted(cell: str) -> list[str]:
    """Return what stands in backquotes in a cell."""
    return re.findall(r"`([^`]+)`", cell)


@cache
def code() -> str:
    """Return the text of every proto and of every module that is not generated."""
    sources = [*(checkout.ROOT / "proto").rglob("*.proto"), *checkout.SOURCE.rglob("*.py")]
    return "\n".join(path.read_text() for path in sources if "api" not in path.relative_to(checkout.ROOT).parts[:3])


@cache
def names_outside_the_registry() -> frozenset[str]:
    """Return every name that a module speaks of but those that define telemetry, attributes as `Attribute.NAME`."""
    registry = checkout.SOURCE / "core" / "telemetry" / "names"
    texts = [path.read_text() for path in checkout.SOURCE.rglob("*.py") if registry not in path.parents]
    return frozenset(name for text in texts for name in re.findall(r"\b(?:Attribute\.)?\w+", text))


def is_used(name: str) -> bool:
    """Tell whether any module but the registry's speaks of a name of the registry."""
    return name in names_outside_the_registry()


def glossary_terms() -> list[str]:
    """Return the terms that the glossary explains."""
    return re.findall(r"^\*\*([^*]+)\*\*:", GLOSSARY.read_text(), re.MULTILINE)


@pytest.mark.parametrize("term", glossary_terms())
def test_term_of_the_glossary_is_a_word_of_the_code(term: str) -> None:
    # `query span` is `query_span`, `QuerySpan` or `QUERY_SPAN` there; verbs and nouns share their stem.
    spelled = r"[ _-]?".join(map(re.escape, re.split("[ -]", term)))
    assert re.search(spelled, code(), re.IGNORECASE)


def test_glossary_explains_each_term_once() -> None:
    terms = glossary_terms()
    assert len(terms) > 40
    assert sorted(set(terms)) == sorted(terms)


def test_telemetry_page_has_every_metric_as_the_registry_has_it() -> None:
    rows = pages.table_rows(TELEMETRY, "Metrics")
    written = {(quoted(name)[0], kind, tuple(quoted(labels)), meaning) for name, kind, labels, _, meaning in rows}
    assert written == {(spec.name, str(spec.kind), spec.labels, spec.help) for spec in names.METRICS}


def test_telemetry_page_says_which_metrics_nobody_counts_yet() -> None:
    constants = {value.name: key for key, value in vars(names).items() if isinstance(value, names.MetricSpec)}
    written = {quoted(row[0])[0]: row[3] != "*not counted yet*" for row in pages.table_rows(TELEMETRY, "Metrics")}
    assert written == {name: is_used(constant) for name, constant in constants.items()}


def test_telemetry_page_has_every_attribute_and_says_which_are_not_set_yet() -> None:
    written = {quoted(key)[0]: set_on != "*not set yet*" for key, set_on in pages.table_rows(TELEMETRY, "Attributes")}
    assert written == {str(key): is_used(f"Attribute.{key.name}") for key in names.Attribute}


def test_telemetry_page_has_every_span() -> None:
    written = {quoted(row[0])[0] for row in pages.table_rows(TELEMETRY, "Spans")}
    assert written == {
        names.RUN_SPAN,
        names.queue_span(),
        names.plan_span("{planner}"),
        names.stage_span("{stage}"),
        names.tool_span("{tool}"),
        names.observe_span("{tool}"),
        names.answer_span(),
        names.chat_span("{model}"),
        names.mcp_span("tools/call", "{tool}"),
        names.function_span("{entry point}"),
        names.statement_span("{system}", "{tool}"),
        "{method} {path template}",
        "{service}/{rpc}",
    }


def test_tools_page_lists_what_is_not_yet_supported() -> None:
    written = [
        (quoted(field)[0], tuple(quoted(values))) for field, values in pages.table_rows(TOOLS, "Not yet supported")
    ]
    assert written == [(unserved.pointer, unserved.values) for unserved in UNSERVED]


def test_tools_page_describes_every_field_that_is_served() -> None:
    written = [quoted(row[0])[0] for row in pages.table_rows(TOOLS, "The fields")]
    assert written == list(served_fields())


def served_fields() -> Iterator[str]:
    """Yield the pointer of every leaf of the contract's form that this version serves, in the order of the form."""
    form = json.loads(files("taoloop.tools").joinpath("contract.schema.json").read_text())
    refused = {unserved.pointer for unserved in UNSERVED if not unserved.values}
    yield from _leaves(form, form, "", refused)


def _leaves(form: dict[str, Any], node: dict[str, Any], pointer: str, refused: set[str]) -> Iterator[str]:
    if pointer in refused:
        return
    if "$ref" in node:
        node = form["$defs"][node["$ref"].rpartition("/")[2]]
    items, members = node.get("items", {}), node.get("properties", {})
    if "properties" in items or "$ref" in items:
        yield from _leaves(form, items, pointer + "/*", refused)
    elif members and pointer not in _FREE_FORM:
        for name, member in members.items():
            yield from _leaves(form, member, f"{pointer}/{name}", refused)
    else:
        yield pointer


@pytest.mark.parametrize("page", [TOOLS, QUICKSTART, *TRANSPORTS], ids=pages.name_of)
def test_catalogue_that_a_page_spells_out_has_no_finding(page: Path, tmp_path: Path) -> None:
    [loaded] = [load_catalogue(path) for path in written_catalogues(page, tmp_path)]
    assert [str(finding) for finding in loaded.findings] == []
    assert loaded.catalogue is not None


@pytest.mark.parametrize(
    ("text", "words"), [("What is for lunch tomorrow?", "tomorrow"), ("食堂明天吃什么？", "明天")], ids=["en", "zh"]
)
def test_tool_of_the_quickstart_is_planned_with_as_the_page_shows(text: str, words: str, tmp_path: Path) -> None:
    [path] = written_catalogues(QUICKSTART, tmp_path)
    catalogue = load_catalogue(path).catalogue
    assert catalogue is not None
    request = ThinkRequest(
        run_id="0" * 32,
        iteration=1,
        turns=(Turn(role=Role.USER, text=text),),
        reference_time=datetime(2026, 3, 10, 1, tzinfo=UTC),
        time_zone="Asia/Shanghai",
    )

    plan = GraphPlanner(catalogue).plan(request).outcome

    assert isinstance(plan, ThoughtPlan)
    [step] = plan.steps
    [binding] = step.bindings
    assert (step.tool, binding.pointer, binding.value) == ("get_lunch_menu", "/date", "2026-03-11")
    assert isinstance(binding.source, QuerySpan)
    assert binding.source.text == words


def written_catalogues(page: Path, directory: Path) -> list[Path]:
    """Write the files that a page spells out; return the directories that hold a catalogue."""
    for name, text in pages.example_files(page).items():
        target = directory / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return sorted(path.parent for path in directory.rglob("catalogue.yaml"))


def test_first_promise_is_the_demo() -> None:
    first = re.search(r"^1\. \*\*(.+?)\*\*", PROMISES.read_text(), re.MULTILINE)
    assert first is not None
    assert first[1] == "`make setup demo` runs the whole loop on a laptop without GPU, Docker or key."
