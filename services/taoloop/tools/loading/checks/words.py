"""Checks of vocabularies: what stands for two values, and what a parameter cannot have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from taoloop.core import pointers
from taoloop.tools.loading.checks.faults import ContractFault
from taoloop.tools.schemas import CompiledSchema
from taoloop.tools.signature import VOCABULARY_KEYWORD
from taoloop.values.conversions import as_text
from taoloop.values.folding import fold


def word_faults(vocabulary: Mapping[str, Any]) -> Iterator[ContractFault]:
    """Yield the words of one vocabulary that stand for two values; pointers begin at the vocabulary."""
    meant: dict[str, str] = {fold(ours): ours for ours in vocabulary}
    if len(meant) < len(vocabulary):
        cause = "two values differ in letter case, width or white space alone"
        yield ContractFault("", "VOCABULARY", cause, "Make them one.")
    for ours, words in vocabulary.items():
        for index, word in enumerate(words):
            other = meant.setdefault(fold(as_text(word)), ours)
            if other != ours:
                cause = f"the word {as_text(word)!r} stands for {other!r} and for {ours!r}"
                remedy = "Leave it to one of them; a contract's enum can say what one tool means by it."
                yield ContractFault(pointers.join(ours, index), "VOCABULARY", cause, remedy)


def parameter_word_faults(node: Mapping[str, Any], place: str) -> Iterator[ContractFault]:
    """Yield what is wrong with the vocabulary of a parameter.

    Args:
        node: The parameter's schema, in which names of vocabularies are written out.
        place: Its pointer in the contract.
    """
    words, pointer = node[VOCABULARY_KEYWORD], f"{place}/{VOCABULARY_KEYWORD}"
    if isinstance(words, str):
        return  # a name that the catalogue does not have, which is told where it is looked up
    if node.get("type") != "string":
        yield ContractFault(pointer, "VOCABULARY", f"{VOCABULARY_KEYWORD} stands at what is no text", "Move it.")
        return
    if not _is_vocabulary(words):
        cause = f"{VOCABULARY_KEYWORD} is neither a name nor an object from value to a list of words"
        yield ContractFault(pointer, "VOCABULARY", cause, "Write the name of a vocabulary of the catalogue.")
        return
    for fault in word_faults(words):
        yield ContractFault(pointer + fault.pointer, fault.code, fault.cause, fault.remedy)
    taken = CompiledSchema.compile({key: value for key, value in node.items() if not key.startswith("$")})
    for value in words:
        if not taken.is_valid(value):
            cause = f"the value {value!r} of the vocabulary breaks the parameter's own schema"
            yield ContractFault(pointer, "VOCABULARY", cause, "Leave it out, or let the schema take it.")


def _is_vocabulary(words: object) -> bool:
    return isinstance(words, Mapping) and all(
        isinstance(written, list) and not any(word is None or isinstance(word, list | dict) for word in written)
        for written in words.values()
    )
