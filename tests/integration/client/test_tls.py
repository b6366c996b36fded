"""The client over TLS: it checks the server, and shows its own certificate where it is told to."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
import trustme

from taoloop.api.v1 import loop_pb2, loop_pb2_grpc
from taoloop.client import AsyncClient, BackendUnavailable, ConfigurationError, DeadlineExceeded
from tests.integration.client.scripted_loop import RUN_ID


class Noting(loop_pb2_grpc.LoopServiceServicer):
    """Knows one run, and notes what came with the calls."""

    def __init__(self) -> None:
        self.metadata: list[dict[str, Any]] = []

    async def GetRun(self, request: Any, context: Any) -> Any:  # noqa: N802 - RPC
        self.metadata.append(dict(context.invocation_metadata()))
        return loop_pb2.GetRunResponse(run=loop_pb2.RunSummary(run_id=request.run_id))


class Certificates:
    """Files of a private authority: a server's certificate for `loop.example`, and a client's."""

    def __init__(self, root: Path) -> None:
        authority = trustme.CA()
        self.server = authority.issue_cert("loop.example")
        client = authority.issue_cert("backend@example.org")
        self.authority = authority.cert_pem.bytes()
        self.ca_file, self.chain, self.key = (root / name for name in ("ca.pem", "client.pem", "client.key"))
        authority.cert_pem.write_to_path(str(self.ca_file))
        client.cert_chain_pems[0].write_to_path(str(self.chain))
        client.private_key_pem.write_to_path(str(self.key))

    @asynccontextmanager
    async def serving(self, servicer: Noting, *, is_mutual: bool) -> AsyncIterator[str]:
        """Serve by TLS."""
        server = grpc.aio.server()
        loop_pb2_grpc.add_LoopServiceServicer_to_server(servicer, server)
        pair = (self.server.private_key_pem.bytes(), self.server.cert_chain_pems[0].bytes())
        credentials = grpc.ssl_server_credentials([pair], self.authority, require_client_auth=is_mutual)
        port = server.add_secure_port("127.0.0.1:0", credentials)
        await server.start()
        try:
            yield f"127.0.0.1:{port}"
        finally:
            await server.stop(0.1)

    def tls(self, **more: Any) -> dict[str, Any]:
        """Return the settings of a client that trusts the authority."""
        return {"tls": {"is_on": True, "ca_file": self.ca_file, "server_name": "loop.example", **more}}


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


async def test_token_goes_to_a_server_that_is_the_one_meant(certificates: Certificates) -> None:
    noting = Noting()  # type: ignore[abstract]
    options = {**certificates.tls(), "metadata": {"authorization": "Bearer t0ken"}}
    async with (
        certificates.serving(noting, is_mutual=False) as address,
        AsyncClient(address, client=options) as client,
    ):
        assert (await client.get(RUN_ID)).run_id == RUN_ID
    assert noting.metadata[0]["authorization"] == "Bearer t0ken"


async def test_client_shows_its_certificate(certificates: Certificates) -> None:
    shown = certificates.tls(certificate_file=certificates.chain, key_file=certificates.key)
    async with certificates.serving(Noting(), is_mutual=True) as address:  # type: ignore[abstract]
        async with AsyncClient(address, client=shown) as client:
            assert (await client.get(RUN_ID)).run_id == RUN_ID
        async with AsyncClient(address, client=certificates.tls()) as client:
            with pytest.raises((BackendUnavailable, DeadlineExceeded)):
                await client.get(RUN_ID, timeout_seconds=0.5)


@pytest.mark.parametrize("wrong", [{"server_name": "other.example"}, {"ca_file": None}], ids=["name", "authority"])
async def test_server_that_is_not_the_one_meant_is_sent_nothing(
    certificates: Certificates, wrong: dict[str, Any]
) -> None:
    noting = Noting()  # type: ignore[abstract]
    async with (
        certificates.serving(noting, is_mutual=False) as address,
        AsyncClient(address, client=certificates.tls(**wrong)) as client,
    ):
        with pytest.raises((BackendUnavailable, DeadlineExceeded)):
            await client.get(RUN_ID, timeout_seconds=0.5)
    assert noting.metadata == []


async def test_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "absent.pem"
    with pytest.raises(ConfigurationError, match=r"absent\.pem"):
        await AsyncClient("127.0.0.1:1", client={"tls": {"is_on": True, "ca_file": missing}}).__aenter__()
