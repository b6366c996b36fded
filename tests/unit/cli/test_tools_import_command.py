"""Rules of `taoloop tools import openapi`, `from-python`, `lock` and `diff`, which need no server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from taoloop.api.v1 import loop_pb2
from tests.unit.cli.conftest import Invoke
from tests.unit.tools.importing.openapi.documents import NEWEST_STYLE, OLD_STYLE

FUNCTIONS = """
from typing import Annotated
from pydantic import Field
from taoloop.sdk import tool

@tool(effect="read", reach="internal", trust="trusted", timeout="2s")
def find_book(title: Annotated[str, Field(pattern="^[A-Z]")]) -> dict[str, int]:
    '''Price of a book.

    Use when: the user asks what a book costs
    '''
    return {"price": 1}
"""


@pytest.fixture
def document(tmp_path: Path) -> Path:
    """A document of OpenAPI."""
    path = tmp_path / "shop.json"
    path.write_text(json.dumps(OLD_STYLE), encoding="utf-8")
    return path


def test_without_include_the_operations_are_listed_and_nothing_is_written(document: Path, invoke: Invoke) -> None:
    done = invoke("tools", "import", "openapi", str(document), "-o", str(document.parent / "out"))
    assert done.code == 0
    assert "getBookByID" in done.out
    assert "--include" in done.out
    assert not (document.parent / "out").exists()
    lines = invoke("tools", "import", "openapi", str(document), "--json").out.splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["getBookByID", "replaceBook", "placeOrder"]


def test_an_import_is_a_catalogue_that_check_accepts(document: Path, invoke: Invoke) -> None:
    out = document.parent / "out"
    done = invoke("tools", "import", "openapi", str(document), "--include", "getBookByID", "-o", str(out))
    assert done.code == 0, done.out
    assert "decide /spec/effect = read" in done.out
    assert "use_when is missing" in done.out
    assert invoke("tools", "check", str(out)).code == 0


def test_the_report_as_json_has_one_line_a_tool_and_a_summary(document: Path, invoke: Invoke) -> None:
    done = invoke("tools", "import", "openapi", str(document), "--include", "*Book*", "--json")
    *tools, summary = [json.loads(line) for line in done.out.splitlines()]
    assert [each["tool"] for each in tools] == ["get_book_by_id", "replace_book"]
    assert {"decisions", "findings", "check", "loads"} <= tools[0].keys()
    assert summary["tools"] == 2
    assert summary["written_to"] is None


@pytest.mark.parametrize(
    ("include", "part"), [("nothing", "no operation is called 'nothing'"), ("*", "3 operations are chosen")]
)
def test_a_wrong_choice_is_told_and_writes_nothing(document: Path, include: str, part: str, invoke: Invoke) -> None:
    out = document.parent / "out"
    done = invoke("tools", "import", "openapi", str(document), "--include", include, "--max-tools", "2", "-o", str(out))
    assert done.code == 1
    assert part in done.out
    assert not out.exists()


def test_what_keeps_a_tool_from_working_is_exit_code_1_and_base_mends_it(tmp_path: Path, invoke: Invoke) -> None:
    path = tmp_path / "search.json"
    path.write_text(json.dumps(NEWEST_STYLE), encoding="utf-8")
    arguments = ("tools", "import", "openapi", str(path), "--include", "findDocuments")
    assert invoke(*arguments).code == 1
    assert invoke(*arguments, "--base", "docs=https://docs.internal").code == 0
    assert invoke(*arguments, "--base", "docs").code == 2


def test_a_second_import_does_not_overwrite_unasked(document: Path, invoke: Invoke) -> None:
    arguments = ("tools", "import", "openapi", str(document), "--include", "getBookByID", "-o", str(document.parent))
    assert invoke(*arguments).code == 0
    done = invoke(*arguments)
    assert done.code == 1
    assert "--replace" in done.err
    assert invoke(*arguments, "--replace").code == 0


def test_a_function_becomes_a_contract_that_check_accepts(tmp_path: Path, invoke: Invoke) -> None:
    (tmp_path / "book_functions.py").write_text(FUNCTIONS, encoding="utf-8")
    out = tmp_path / "out"
    done = invoke("tools", "from-python", "book_functions:find_book", "--path", str(tmp_path), "-o", str(out))
    assert done.code == 0, done.out
    shown = json.loads(invoke("tools", "show", "find_book", "--catalogue", str(out), "--json").out)
    assert shown["parameters"]["properties"]["title"]["pattern"] == "^[A-Z]"
    assert shown["output_schema"] == {"type": "object", "additionalProperties": {"type": "integer"}}
    refused = invoke("tools", "from-python", "book_functions:lost", "--path", str(tmp_path))
    assert refused.code == 1
    assert "there is no such function" in refused.out


def test_diff_tells_ci_what_changed_by_its_exit_code(document: Path, invoke: Invoke) -> None:
    out = document.parent / "out"
    invoke("tools", "import", "openapi", str(document), "--include", "getBookByID", "-o", str(out))
    assert invoke("tools", "diff", str(out)).code == 1  # there is no lock yet
    assert invoke("tools", "lock", str(out)).code == 0
    assert invoke("tools", "diff", str(out), "--strict").code == 0
    contract = out / "tools" / "get_book_by_id.yaml"
    text = contract.read_text(encoding="utf-8")

    contract.write_text(text.replace("timeout: 10s", "timeout: 9s"), encoding="utf-8")
    assert invoke("tools", "diff", str(out)).code == 0
    assert invoke("tools", "diff", str(out), "--strict").code == 1

    contract.write_text(text.replace("effect: read", "effect: idempotent_write"), encoding="utf-8")
    done = invoke("tools", "diff", str(out), "--json")
    assert done.code == 2
    assert [json.loads(line)["code"] for line in done.out.splitlines()] == ["EFFECT_STRENGTHENED"]
    assert invoke("tools", "diff", str(out), "--against", str(out)).code == 0
    assert invoke("tools", "diff", str(out), "--against", str(out), "--lock", "x").code == 2


def descriptor_set(path: Path) -> Path:
    """Write the descriptors of taoloop's own loop service."""
    files: dict[str, FileDescriptorProto] = {}
    pending = [loop_pb2.DESCRIPTOR]
    while pending:
        here = pending.pop()
        if here.name not in files:
            files[here.name] = FileDescriptorProto()
            here.CopyToProto(files[here.name])
            pending += here.dependencies
    path.write_bytes(FileDescriptorSet(file=files.values()).SerializeToString())
    return path


def test_a_grpc_service_is_listed_and_drafted_from_its_descriptors(tmp_path: Path, invoke: Invoke) -> None:
    path = descriptor_set(tmp_path / "loop.pb")
    arguments = ("tools", "import", "grpc", str(path), "--service", "taoloop.api.v1.LoopService")
    listed = [json.loads(line)["name"] for line in invoke(*arguments, "--json").out.splitlines()]
    assert "GetRun" in listed
    assert "Watch" not in listed
    out = tmp_path / "out"
    done = invoke(*arguments, "--include", "GetRun", "--base", "loop=https://loop.internal", "-o", str(out))
    assert done.code == 0, done.out
    text = (out / "tools" / "get_run.yaml").read_text(encoding="utf-8")
    assert "method: taoloop.api.v1.LoopService/GetRun" in text.replace('"', "")
    (out / "loop.pb").write_bytes(path.read_bytes())
    assert invoke("tools", "check", str(out)).code == 0


def test_a_grpc_service_that_is_not_there_is_told(tmp_path: Path, invoke: Invoke) -> None:
    done = invoke("tools", "import", "grpc", str(descriptor_set(tmp_path / "loop.pb")), "--service", "x.Y")
    assert done.code == 1
    assert "there is no service x.Y" in done.err
