"""Tools behind HTTP: one attempt on aiohttp, with limits on time and size, and nothing repeated or followed unasked."""

from taoloop.core.errors import ConfigurationError

try:
    import aiohttp as _aiohttp  # noqa: F401 - every module of this package needs it
except ImportError as exc:
    raise ConfigurationError("The HTTP transport needs the extra `action`.", metadata={"extra": "action"}) from exc

from taoloop.action.transports.http.transport import AiohttpTransport, http_transport

__all__ = ["AiohttpTransport", "http_transport"]
