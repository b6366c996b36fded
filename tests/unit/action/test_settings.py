"""Rules of the action service's settings."""

import pytest
from pydantic import ValidationError

from taoloop.action.egress.rules import EgressRules
from taoloop.action.settings import EgressSettings


def test_networks_of_tools_are_read_as_rules() -> None:
    assert EgressSettings(allow=("10.0.0.0/8",)).rules() == EgressRules.of(("10.0.0.0/8",))


def test_what_is_no_network_is_refused_at_the_start() -> None:
    with pytest.raises(ValidationError):
        EgressSettings(allow=("tools.internal",))
