"""Python functions in real worker processes: what they return, raise, leave behind, and how they are ended."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import psutil
import pytest
from pydantic import SecretStr

from taoloop.action.ports import TransportFault
from taoloop.action.settings import ToolPythonSettings
from taoloop.action.transports.python.process import Launch, WorkerDied, WorkerProcess
from taoloop.action.transports.python.transport import PythonFunctionTransport, python_transport
from taoloop.core.clock import SystemClock
from taoloop.core.faults import FaultCode
from taoloop.tools.contract import Idempotency, KeyLocation, Pool, PythonTransport, ToolContract
from tests.integration.action.transports.eventually import assert_eventually
from tests.integration.action.transports.tool_calls import attempted, body_of, contract
from tests.unit.action.contracts import telemetry

HERE = str(Path(__file__).parent)
MODULE = "functions_under_test"
UNUSABLE = [f"{MODULE}:absent", f"{MODULE}:not_a_function", "no_such_module:f", "unknown", "leaving_module:f"]
SETTINGS = ToolPythonSettings(search_path=(HERE,), environment={"DECLARED": SecretStr("yes")}, max_result_bytes=4096)


@asynccontextmanager
async def opened(settings: ToolPythonSettings = SETTINGS) -> AsyncIterator[PythonFunctionTransport]:
    async with python_transport(settings, telemetry(), SystemClock()) as transport:
        yield transport
    assert not [child for child in psutil.Process().children(recursive=True) if _is_worker(child)]


def _is_worker(process: psutil.Process) -> bool:
    try:
        return any("python.worker" in word for word in process.cmdline())
    except psutil.Error:
        return False


def tool(function: str, *, size: int = 1, idempotency: Idempotency | None = None) -> ToolContract:
    entry_point = function if ":" in function else f"{MODULE}:{function}"
    pool = Pool(size=size, idle_timeout_seconds=60.0)
    return contract(PythonTransport(entry_point=entry_point), name=function, pool=pool, idempotency=idempotency)


async def fault_of(
    transport: PythonFunctionTransport, contract: ToolContract, seconds: float = 20.0, **arguments: Any
) -> TransportFault:
    with pytest.raises(TransportFault) as caught:
        await attempted(transport, contract, seconds, **arguments)
    return caught.value


async def test_arguments_and_results_are_exact_and_prints_do_no_harm() -> None:
    async with opened() as transport:
        echoed = body_of(await attempted(transport, tool("echo"), a=12345678901234567890, b=Decimal("0.10"), c=None))
        assert echoed == {"a": 12345678901234567890, "b": Decimal("0.10"), "c": None}
        assert (await attempted(transport, tool("exact"))).body.startswith(
            b'{"big":12345678901234567890123,"price":0.10'
        )
        assert body_of(await attempted(transport, tool("prints"))) == {"read": "", "printed": True}


async def test_arguments_are_converted_to_annotations_and_coroutines_are_awaited() -> None:
    async with opened() as transport:
        added = body_of(await attempted(transport, tool("add"), left=Decimal("2.0"), right=1))
        assert added == {"sum": 3, "types": ["int", "Decimal"]}
        assert body_of(await attempted(transport, tool("after"), day="2026-02-03")) == {
            "day": "2026-02-03",
            "year": 2026,
        }


async def test_arguments_that_do_not_fit_are_refused_without_a_call() -> None:
    async with opened() as transport:
        wrong = await fault_of(transport, tool("add"), left="two", right=1)
        assert (wrong.code, wrong.pointer, wrong.may_have_left) == (FaultCode.INVALID_PARAMETER, "/left", False)
        assert "two" not in wrong.message
        missing = await fault_of(transport, tool("add"), left=1)
        assert (missing.code, missing.may_have_left) == (FaultCode.INVALID_PARAMETER, False)


@pytest.mark.parametrize(("function", "kind"), [("raises", "LookupError"), ("leaves", "SystemExit")])
async def test_an_exception_is_an_answer_with_class_and_redacted_message(
    function: str, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened() as transport:
        reply = await attempted(transport, tool(function))
        assert reply.status_code == 500
        assert body_of(reply)["error"]["type"] == kind
        assert kind in reply.failure
        assert b"abcdef123456" not in reply.body
        assert b"functions_under_test.py" not in reply.body
        logged = [record for record in caplog.records if record.getMessage() == "function_raised"]
        assert "functions_under_test.py" in logged[0].taoloop_fields["error_stack"]  # type: ignore[attr-defined]
        again = await attempted(transport, tool(function))
        assert again.status_code == 500


async def test_a_worker_sees_declared_variables_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOT_DECLARED", "secret")
    async with opened() as transport:
        seen = body_of(await attempted(transport, tool("environment")))["environment"]
    assert {name: value for name, value in seen.items() if name != "LC_CTYPE"} == {
        "DECLARED": "yes",
        "LANG": "C.UTF-8",
    }


async def test_a_late_function_is_killed_with_its_children_and_frees_its_place(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    async with opened() as transport:
        contract = tool("hangs")
        await attempted(transport, tool("process_id"))  # imports are warm
        late = await fault_of(transport, contract, 1.5, pid_file=str(pids))
        assert (late.code, late.may_have_left, late.is_retriable) == (FaultCode.TOOL_TIMEOUT, True, True)
        worker, child = (int(pid) for pid in pids.read_text().split())
        await assert_eventually(lambda: not _runs(worker) and not _runs(child))
        again = await fault_of(transport, contract, 3.0, pid_file=str(pids))
        assert again.code == FaultCode.TOOL_TIMEOUT
        assert int(pids.read_text().split()[0]) != worker


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_a_cancelled_call_kills_its_function(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    async with opened() as transport, asyncio.TaskGroup() as group:
        call = group.create_task(attempted(transport, tool("hangs"), pid_file=str(pids)))
        await assert_eventually(lambda: pids.exists() and len(pids.read_text().split()) == 2, seconds=20)
        call.cancel()
        await assert_eventually(lambda: not _runs(int(pids.read_text().split()[0])))


@pytest.mark.parametrize("how", ["kill", "exit"])
async def test_a_worker_that_dies_in_a_call_may_have_done_its_work(how: str) -> None:
    async with opened() as transport:
        died = await fault_of(transport, tool("dies"), how=how)
        assert (died.code, died.may_have_left) == (FaultCode.RESPONSE_INCOMPLETE, True)
        assert (await fault_of(transport, tool("dies"), how=how)).code == FaultCode.RESPONSE_INCOMPLETE


async def test_a_worker_that_died_between_calls_is_replaced() -> None:
    async with opened() as transport:
        contract = tool("process_id")
        first = body_of(await attempted(transport, contract))
        assert body_of(await attempted(transport, contract)) == first
        os.kill(first, signal.SIGKILL)
        await assert_eventually(lambda: not _runs(first))
        await asyncio.sleep(0.05)  # the service hears of it by a signal of its own
        assert body_of(await attempted(transport, contract)) != first


async def test_results_are_bounded_and_must_be_json() -> None:
    async with opened() as transport:
        assert body_of(await attempted(transport, tool("huge"), size=4000)) == "x" * 4000
        large = await fault_of(transport, tool("huge"), size=10_000_000)
        assert (large.code, large.may_have_left) == (FaultCode.RESPONSE_TOO_LARGE, True)
        odd = await fault_of(transport, tool("not_json"))
        assert (odd.code, "/a/b" in odd.message) == (FaultCode.RESPONSE_MALFORMED, True)


async def test_a_worker_whose_protocol_is_corrupted_is_a_fault_and_is_replaced() -> None:
    async with opened() as transport:
        for _ in range(2):
            assert (await fault_of(transport, tool("garbage"))).code == FaultCode.RESPONSE_INCOMPLETE


@pytest.mark.parametrize("entry_point", UNUSABLE)
async def test_a_function_that_cannot_be_loaded_is_surely_not_called(entry_point: str) -> None:
    async with opened() as transport:
        contract_ = contract(PythonTransport(entry_point=entry_point))
        for _ in range(2):
            fault = await fault_of(transport, contract_)
            assert (fault.code, fault.may_have_left) == (FaultCode.TOOL_UNREACHABLE, False)


async def test_calls_beyond_the_pool_wait_and_are_surely_not_made_when_late(tmp_path: Path) -> None:
    async with opened() as transport, asyncio.TaskGroup() as group:
        pids = tmp_path / "pids"
        holder = group.create_task(attempted(transport, tool("hangs"), pid_file=str(pids)))
        await assert_eventually(pids.exists, seconds=20)
        waiting = await fault_of(transport, tool("hangs"), 0.1)
        assert (waiting.code, waiting.may_have_left) == (FaultCode.POOL_EXHAUSTED, False)
        holder.cancel()


async def test_calls_run_beside_each_other_up_to_the_size_of_the_pool() -> None:
    async with opened() as transport:
        contract = tool("process_id", size=3)
        replies = await asyncio.gather(*(attempted(transport, contract) for _ in range(12)))
        assert 1 <= len({body_of(reply) for reply in replies}) <= 3
        assert "0 busy" in repr(transport)


async def test_the_key_becomes_an_argument_where_the_contract_says_so() -> None:
    async with opened() as transport:
        body = Idempotency(location=KeyLocation.BODY, name="key")
        assert body_of(await attempted(transport, tool("echo", idempotency=body), key="k1", a=1)) == {
            "a": 1,
            "key": "k1",
        }
    async with opened() as transport:
        header = Idempotency(location=KeyLocation.HEADER, name="Key")
        with pytest.raises(TransportFault) as caught:
            await attempted(transport, tool("echo", idempotency=header), key="k1")
        assert (caught.value.code, caught.value.may_have_left) == (FaultCode.NOT_YET_SUPPORTED, False)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
async def test_a_service_that_ends_in_any_way_leaves_no_process(number: signal.Signals, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    module = "tests.integration.action.transports.serving_functions"
    service = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, HERE, str(pids), stderr=asyncio.subprocess.DEVNULL, start_new_session=True
    )
    try:
        await assert_eventually(lambda: pids.exists() and len(pids.read_text().split()) == 2, seconds=30)
        os.killpg(service.pid, number)  # as a terminal does
        async with asyncio.timeout(10):
            await service.wait()
        worker, child = (int(pid) for pid in pids.read_text().split())
        await assert_eventually(lambda: not _runs(worker) and not _runs(child))
    finally:
        if service.returncode is None:
            service.kill()
            await service.wait()


async def test_what_is_no_answer_is_a_fault_of_the_protocol() -> None:
    async with opened() as transport:
        fault = await fault_of(transport, tool("says"), letter="Y")
        assert (fault.code, fault.may_have_left) == (FaultCode.TOOL_PROTOCOL_FAULT, True)


async def test_a_module_that_is_never_imported_costs_its_start_time_alone() -> None:
    settings = ToolPythonSettings(search_path=(HERE,), start_timeout_seconds=0.3)
    async with opened(settings) as transport:
        fault = await fault_of(transport, tool("slow_module:f"))
        assert (fault.code, fault.may_have_left) == (FaultCode.TOOL_UNREACHABLE, False)


async def test_a_process_that_cannot_be_started_is_a_function_that_cannot_be_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    async with opened() as transport:
        assert (await fault_of(transport, tool("echo"))).code == FaultCode.TOOL_UNREACHABLE


async def test_a_process_shows_itself_and_can_be_killed_twice() -> None:
    launch = Launch(entry_point=f"{MODULE}:echo", max_result_bytes=100, start_timeout_seconds=30.0, search_path=(HERE,))
    worker = await WorkerProcess.start(launch)
    await worker.loaded()
    assert repr(worker).endswith("alive)")
    worker.kill()
    await worker.ended()
    worker.kill()
    assert repr(worker).endswith("ended)")
    with pytest.raises(WorkerDied):
        await worker.call(b"{}" * 1_000_000)
