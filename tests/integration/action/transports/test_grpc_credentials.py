"""What a gRPC tool is sent beside its arguments, and whom it and we believe."""

from __future__ import annotations

from typing import Any

import grpc
import pytest
import trustme
from pydantic import SecretStr

from taoloop.action.secrets import ConfiguredSecrets
from taoloop.core.faults import FaultCode
from taoloop.tools.contract import (
    ApiKeyAuth,
    Auth,
    BasicAuth,
    BearerAuth,
    Idempotency,
    KeyLocation,
    KeyPlace,
    MutualTls,
    OAuth2ClientCredentials,
)
from tests.integration.action.transports.grpc_calls import at, fault_of, opened, outcome_of, tool
from tests.integration.action.transports.grpc_server import (
    orders_server,
)
from tests.integration.action.transports.tool_calls import THOUGHT, attempted


async def test_metadata_carries_ids_the_key_and_credentials() -> None:
    async with orders_server() as server, opened(at(server)) as transport:
        header = Idempotency(location=KeyLocation.HEADER, name="Idempotency-Key")
        await attempted(transport, tool(auth=BearerAuth(secret="TOKEN"), idempotency=header), key="k1")
        await attempted(transport, tool(auth=BasicAuth(user="u", secret="TOKEN")))
        await attempted(transport, tool(auth=ApiKeyAuth(location=KeyPlace.HEADER, name="X-Api-Key", secret="TOKEN")))
        body = Idempotency(location=KeyLocation.BODY, name="order_id")
        await attempted(transport, tool(idempotency=body), key="k2")
    first, second, third, _ = server.metadata
    assert (first["authorization"], first["idempotency-key"], first["x-request-id"]) == ("Bearer geheim", "k1", THOUGHT)
    assert second["authorization"] == "Basic dTpnZWhlaW0="
    assert third["x-api-key"] == "geheim"
    assert server.requests[-1].order_id == "k2"


@pytest.mark.parametrize(
    ("auth", "url", "code"),
    [
        (BearerAuth(secret="ABSENT"), "http://127.0.0.1:1", FaultCode.CREDENTIAL_MISSING),
        (BearerAuth(secret="ODD"), "http://127.0.0.1:1", FaultCode.CREDENTIAL_REFUSED),
        (BearerAuth(secret="TOKEN"), "http://example.test", FaultCode.CREDENTIAL_REFUSED),
        (
            ApiKeyAuth(location=KeyPlace.QUERY, name="key", secret="TOKEN"),
            "http://127.0.0.1:1",
            FaultCode.NOT_YET_SUPPORTED,
        ),
        (
            OAuth2ClientCredentials(token_url="{{base.shop}}/t", client_id="c", secret="TOKEN"),
            "https://127.0.0.1:1",
            FaultCode.NOT_YET_SUPPORTED,
        ),
    ],
)
async def test_credentials_that_cannot_be_sent_stop_the_call(auth: Auth, url: str, code: str) -> None:
    fault = await fault_of(url, tool(auth=auth))
    assert (fault.code, fault.may_have_left) == (code, False)
    assert "geheim" not in fault.message


def pem(*blobs: trustme.Blob) -> str:
    return "".join(blob.bytes().decode() for blob in blobs)


async def test_both_sides_of_tls_are_checked() -> None:
    authority, stranger = trustme.CA(), trustme.CA()
    leaf = authority.issue_cert("127.0.0.1")
    pair = (leaf.private_key_pem.bytes(), pem(*leaf.cert_chain_pems).encode())
    credentials = grpc.ssl_server_credentials([pair], authority.cert_pem.bytes(), require_client_auth=True)
    auth = MutualTls(certificate="CERT", key="KEY", ca="CA")
    async with orders_server(credentials=credentials) as server:
        url = f"https://{server.address}"
        for issuer, trusted, is_let_in in (
            (authority, authority, True),
            (stranger, authority, False),
            (authority, stranger, False),
        ):
            client = issuer.issue_cert("taoloop.test")
            values = {
                "CERT": pem(*client.cert_chain_pems),
                "KEY": pem(client.private_key_pem),
                "CA": pem(trusted.cert_pem),
            }
            secrets = ConfiguredSecrets({name: SecretStr(value) for name, value in values.items()})
            async with opened(url, secrets=secrets) as transport:
                if is_let_in:
                    assert (await attempted(transport, tool(auth=auth), order_id="A1")).status_code == 200
                else:
                    outcome = await outcome_of(transport, tool(auth=auth))
                    assert outcome in {FaultCode.TOOL_UNREACHABLE, 503}
        assert len(server.requests) == 1
        unknown = await fault_of(url, tool(auth=BearerAuth(secret="TOKEN")))
        assert (unknown.code, unknown.may_have_left) == (FaultCode.TOOL_UNREACHABLE, False)


async def test_a_certificate_needs_tls() -> None:
    fault = await fault_of("http://127.0.0.1:1", tool(auth=MutualTls(certificate="TOKEN", key="TOKEN")))
    assert (fault.code, fault.may_have_left) == (FaultCode.CREDENTIAL_REFUSED, False)


async def test_keys_that_are_no_pem_are_a_refused_credential() -> None:
    fault = await fault_of("https://127.0.0.1:1", tool(auth=MutualTls(certificate="TOKEN", key="TOKEN")))
    assert not fault.may_have_left
    assert "geheim" not in fault.message


async def test_a_credential_that_a_service_says_again_is_masked() -> None:
    secrets = ConfiguredSecrets({"TOKEN": SecretStr("streng-geheim")})

    async def refuse(_request: Any, context: Any) -> bytes:
        await context.abort(grpc.StatusCode.INTERNAL, "streng-geheim is no token")
        return b""

    wanted = tool(auth=BearerAuth(secret="TOKEN"))
    async with orders_server() as server, opened(at(server), secrets=secrets) as transport:
        said = await attempted(transport, wanted, order_id="Bearer streng-geheim", number=7)
        server.handler = refuse
        failed = await attempted(transport, wanted)

    assert (b'"Bearer ***"' in said.body, said.has_masked) == (True, True)
    assert failed.status_code >= 400
    assert b"streng-geheim" not in failed.body
    assert "streng-geheim" not in failed.failure
