"""Client certificates: TLS contexts made from secrets, and made again when a secret was renewed."""

from __future__ import annotations

import asyncio
import hashlib
import ssl
import tempfile
from pathlib import Path

from taoloop.action.ports import SecretSource, TransportFault
from taoloop.action.transports.http.pools import TlsIdentity
from taoloop.action.transports.http.secret_texts import required_secret
from taoloop.core.faults import FaultCode
from taoloop.tools.contract import MutualTls


class ClientCertificates:
    """Makes the TLS identity of a tool from the secrets that its contract names.

    Args:
        secrets: Hold certificates, keys and authorities in PEM.
    """

    def __init__(self, secrets: SecretSource) -> None:
        self._secrets = secrets
        self._identities: dict[MutualTls, TlsIdentity] = {}

    async def identity(self, auth: MutualTls) -> TlsIdentity:
        """Return the identity for the secrets as they are now.

        Raises:
            TransportFault: CREDENTIAL_MISSING for a secret that is not configured, CREDENTIAL_REFUSED for
                secrets that are no certificate, or no key for it.
        """
        certificate = await required_secret(self._secrets, auth.certificate)
        key = await required_secret(self._secrets, auth.key)
        authorities = await required_secret(self._secrets, auth.ca) if auth.ca is not None else ""
        fingerprint = hashlib.sha256(f"{certificate}\0{key}\0{authorities}".encode()).hexdigest()
        identity = self._identities.get(auth)
        if identity is None or identity.fingerprint != fingerprint:
            try:
                context = await asyncio.to_thread(_context, certificate, key, authorities)
            except (ssl.SSLError, OSError, ValueError) as exc:
                message = f"The client certificate {auth.certificate} cannot be used with its key and authorities."
                raise TransportFault(FaultCode.CREDENTIAL_REFUSED, message, may_have_left=False) from exc
            identity = self._identities[auth] = TlsIdentity(fingerprint, context)
        return identity


def _context(certificate: str, key: str, authorities: str) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=authorities or None)
    # OpenSSL takes a key from a file only, so it stands in one for a moment, in a folder that nobody else may enter.
    with tempfile.TemporaryDirectory(prefix="taoloop-") as folder:
        path = Path(folder, "identity.pem")
        path.touch(mode=0o600)
        path.write_text(f"{key.rstrip()}\n{certificate.rstrip()}\n", encoding="utf-8")
        # An encrypted key would make OpenSSL ask at the terminal; an empty password makes it fail instead.
        context.load_cert_chain(path, password="")
    return context
