"""The key by which a tool's server tells a repeat from a new call."""

from __future__ import annotations

from taoloop.core import exact_json


def idempotency_key(tenant: str, run_id: str, step_id: str, tool: str, arguments_hash: str) -> str:
    """Return the key of one step's call, 64 hexadecimal characters.

    It does not depend on the attempt, the process, the moment or the order of the arguments' keys. It hashes the
    tenant too, so that two tenants whose calls reach the same server can never share a key, and the tool, so that
    a fallback on the same server has its own.

    Args:
        tenant: Whose call it is.
        run_id: The run.
        step_id: The step, unique in the run.
        tool: The tool that is called.
        arguments_hash: SHA-256 of the canonical arguments.
    """
    return exact_json.digest([tenant, run_id, step_id, tool, arguments_hash])
