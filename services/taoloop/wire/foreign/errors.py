"""What can keep a foreign service from being called, or its answer from being read."""

from __future__ import annotations


class MethodUnusable(Exception):
    """The method is not known, or no unary one; the message says which."""


class RequestUnfit(Exception):
    """The arguments are no message of the method's request.

    Attributes:
        field: The field at fault as far as it is known, such as `order_id`; empty when it is not.
    """

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class NotConnected(Exception):
    """No connection came about; nothing was sent."""


class AnswerUnreadable(Exception):
    """The answer is no message of the method's reply, or larger than allowed.

    Attributes:
        is_too_large: Whether its size is the cause.
    """

    def __init__(self, message: str, *, is_too_large: bool = False) -> None:
        super().__init__(message)
        self.is_too_large = is_too_large
