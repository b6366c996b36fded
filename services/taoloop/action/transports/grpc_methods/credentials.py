"""The credentials of a contract as what gRPC carries: metadata, and identities for TLS."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass

from taoloop.action.ports import SecretSource, TransportFault
from taoloop.action.transports.grpc_methods.servers import Server
from taoloop.core.faults import FaultCode
from taoloop.tools.contract import ApiKeyAuth, Auth, BasicAuth, BearerAuth, KeyPlace, MutualTls
from taoloop.wire.foreign.channel import Tls


@dataclass(frozen=True, slots=True)
class TlsIdentity:
    """What the channel is made with.

    Attributes:
        tls: None for plain text.
        fingerprint: Changes when the secrets do.
    """

    tls: Tls | None
    fingerprint: str = ""


async def metadata_of(auth: Auth | None, server: Server, secrets: SecretSource) -> tuple[tuple[str, str], ...]:
    """Return the entries that let the call in; a client certificate adds none.

    Raises:
        TransportFault: CREDENTIAL_MISSING; CREDENTIAL_REFUSED, a secret would travel in plain text or cannot be
            metadata; NOT_YET_SUPPORTED, gRPC has no place for such credentials.
    """
    if auth is None or isinstance(auth, MutualTls):
        return ()
    if not server.is_secure and not server.is_loopback:
        raise _fault(FaultCode.CREDENTIAL_REFUSED, "A secret is not sent in plain text: the base must be https.")
    match auth:
        case BearerAuth():
            return (("authorization", f"Bearer {await _entry(secrets, auth.secret)}"),)
        case BasicAuth():
            pair = f"{auth.user}:{await _entry(secrets, auth.secret)}"
            return (("authorization", f"Basic {base64.b64encode(pair.encode()).decode()}"),)
        case ApiKeyAuth(location=KeyPlace.HEADER):
            return ((auth.name.lower(), await _entry(secrets, auth.secret)),)
        case _:
            raise _fault(FaultCode.NOT_YET_SUPPORTED, "gRPC has no place for credentials of this kind.")


async def identity_of(auth: Auth | None, server: Server, secrets: SecretSource) -> TlsIdentity:
    """Return what the channel is made with.

    Raises:
        TransportFault: CREDENTIAL_MISSING, or a certificate for a base without TLS.
    """
    if not isinstance(auth, MutualTls):
        return TlsIdentity(Tls() if server.is_secure else None)
    if not server.is_secure:
        raise _fault(FaultCode.CREDENTIAL_REFUSED, "A client certificate needs a base that is https.")
    names = (auth.certificate, auth.key) if auth.ca is None else (auth.certificate, auth.key, auth.ca)
    texts = [(await _secret(secrets, name)).encode() for name in names]
    tls = Tls(certificate=texts[0], key=texts[1], authorities=texts[2] if auth.ca is not None else None)
    return TlsIdentity(tls, hashlib.sha256(b"\0".join(texts)).hexdigest())


async def _secret(secrets: SecretSource, name: str) -> str:
    value = await secrets.secret(name)
    if value is None:
        raise _fault(FaultCode.CREDENTIAL_MISSING, f"The secret {name} is not configured.")
    return value


async def _entry(secrets: SecretSource, name: str) -> str:
    value = await _secret(secrets, name)
    if not value.isascii() or not value.isprintable():
        raise _fault(FaultCode.CREDENTIAL_REFUSED, f"The secret {name} cannot be sent as metadata.")
    return value


def _fault(code: FaultCode, message: str) -> TransportFault:
    return TransportFault(code, message, may_have_left=False)
