"""Loading: each kind of fault gives its finding, all at once, and never an exception."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taoloop.core import exact_json
from taoloop.tools.loading import Severity, contract_document, load_catalogue
from taoloop.tools.loading.contract_document import UNSERVED, Unserved
from tests.unit.tools.contracts import document, write_catalogue

_PARAMETER = "spec__parameters__properties__order_id"


def test_a_sound_catalogue_loads_without_findings(tmp_path: Path) -> None:
    result = load_catalogue(write_catalogue(tmp_path, document()))
    assert result.findings == ()
    assert result.catalogue is not None
    assert list(result.catalogue.tools) == ["get_order"]
    assert result.catalogue.bases == {"orders": "http://127.0.0.1:1"}


@pytest.mark.parametrize(
    ("code", "pointer", "changes"),
    [
        ("FORM", "/spec/effect", {"spec__effect": "delete"}),
        ("FORM", "/spec/colour", {"spec__colour": "red"}),
        ("FORM", "/kind", {"kind": "Toll"}),
        ("FORM", "/spec/timeout", {"spec__timeout": "3 seconds"}),
        ("FORM", "/spec/transport/http/auth/bearer/secret", {"spec__transport__http__auth": {"bearer": {}}}),
        ("INVALID_PATTERN", f"/{_PARAMETER.replace('__', '/')}/pattern", {f"{_PARAMETER}__pattern": "(?=a)"}),
        ("UNSAFE_SCHEMA", f"/{_PARAMETER.replace('__', '/')}/$ref", {f"{_PARAMETER}__$ref": "http://x/y"}),
        ("INVALID_SCHEMA", "/spec/response/type", {"spec__response": {"type": "text"}}),
        ("PARAMETERS", "/spec/parameters", {"spec__parameters__type": ["object", "null"]}),
        (
            "UNKNOWN_SOURCE",
            f"/{_PARAMETER.replace('__', '/')}/x-taoloop-source",
            {f"{_PARAMETER}__x-taoloop-source": ["guess"]},
        ),
        ("TIMEOUT", "/spec/timeout", {"spec__timeout": "0"}),
        ("MAX_LATENCY", "/spec/observe/max_latency", {"spec__observe__max_latency": "1h"}),
        ("INVALID_RULE", "/spec/success", {"spec__success": {"equals": [1, 1]}}),
        ("INVALID_RULE", "/spec/errors/0/when/===", {"spec__errors": [{"when": {"===": [1]}, "code": "X"}]}),
        ("INVALID_RULE", "/spec/observe/rules/0/when", {"spec__observe__rules": [{"id": "a", "when": {"nope": 1}}]}),
        (
            "DUPLICATE_RULE",
            "/spec/observe/rules/1/id",
            {"spec__observe__rules": [{"id": "a", "when": True}, {"id": "a", "when": True}]},
        ),
        ("URL_BASE", "/spec/transport/http/url", {"spec__transport__http__url": "http://x/{order_id}"}),
        ("UNKNOWN_BASE", "/spec/transport/http/url", {"spec__transport__http__url": "{{base.shops}}/x"}),
        ("UNKNOWN_PLACEHOLDER", "/spec/transport/http/url", {"spec__transport__http__url": "{{base.orders}}/{id}"}),
        ("URL_PARAMETER", "/spec/transport/http/url", {"spec__transport__http__url": "{{base.orders}}/{language}"}),
        ("UNKNOWN_PLACEHOLDER", "/spec/transport/http/query/q", {"spec__transport__http__query": {"q": "{nope}"}}),
        ("UNKNOWN_PLACEHOLDER", "/spec/transport/http/headers/X", {"spec__transport__http__headers": {"X": "{nope}"}}),
        ("BODY", "/spec/transport/http/json", {"spec__transport__http__json": {"a": 1}}),
        ("NORMALISE_FIELD", "/spec/observe/normalise/0/field", {"spec__observe__normalise": [{"field": "/nope"}]}),
        (
            "NORMALISE_TO",
            "/spec/observe/normalise/0/to",
            {"spec__observe__normalise": [{"field": "/state", "to": "/eta"}]},
        ),
        (
            "NORMALISE",
            "/spec/observe/normalise/0",
            {"spec__observe__normalise": [{"field": "/eta", "as": "date", "enum": {"a": "b"}}]},
        ),
        (
            "NORMALISE_TYPE",
            "/spec/observe/normalise/0/as",
            {"spec__observe__normalise": [{"field": "/count", "as": "datetime"}]},
        ),
        (
            "TIME_ZONE",
            "/spec/observe/normalise/0/time_zone",
            {"spec__observe__normalise": [{"field": "/eta", "as": "datetime", "time_zone": "Mars/Base"}]},
        ),
        (
            "ENUM_KEY",
            "/spec/observe/normalise/0/enum/X",
            {"spec__observe__normalise": [{"field": "/state", "enum": {"S": 1, "D": 2, "X": 3}}]},
        ),
        ("UNKNOWN_OUTPUT", "/spec/observe/known/~1state", {"spec__observe__known": {"/state": ["S"]}}),
        ("UNKNOWN_OUTPUT", "/spec/observe/expose/0", {"spec__observe__expose": ["/state"]}),
        ("UNKNOWN_PLACEHOLDER", "/spec/answer/en", {"spec__answer": {"en": "It is {data.state}"}}),
        ("UNKNOWN_PLACEHOLDER", "/spec/answer/en", {"spec__answer": {"en": "It is {arguments.nope}"}}),
        ("UNKNOWN_PLACEHOLDER", "/spec/answer/en", {"spec__answer": {"en": "It is {status}"}}),
        ("SAMPLE_MISSING", "/spec/samples/0", {"spec__samples": ["samples/*.json"]}),
        ("SAMPLE_MISSING", "/spec/samples/0", {"spec__samples": ["../*.json"]}),
    ],
)
def test_each_kind_of_error_is_found(tmp_path: Path, code: str, pointer: str, changes: dict[str, Any]) -> None:
    result = load_catalogue(write_catalogue(tmp_path, document(**changes)))
    assert result.catalogue is None
    assert [(each.code, each.pointer) for each in result.errors] == [(code, pointer)]
    assert result.errors[0].cause
    assert result.errors[0].remedy


@pytest.mark.parametrize(
    ("code", "pointer", "changes"),
    [
        ("OPEN_PARAMETERS", "/spec/parameters", {"spec__parameters__additionalProperties": True}),
        ("UNKNOWN_FORMAT", f"/{_PARAMETER.replace('__', '/')}/format", {f"{_PARAMETER}__format": "colour"}),
        ("METHOD", "/spec/transport/http/method", {"spec__effect": "write"}),
        ("STRAY_BRACES", "/spec/transport/http/url", {"spec__transport__http__url": "{{base.orders}}/{order id}"}),
        ("STRAY_BRACES", "/spec/answer/en", {"spec__answer": {"en": "{data.status"}}),
        (
            "ENUM_INCOMPLETE",
            "/spec/observe/normalise/0/enum",
            {"spec__observe__normalise": [{"field": "/state", "enum": {"S": "s"}}]},
        ),
        ("STYLE", "/metadata/name", {"metadata__name": "GetOrder"}),
        ("STYLE", "/spec/description", {"spec__description": "x" * 101}),
        ("STYLE", "/spec/description", {"spec__description": "two\nlines"}),
        ("STYLE", "/spec", {"spec__use_when": ""}),
        ("STYLE", "/spec/parameters/properties/order_id", {_PARAMETER: {"type": "string"}}),
        (
            "STYLE",
            "/spec/parameters/properties/orderId",
            {"spec__parameters__properties__orderId": {"description": "x"}},
        ),
        ("STYLE", "/spec/errors", {"spec__errors": [{"when": True, "code": "ANY"}]}),
    ],
)
def test_a_warning_does_not_keep_the_catalogue_from_loading(
    tmp_path: Path, code: str, pointer: str, changes: dict[str, Any]
) -> None:
    result = load_catalogue(write_catalogue(tmp_path, document(**changes)))
    assert [(each.severity, each.code, each.pointer) for each in result.findings] == [(Severity.WARNING, code, pointer)]
    assert result.catalogue is not None


def test_findings_name_the_line_and_column_of_the_fault(tmp_path: Path) -> None:
    path = write_catalogue(tmp_path) / "tools" / "a.yaml"
    path.write_text(
        "apiVersion: taoloop.dev/v1\nkind: Tool\nmetadata: {name: a}\nspec:\n"
        "  description: x\n  effect: read\n  use_when: y\n  colour: red\n"
        "  parameters: {type: object, additionalProperties: false}\n  response: {}\n"
        "  transport: {http: {method: GET, url: '{{base.orders}}/x'}}\n"
    )
    assert str(load_catalogue(tmp_path).findings[0]).startswith(f"{path}:8:3: error: the key 'colour' is unknown")


@pytest.mark.parametrize(
    "parameters", [{"properties": []}, {"properties": 5, "required": 3}, {"type": "object", "properties": 1}]
)
@pytest.mark.parametrize("transport", ["http", "sql"])
def test_parameters_that_are_no_schema_are_findings(tmp_path: Path, parameters: Any, transport: str) -> None:
    value = document(spec__parameters=parameters)
    if transport == "sql":
        value["spec"]["transport"] = {"sql": {"database": {"secret": "DB"}, "statement": "SELECT :a"}}
    assert load_catalogue(write_catalogue(tmp_path, value)).errors


def test_all_faults_of_all_files_come_back_together_and_sorted(tmp_path: Path) -> None:
    faulty = [
        document(
            f"tool_{number:02}",
            spec__colour=1,
            spec__effect="no",
            spec__observe__min_score=1,
            spec__observe__redact=["colour"],
            metadata__extra=1,
        )
        for number in range(10)
    ]
    findings = load_catalogue(write_catalogue(tmp_path, *faulty)).findings
    assert len(findings) == 50
    assert list(findings) == sorted(findings, key=lambda each: (each.file, each.line, each.column, each.pointer))


def test_a_tool_name_that_stands_twice_is_found(tmp_path: Path) -> None:
    errors = load_catalogue(write_catalogue(tmp_path, document(), document())).errors
    assert [(each.code, Path(each.file).name) for each in errors] == [("DUPLICATE_TOOL", "01.yaml")]


def test_fields_that_no_code_serves_are_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ahead = (
        Unserved("/spec/observe/weight"),
        Unserved("/spec/observe/normalise/*/as", ("money",), is_read=False),
        Unserved("/spec/parameters/**/x-taoloop-content"),
    )
    monkeypatch.setattr(contract_document, "UNSERVED", ahead)
    value = document(
        spec__observe__weight=0.5,
        spec__observe__normalise=[{"field": "/eta", "as": "date"}, {"field": "/state", "as": "money"}],
    )
    pointers = {each.pointer for each in load_catalogue(write_catalogue(tmp_path, value)).errors}
    assert pointers == {"/spec/observe/weight", "/spec/observe/normalise/1/as"}


def test_every_field_of_the_form_is_served() -> None:
    assert UNSERVED == ()


def test_arguments_of_the_caller_override_the_bases(tmp_path: Path) -> None:
    write_catalogue(tmp_path, document(spec__transport__http__url="{{base.more}}/x"))
    assert load_catalogue(tmp_path).catalogue is None
    catalogue = load_catalogue(tmp_path, {"more": "https://more.example", "orders": "https://o.example"}).catalogue
    assert catalogue is not None
    assert catalogue.bases == {"more": "https://more.example", "orders": "https://o.example"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a: 1\na: 2\n", "DUPLICATE_KEY"),
        ("\tkey: 1\n", "YAML_SYNTAX"),
        ("a: [1\n", "YAML_SYNTAX"),
        ("", "FILE_EMPTY"),
        ("a: &x [1]\nb: [*x, *x]\n", "YAML_FEATURE"),
        ("--- {}\n--- {}\n", "YAML_FEATURE"),
        ("just text", "FORM"),
        ("[" * 500, "YAML_FEATURE"),
    ],
)
def test_a_file_that_is_no_contract_is_a_finding(tmp_path: Path, text: str, code: str) -> None:
    (write_catalogue(tmp_path) / "tools" / "a.yaml").write_text(text)
    assert code in {each.code for each in load_catalogue(tmp_path).errors}


def test_a_huge_file_and_a_file_that_is_not_utf8_are_findings(tmp_path: Path) -> None:
    tools = write_catalogue(tmp_path) / "tools"
    (tools / "a.yaml").write_bytes(b"#" * (20 << 20))
    (tools / "b.yaml").write_bytes(b"a: \xff\xfe")
    assert [each.code for each in load_catalogue(tmp_path).errors] == ["FILE_TOO_LARGE", "FILE_UNREADABLE"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (
            "apiVersion: taoloop.dev/v1\nkind: Catalogue\nmetadata: {name: x}\nspec: {tools: 'none/*.yaml'}\n",
            "TOOL_FILES",
        ),
        (
            "apiVersion: taoloop.dev/v1\nkind: Catalogue\nmetadata: {name: x}\nspec: {tools: '../*.yaml'}\n",
            "TOOL_FILES",
        ),
        (
            "apiVersion: taoloop.dev/v1\nkind: Catalogue\nmetadata: {name: x}\nspec: {tools: '/etc/*.yaml'}\n",
            "TOOL_FILES",
        ),
        ("apiVersion: taoloop.dev/v2\nkind: Catalogue\nmetadata: {name: x}\nspec: {tools: a}\n", "FORM"),
        (
            "apiVersion: taoloop.dev/v1\nkind: Catalogue\nmetadata: {name: x}\nspec: {tools: a, bases: {o: 'ftp://x'}}\n",
            "FORM",
        ),
    ],
)
def test_a_catalogue_file_with_faults_is_a_finding(tmp_path: Path, text: str, code: str) -> None:
    (tmp_path / "catalogue.yaml").write_text(text)
    result = load_catalogue(tmp_path)
    assert result.catalogue is None
    assert [each.code for each in result.errors] == [code]


def test_a_directory_without_a_catalogue_is_a_finding(tmp_path: Path) -> None:
    assert [each.code for each in load_catalogue(tmp_path).errors] == ["FILE_UNREADABLE"]


_YAML = st.one_of(
    st.text(max_size=60),
    st.text(alphabet=st.sampled_from(list("ab:-?[]{},&*!|>'\"%@`#\n \t01.~<=\\\x00é")), max_size=60),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=10,
    ).map(exact_json.dumps),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=_YAML)
def test_no_text_makes_loading_raise(tmp_path: Path, text: str) -> None:
    (write_catalogue(tmp_path) / "tools" / "a.yaml").write_text(text, errors="surrogatepass")
    assert load_catalogue(tmp_path).errors


_KEYS = (
    *("$ref", "type", "properties", "normalise", "rules", "when", "and", "enum", "items", "x"),
    *("tool", "arguments", "took_place", "attempts", "preset", "job", "sql", "mcp", "server", "statement"),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    path=st.sampled_from(
        [
            "spec",
            "spec__parameters",
            "spec__response",
            "spec__observe",
            "spec__transport__http",
            "spec__success",
            "spec__retry",
            "spec__breaker",
            "spec__fallback",
            "spec__reconcile",
            "spec__approval",
            "spec__transport",
            "metadata",
        ]
    ),
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.sampled_from(["", "#", "$ref", "/a", "{x}"]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from([*_KEYS]),
                inner,
                max_size=3,
            )
        ),
        max_leaves=12,
    ),
)
def test_no_contract_makes_loading_raise(tmp_path: Path, path: str, value: Any) -> None:
    result = load_catalogue(write_catalogue(tmp_path, document(**{path: value})))
    assert result.catalogue is not None or result.errors
