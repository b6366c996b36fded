"""What holds for every test: generated examples are reproducible and not judged by the clock of a busy machine."""

import asyncio
from collections.abc import Iterator

import pytest
from hypothesis import settings

from taoloop.core.clock import SystemClock
from taoloop.testing.valkey import EmbeddedValkey
from tests.vllm.server import VllmServer

settings.register_profile("taoloop", deadline=None, derandomize=True, max_examples=100, print_blob=True)
settings.load_profile("taoloop")


@pytest.fixture(scope="session")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedValkey]:
    """A real Valkey for the whole session; each test keeps to keys of its own."""
    server = EmbeddedValkey(tmp_path_factory.mktemp("valkey"), 0, SystemClock())
    asyncio.run(server.start())
    yield server
    asyncio.run(server.stop())


@pytest.fixture(scope="session")
def vllm_server() -> Iterator[VllmServer]:
    """The real vLLM server for the whole session, for tests with the marker `vllm`."""
    server = VllmServer()
    server.start()
    yield server
    server.stop()
