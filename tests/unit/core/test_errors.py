"""Rules of the error tree."""

import re

import pytest

import taoloop.core.errors as errors_module
from taoloop.core.errors import (
    BackendUnavailable,
    FeatureNotServed,
    FieldViolation,
    InternalError,
    InvalidMetadata,
    InvalidRequest,
    MessageTooLarge,
    QueueFull,
    RequestIdReused,
    TaoError,
    UnknownRun,
    UnknownTool,
    error_classes,
)

GRPC_CODES = {
    "INVALID_ARGUMENT", "UNAUTHENTICATED", "PERMISSION_DENIED", "NOT_FOUND", "FAILED_PRECONDITION", "ALREADY_EXISTS",
    "ABORTED", "RESOURCE_EXHAUSTED", "UNAVAILABLE", "DEADLINE_EXCEEDED", "UNIMPLEMENTED", "INTERNAL",
}  # fmt: skip
OURS = [cls for cls in error_classes() if cls.__module__ == errors_module.__name__]


@pytest.mark.parametrize("cls", OURS)
def test_every_class_fixes_a_code_a_reason_and_a_remedy(cls: type[TaoError]) -> None:
    assert cls.code in GRPC_CODES
    assert re.fullmatch(r"[A-Z][A-Z0-9_]{2,62}", cls.reason)
    assert cls.__doc__
    assert cls.__doc__.splitlines()[0].endswith(".")
    assert cls.remedy.endswith(".")


@pytest.mark.parametrize("cls", OURS)
def test_the_tree_at_the_head_of_the_module_shows_every_class_with_its_code(cls: type[TaoError]) -> None:
    assert errors_module.__doc__
    line = next(line for line in errors_module.__doc__.splitlines() if re.search(rf"\b{cls.__name__}\b +\S", line))
    assert cls.code in line or cls.__name__ in {"TaoError", "ConfigurationError"}


def test_every_reason_belongs_to_one_class_except_the_root() -> None:
    reasons = [cls.reason for cls in OURS if cls is not TaoError]
    assert len(reasons) == len(set(reasons))


@pytest.mark.parametrize(
    "error",
    [
        UnknownRun.of("0" * 32),
        UnknownTool.of("get_order"),
        RequestIdReused.of("r-1"),
        MessageTooLarge.of(10, 5),
        FeatureNotServed.rpc("/taoloop.api.v1.LoopService/Watch"),
        InternalError.of("abc"),
    ],
)
def test_every_value_of_a_message_is_in_the_metadata(error: TaoError) -> None:
    assert error.metadata
    assert all(value in error.message for value in error.metadata.values())


def test_an_error_carries_what_it_was_given() -> None:
    error = QueueFull("The queue is full.", metadata={"length": "100"}, retry_after_seconds=1.5)
    assert str(error) == error.message == "The queue is full."
    assert (error.reason, error.code, error.retry_after_seconds) == ("QUEUE_FULL", "RESOURCE_EXHAUSTED", 1.5)
    assert repr(error) == "QueueFull('The queue is full.', reason='QUEUE_FULL', metadata={'length': '100'})"


def test_a_reason_of_its_own_stays_with_the_instance() -> None:
    assert BackendUnavailable("down", reason="REDIS_UNAVAILABLE").reason == "REDIS_UNAVAILABLE"
    assert BackendUnavailable("down").reason == "BACKEND_UNAVAILABLE"


def test_violations_are_kept_in_order() -> None:
    violations = [FieldViolation("turns", "is empty"), FieldViolation("locale", "is unknown")]
    error = InvalidMetadata("bad", violations=violations)
    assert isinstance(error, InvalidRequest)
    assert error.violations == tuple(violations)


def test_metadata_cannot_be_changed_later() -> None:
    given = {"a": "1"}
    error = TaoError("x", metadata=given)
    given["a"] = "2"
    assert error.metadata == {"a": "1"}
    with pytest.raises(TypeError):
        error.metadata["a"] = "3"  # type: ignore[index]
