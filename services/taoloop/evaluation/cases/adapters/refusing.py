"""How the product's refusals look in the words of case files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from taoloop.core.faults import Fault, FaultCode
from taoloop.evaluation.cases.model import Said, Unsupported
from taoloop.evaluation.cases.vocabulary import case_word


def rejected(code: str, **more: Any) -> Said:
    """Return what is said of an input that the product refuses before any tool is called."""
    return {"outcome": "rejected", "error_class": case_word(code), "executed": False, **more}


def error_of(fault: Fault) -> Said:
    """Return one fault as an entry of `errors`."""
    error: Said = {
        "class": case_word(fault.code),
        "path": fault.field,
        "message": fault.message,
        "candidates": list(fault.candidates),
    }
    if fault.cause_step_id:
        error["cause"] = fault.cause_step_id
    if fault.code == FaultCode.DEPENDENCY_CYCLE and isinstance(fault.actual, list):
        error["members"] = fault.actual
    return error


def errors_of(faults: Iterable[Fault]) -> list[Said]:
    """Return faults as `errors`."""
    return [error_of(fault) for fault in faults]


def need(value: Any, key: str, what: str) -> Any:
    """Return a member of a part of an input.

    Raises:
        Unsupported: The part is no object, or has no such member.
    """
    if not isinstance(value, Mapping) or key not in value:
        raise Unsupported(f"{what} has no {key!r}")
    return value[key]


def listed(value: Any, what: str) -> list[Any]:
    """Return a part of an input that is a list.

    Raises:
        Unsupported: It is none.
    """
    if not isinstance(value, list):
        raise Unsupported(f"{what} is no list")
    return value
