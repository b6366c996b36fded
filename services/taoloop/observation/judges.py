"""The contracts of the served catalogue, each compiled when it is first needed and kept while it does not change."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from taoloop.observation.compiled import compile_checks
from taoloop.observation.judging import ObservationPolicy
from taoloop.observation.quick.judging import ContractJudge
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.seen import Place


@dataclass(frozen=True, slots=True)
class _Served:
    """What was compiled of one catalogue.

    Attributes:
        digest: Digest of the catalogue.
        known: The judges of its tools, by name; more are added.
    """

    digest: str = ""
    known: dict[str, ContractJudge] = field(default_factory=dict)


class Judges:
    """Knows the judge of each tool; threads may share it.

    Args:
        policy: What holds for every tool.
        seen: What was seen of the tools, by name; of a tool that is not there only its contract is known.
    """

    def __init__(self, policy: ObservationPolicy, seen: Mapping[str, Place]) -> None:
        self._policy = policy
        self._seen = seen
        self._served = _Served()
        self._lock = threading.Lock()

    def of(self, catalogue: Catalogue, name: str) -> ContractJudge | None:
        """Return the judge of a catalogue's tool; None where it has none of this name."""
        served = self._served
        if served.digest != catalogue.digest:
            served = self._changed_to(catalogue)
        known = served.known.get(name)
        return self._compiled(served, catalogue, name) if known is None else known

    def _changed_to(self, catalogue: Catalogue) -> _Served:
        """Keep what was compiled of the contracts that the new catalogue has unchanged."""
        with self._lock:
            if self._served.digest != catalogue.digest:
                digests = {tool.contract.name: tool.contract.digest for tool in catalogue}
                kept = {
                    name: known
                    for name, known in self._served.known.items()
                    if known.checks.contract_digest == digests.get(name)
                }
                self._served = _Served(catalogue.digest, kept)
            return self._served

    def _compiled(self, served: _Served, catalogue: Catalogue, name: str) -> ContractJudge | None:
        if name not in catalogue:
            return None
        with self._lock:  # nobody waits here for a contract that is compiled already
            known = served.known.get(name)
            if known is None:
                checks = compile_checks(catalogue.compiled(name), self._policy.weights, self._seen.get(name))
                known = served.known[name] = ContractJudge(checks, self._policy)
            return known

    def __repr__(self) -> str:
        return f"Judges(catalogue={self._served.digest[:12]!r}, contracts_compiled={len(self._served.known)})"
