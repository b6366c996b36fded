"""The catalogue: the tools of one company, compiled, with the digest that plans and executions carry."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, Self

from taoloop.core import exact_json
from taoloop.core.errors import UnknownTool
from taoloop.tools.compiled import CompiledTool
from taoloop.tools.contract import ToolContract
from taoloop.tools.signature import ToolSignature

_LONGEST_COMPARED: Final = 128


class Catalogue:
    """An immutable set of tools.

    Attributes:
        name: Of the catalogue, for logs and bundles; no part of the digest.
        bases: Name to base URL, as this deployment has them; no part of the digest.
        digest: SHA-256 over the tools' digests by name, 64 hex characters. File names, the order of files,
            the samples and the bases do not count: the same tools at other addresses are the same catalogue.
    """

    def __init__(
        self, tools: Iterable[CompiledTool], *, name: str = "", bases: Mapping[str, str] | None = None
    ) -> None:
        by_name = {tool.contract.name: tool for tool in tools}
        self.name: Final = name
        self.bases: Final[Mapping[str, str]] = MappingProxyType(dict(bases or {}))
        self._tools: Final = MappingProxyType({key: by_name[key] for key in sorted(by_name)})
        self.digest: Final = exact_json.digest({key: tool.contract.digest for key, tool in self._tools.items()})

    @classmethod
    def of(cls, contracts: Iterable[ToolContract], *, name: str = "", bases: Mapping[str, str] | None = None) -> Self:
        """Compile contracts into a catalogue.

        Raises:
            SchemaRefused: A schema must not be used.
            RuleRefused: A rule must not be used.
        """
        return cls(map(CompiledTool.compile, contracts), name=name, bases=bases)

    @classmethod
    def from_signatures(cls, signatures: Iterable[ToolSignature], *, name: str = "") -> Self:
        """Make a catalogue of foreign tools, of which only the signatures are known; they cannot be called.

        Raises:
            SchemaRefused: A schema must not be used.
        """
        return cls.of(map(_contract, signatures), name=name)

    @property
    def tools(self) -> Mapping[str, ToolContract]:
        """Return name to contract, sorted by name."""
        return {name: tool.contract for name, tool in self._tools.items()}

    def get(self, name: str) -> ToolContract | None:
        """Return the contract of this name, or None."""
        tool = self._tools.get(name)
        return None if tool is None else tool.contract

    def compiled(self, name: str) -> CompiledTool:
        """Return the tool of this name with its compiled schemas and rules.

        Raises:
            UnknownTool: There is none.
        """
        tool = self._tools.get(name)
        if tool is None:
            raise UnknownTool.of(name)
        return tool

    def signatures(self) -> tuple[ToolSignature, ...]:
        """Return what planners see, sorted by name."""
        return tuple(tool.signature for tool in self._tools.values())

    def output_schema(self, name: str) -> Mapping[str, Any] | bool:
        """Return the JSON Schema of a tool's data after normalising.

        Raises:
            UnknownTool: There is no such tool.
        """
        return self.compiled(name).output_schema

    def fallback_chain(self, name: str) -> tuple[ToolContract, ...]:
        """Return the tools that answer in a tool's place, in the order in which they are tried; empty for none.

        Raises:
            UnknownTool: There is no such tool.
        """
        chain: dict[str, ToolContract] = {}
        contract: ToolContract | None = self.compiled(name).contract
        while contract is not None and contract.fallback is not None:
            contract = self.get(contract.fallback.tool)
            if contract is None or contract.name in chain or contract.name == name:
                break  # loading refuses both; a catalogue made of records may have them
            chain[contract.name] = contract
        return tuple(chain.values())

    def near(self, name: str, *, limit: int = 3) -> tuple[str, ...]:
        """Return the names that look most like this one, best first; of a very long one its beginning is compared."""
        return tuple(difflib.get_close_matches(name[:_LONGEST_COMPARED], self._tools, n=limit, cutoff=0.5))

    def with_bases(self, bases: Mapping[str, str]) -> Catalogue:
        """Return the same catalogue with some base URLs replaced or added."""
        return Catalogue(self._tools.values(), name=self.name, bases={**self.bases, **bases})

    def __iter__(self) -> Iterator[CompiledTool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __repr__(self) -> str:
        return f"Catalogue({self.name!r}, {len(self)} tools, digest={self.digest[:12]})"


def _contract(signature: ToolSignature) -> ToolContract:
    document = {
        "name": signature.name,
        "description": signature.description,
        "use_when": signature.use_when,
        "avoid_when": signature.avoid_when,
        "effect": signature.effect.value,
        "reach": signature.reach.value,
        "trust": signature.trust.value,
        "parameters": signature.parameters,
        "returns": signature.returns,
    }
    return ToolContract(
        name=signature.name,
        description=signature.description,
        use_when=signature.use_when,
        avoid_when=signature.avoid_when,
        effect=signature.effect,
        reach=signature.reach,
        trust=signature.trust,
        parameters=signature.parameters,
        response=True if signature.returns is None else signature.returns,
        document=document,
    )
