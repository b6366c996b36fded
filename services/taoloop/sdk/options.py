"""What a function says of itself as a tool, beyond its signature and its docstring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeVar

_ATTRIBUTE: Final = "__taoloop_tool__"

Effect = Literal["read", "idempotent_write", "write"]
Reach = Literal["internal", "outward"]
Trust = Literal["trusted", "untrusted"]
FunctionT = TypeVar("FunctionT", bound=Callable[..., object])


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOptions:
    """The fields of a contract that no signature tells; None leaves a field to a person.

    Attributes:
        name: Of the tool; the function's when left out.
        effect: What a call changes.
        reach: Whether somebody outside sees what a call sends.
        trust: Whether the result holds other people's text.
        timeout: Longest wait, such as `3s` or `500ms`.
    """

    name: str | None = None
    effect: Effect | None = None
    reach: Reach | None = None
    trust: Trust | None = None
    timeout: str | None = None


def tool(
    *,
    name: str | None = None,
    effect: Effect | None = None,
    reach: Reach | None = None,
    trust: Trust | None = None,
    timeout: str | None = None,
) -> Callable[[FunctionT], FunctionT]:
    """Mark a function as a tool; it stays the same function, and can be called and tested as before.

    ```python
    @tool(effect="read", reach="internal", timeout="2s")
    def price_of(article: Literal["pen", "ink"]) -> Price: ...
    ```

    Args:
        name: Of the tool; the function's when left out.
        effect: What a call changes.
        reach: Whether somebody outside sees what a call sends.
        trust: Whether the result holds other people's text.
        timeout: Longest wait, such as `3s` or `500ms`.
    """
    options = ToolOptions(name=name, effect=effect, reach=reach, trust=trust, timeout=timeout)

    def marked(function: FunctionT) -> FunctionT:
        setattr(function, _ATTRIBUTE, options)
        return function

    return marked


def options_of(function: object) -> ToolOptions:
    """Return what a function was marked with; nothing said for one that was not marked."""
    found = getattr(function, _ATTRIBUTE, None)
    return found if isinstance(found, ToolOptions) else ToolOptions()
