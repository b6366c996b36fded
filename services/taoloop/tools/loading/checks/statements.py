"""Checks of SQL statements against the tool's parameters and its effect."""

from __future__ import annotations

from collections.abc import Iterator

from taoloop.tools.contract import SqlTransport, ToolContract
from taoloop.tools.loading.checks.faults import ContractFault
from taoloop.tools.signature import Effect
from taoloop.tools.sql_statement import StatementRefused, read_statement


def statement_faults(contract: ToolContract) -> Iterator[ContractFault]:
    """Yield what is wrong with the statement of a tool whose schemas compile."""
    sql, pointer = contract.transport, "/spec/transport/sql/statement"
    if not isinstance(sql, SqlTransport):
        return
    try:
        statement = read_statement(sql.statement)
    except StatementRefused as exc:
        yield ContractFault(pointer, "SQL_STATEMENT", str(exc), "Write one plain statement with parameters as :name.")
        return
    declared = contract.parameters.get("properties", {})
    key = contract.idempotency
    for name in statement.parameters:
        if name not in declared and (key is None or key.name != name):
            cause = f"the placeholder :{name} is no parameter"
            yield ContractFault(pointer, "UNKNOWN_PLACEHOLDER", cause, "Use the name of a parameter.")
    for name in declared:
        if name not in statement.parameters:
            cause = f"the statement does not use the parameter {name!r}"
            yield ContractFault(pointer, "UNUSED_PARAMETER", cause, f"Use :{name} or remove it.", is_warning=True)
    if sql.read_only and not statement.reads_only:
        cause = f"the transport is read-only, and the statement {statement.why_it_writes}"
        yield ContractFault(
            pointer, "SQL_WRITES", cause, "Write one SELECT, or declare the effect and read_only: false."
        )
    if sql.read_only is not (contract.effect is Effect.READ):
        cause = f"the effect is {contract.effect} and read_only is {str(sql.read_only).lower()}"
        remedy = "Say read_only: false for a tool that writes, and leave it out for one that reads."
        yield ContractFault("/spec/transport/sql", "SQL_EFFECT", cause, remedy)
