"""Which servers are believed, and what a client shows them."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme
from aiohttp import web
from pydantic import SecretStr

from taoloop.action.secrets import ConfiguredSecrets
from taoloop.action.settings import ToolHttpSettings
from taoloop.action.transports.http import AiohttpTransport
from taoloop.core.faults import FaultCode
from taoloop.tools.contract import MutualTls, ToolContract
from tests.integration.action.http_calls import call, contract, fault_of, server, transport
from tests.unit.action.contracts import telemetry

MTLS = MutualTls(certificate="CERT", key="KEY", ca="CA")


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def pem(blobs: list[trustme.Blob]) -> str:
    return "".join(blob.bytes().decode() for blob in blobs)


def secrets(authority: trustme.CA, name: str = "taoloop.test") -> dict[str, str]:
    leaf = authority.issue_cert(name)
    return {
        "CERT": pem(leaf.cert_chain_pems),
        "KEY": leaf.private_key_pem.bytes().decode(),
        "CA": authority.cert_pem.bytes().decode(),
    }


def server_side(authority: trustme.CA, leaf: trustme.LeafCert | None = None, *, asks: bool = False) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    (leaf or authority.issue_cert("127.0.0.1")).configure_cert(context)
    if asks:
        context.verify_mode = ssl.CERT_REQUIRED
        authority.configure_trust(context)
    return context


async def names(request: web.Request) -> web.Response:
    """Tell the name in the client's certificate."""
    assert request.transport is not None
    certificate = request.transport.get_extra_info("peercert")
    return web.json_response({"name": certificate["subjectAltName"][0][1] if certificate else ""})


@pytest.fixture
def mutual() -> ToolContract:
    return contract(auth=MTLS)


async def test_a_client_certificate_is_shown(authority: trustme.CA, mutual: ToolContract) -> None:
    async with server(names, server_side(authority, asks=True)) as url, transport(url, secrets(authority)) as tool:
        assert (await tool.attempt(call(mutual))).body == b'{"name": "taoloop.test"}'


async def test_a_renewed_certificate_is_used_without_a_restart(
    authority: trustme.CA, mutual: ToolContract, tmp_path: Path
) -> None:
    def write(name: str) -> None:
        for secret, text in secrets(authority, name).items():
            (tmp_path / secret).write_text(text)

    async with server(names, server_side(authority, asks=True)) as url:
        source = ConfiguredSecrets({}, tmp_path)
        tool = AiohttpTransport(ToolHttpSettings(), {"things": url}, source, telemetry())
        try:
            bodies: list[bytes] = []
            for name in ("old.test", "old.test", "new.test"):
                if not bodies or name == "new.test":
                    write(name)
                bodies.append((await tool.attempt(call(mutual))).body)
        finally:
            await tool.aclose()
    assert bodies == [b'{"name": "old.test"}'] * 2 + [b'{"name": "new.test"}']


@pytest.mark.parametrize("broken", [{"KEY": "no key"}, {"CERT": "no certificate"}, {"CA": "no authority"}])
async def test_a_certificate_that_cannot_be_used_is_a_fault_before_the_call(
    authority: trustme.CA, mutual: ToolContract, broken: dict[str, str]
) -> None:
    async with server(names, server_side(authority)) as url, transport(url, secrets(authority) | broken) as tool:
        fault = await fault_of(tool, call(mutual))
    assert (fault.code, fault.may_have_left) == (FaultCode.CREDENTIAL_REFUSED, False)
    assert "no key" not in fault.message


async def test_a_key_of_another_certificate_is_refused(authority: trustme.CA, mutual: ToolContract) -> None:
    mixed = secrets(authority) | {"KEY": secrets(authority)["KEY"]}
    async with server(names, server_side(authority)) as url, transport(url, mixed) as tool:
        assert (await fault_of(tool, call(mutual))).code == FaultCode.CREDENTIAL_REFUSED


async def test_the_systems_authorities_are_the_default(authority: trustme.CA) -> None:
    alone = contract(auth=MutualTls(certificate="CERT", key="KEY"))
    async with server(names, server_side(authority)) as url, transport(url, secrets(authority)) as tool:
        assert "authority that is not known" in (await fault_of(tool, call(alone))).message


def leaves(authority: trustme.CA) -> Iterator[tuple[trustme.LeafCert, str]]:
    now = datetime.now(UTC)
    yield (
        authority.issue_cert("127.0.0.1", not_before=now - timedelta(days=9), not_after=now - timedelta(days=1)),
        "its certificate has expired",
    )
    yield (
        authority.issue_cert("127.0.0.1", not_before=now + timedelta(days=1), not_after=now + timedelta(days=9)),
        "its certificate is not valid yet",
    )
    yield authority.issue_cert("127.0.0.2"), "its certificate is for another address"
    yield trustme.CA().issue_cert("127.0.0.1"), "its certificate is signed by an authority that is not known"


@pytest.mark.parametrize("index", range(4))
async def test_a_server_with_a_bad_certificate_is_not_called(
    authority: trustme.CA, mutual: ToolContract, index: int
) -> None:
    leaf, cause = list(leaves(authority))[index]
    async with server(names, server_side(authority, leaf)) as url, transport(url, secrets(authority)) as tool:
        fault = await fault_of(tool, call(mutual))
    assert fault.message == f"The server is not trusted: {cause}."
    assert (fault.code, fault.may_have_left, fault.is_retriable) == (FaultCode.TOOL_UNREACHABLE, False, False)


async def test_plain_text_where_tls_is_expected_is_unreachable() -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.test ESMTP\r\n")
        writer.close()

    plain = await asyncio.start_server(greet, "127.0.0.1", 0)
    async with plain, transport(f"https://127.0.0.1:{plain.sockets[0].getsockname()[1]}") as tool:
        fault = await fault_of(tool, call(contract()))
    assert (fault.code, fault.may_have_left) == (FaultCode.TOOL_UNREACHABLE, False)


async def test_a_client_without_the_certificate_that_is_wanted_is_let_down(authority: trustme.CA) -> None:
    # In TLS 1.3 the server's refusal comes after the client's handshake, so a byte may have left.
    unknown = secrets(trustme.CA()) | {"CA": authority.cert_pem.bytes().decode()}
    async with server(names, server_side(authority, asks=True)) as url, transport(url, unknown) as tool:
        fault = await fault_of(tool, call(contract(auth=MTLS)))
    assert fault.code in {FaultCode.TOOL_UNREACHABLE, FaultCode.RESPONSE_INCOMPLETE}


async def test_a_secret_source_with_settings_works_too(authority: trustme.CA) -> None:
    values = {name: SecretStr(text) for name, text in secrets(authority).items()}
    async with server(names, server_side(authority)) as url:
        tool = AiohttpTransport(ToolHttpSettings(), {"things": url}, ConfiguredSecrets(values), telemetry())
        assert (await tool.attempt(call(contract(auth=MTLS)))).status_code == 200
        await tool.aclose()
