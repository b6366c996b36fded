"""Where an idempotency key goes without headers."""

from __future__ import annotations

import pytest

from taoloop.action.ports import ToolCall, TransportFault
from taoloop.action.transports.bound_keys import with_body_key
from taoloop.core.faults import FaultCode
from taoloop.tools.contract import Idempotency, KeyLocation, PythonTransport
from tests.integration.action.transports.tool_calls import contract


def call(location: KeyLocation | None, key: str = "k1") -> ToolCall:
    place = None if location is None else Idempotency(location=location, name="key")
    tool = contract(PythonTransport(entry_point="m:f"), idempotency=place)
    return ToolCall(contract=tool, arguments={"a": 1}, timeout_seconds=1.0, thought_id="", idempotency_key=key)


def test_a_key_of_the_body_is_an_argument() -> None:
    assert with_body_key(call(KeyLocation.BODY)) == {"a": 1, "key": "k1"}


@pytest.mark.parametrize(("location", "key"), [(None, "k1"), (KeyLocation.BODY, "")])
def test_without_a_place_or_a_key_the_arguments_stay(location: KeyLocation | None, key: str) -> None:
    assert with_body_key(call(location, key)) == {"a": 1}


@pytest.mark.parametrize("location", [KeyLocation.HEADER, KeyLocation.QUERY])
def test_a_key_for_another_place_stops_the_call(location: KeyLocation) -> None:
    with pytest.raises(TransportFault) as caught:
        with_body_key(call(location))
    assert (caught.value.code, caught.value.may_have_left) == (FaultCode.NOT_YET_SUPPORTED, False)
