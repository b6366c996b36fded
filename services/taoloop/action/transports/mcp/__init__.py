"""Tools of servers of the Model Context Protocol: one session for each server, over HTTP or a child process."""

from taoloop.core.errors import ConfigurationError

try:
    import mcp as _mcp  # noqa: F401 - every module of this package needs it
except ImportError as exc:
    raise ConfigurationError("The MCP transport needs the extra `action`.", metadata={"extra": "action"}) from exc

from taoloop.action.transports.mcp.transport import McpClientTransport, mcp_transport

__all__ = ["McpClientTransport", "mcp_transport"]
