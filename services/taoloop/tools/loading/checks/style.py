"""Rules of style for contracts: each breach is a warning, the contract works all the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from taoloop.core import exact_json, pointers
from taoloop.tools.contract import ToolContract
from taoloop.tools.loading.checks.faults import ContractFault
from taoloop.tools.signature import Effect, Reach


def style_warnings(contract: ToolContract) -> Iterator[ContractFault]:
    """Yield what breaks a rule of style; the contract works all the same."""
    if contract.name != contract.name.lower() or not contract.name.replace("_", "").isalnum():
        yield _style("/metadata/name", "the name is not snake_case", "Use lower-case words joined by '_'.")
    if len(contract.description) > 100:
        cause = f"the description has {len(contract.description)} characters, more than 100"
        yield _style("/spec/description", cause, "Say in one line what the tool answers or does.")
    if "\n" in contract.description.strip():
        yield _style("/spec/description", "the description has several lines", "Say it in one line.")
    if not contract.use_when:
        yield _style("/spec", "use_when is missing", "Say what users say when this is the tool.")
    properties = contract.parameters.get("properties", {})
    for name, schema in properties.items() if isinstance(properties, Mapping) else ():
        pointer = "/spec/parameters/properties" + pointers.join(name)
        if name != name.lower() or not name.replace("_", "").isalnum():
            yield _style(pointer, f"the parameter {name!r} is not snake_case", "Use lower-case words joined by '_'.")
        if not isinstance(schema, Mapping) or not schema.get("description"):
            yield _style(pointer, f"the parameter {name!r} has no description", "Describe it with an example.")
    for code in sorted({error.code for error in contract.errors if exact_json.equal(error.when, True)}):
        yield _style("/spec/errors", f"the error {code} matches every reply", "Write a condition.")
    yield from _fallback_warnings(contract)


def _fallback_warnings(contract: ToolContract) -> Iterator[ContractFault]:
    # Not an error: the last tool of a chain of fallbacks has none, and one that is made up to please a check
    # answers worse than an honest fault.
    has_other = contract.fallback is not None or (contract.cache is not None and contract.cache.last_good_seconds > 0)
    if contract.effect is Effect.READ and contract.reach is Reach.OUTWARD and not has_other:
        cause = "the tool reads outside the company, where gateways fail in bursts, and nothing stands in for it"
        yield _style("/spec", cause, "Name a fallback, or give cache.last_good.")


def _style(pointer: str, cause: str, remedy: str) -> ContractFault:
    return ContractFault(pointer, "STYLE", cause, remedy, is_warning=True)
