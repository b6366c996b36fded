"""The catalogue: digests, look-ups and foreign tools."""

from pathlib import Path

import pytest

from taoloop.core.errors import UnknownTool
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.loading import load_catalogue
from taoloop.tools.loading.contract_document import read_contract
from taoloop.tools.rules import RuleData, Verdict
from taoloop.tools.signature import Effect, ToolSignature
from tests.unit.tools.contracts import document, write_catalogue


def _catalogue(directory: Path, *documents: dict[str, object]) -> Catalogue:
    directory.mkdir(exist_ok=True)
    catalogue = load_catalogue(write_catalogue(directory, *documents)).catalogue
    assert catalogue is not None
    return catalogue


def test_the_digest_does_not_depend_on_files_order_or_bases(tmp_path: Path) -> None:
    one = _catalogue(tmp_path / "a", document("tool_a"), document("tool_b"))
    two = _catalogue(tmp_path / "b", document("tool_b"), document("tool_a"))
    assert one.digest == two.digest == one.with_bases({"orders": "https://elsewhere.example"}).digest


def test_the_digest_changes_with_a_contract(tmp_path: Path) -> None:
    one = _catalogue(tmp_path / "a", document())
    two = _catalogue(tmp_path / "b", document(spec__use_when="the user asks for it"))
    assert one.digest != two.digest
    assert one.tools["get_order"].digest != two.tools["get_order"].digest


def test_planners_see_the_signature_with_the_output_after_normalising(tmp_path: Path) -> None:
    (signature,) = _catalogue(tmp_path, document()).signatures()
    assert (signature.name, signature.effect) == ("get_order", Effect.READ)
    assert signature.returns is not None
    assert signature.returns["properties"]["status"] == {"enum": ["shipped", "delivered"]}


def test_a_name_that_is_not_there_has_near_ones(tmp_path: Path) -> None:
    catalogue = _catalogue(tmp_path, document("get_order"), document("send_mail"))
    assert catalogue.get("get_orders") is None
    assert catalogue.near("get_orders") == ("get_order",)
    assert catalogue.near("zzz") == ()
    with pytest.raises(UnknownTool):
        catalogue.output_schema("get_orders")


def test_the_catalogue_iterates_in_order_of_names(tmp_path: Path) -> None:
    catalogue = _catalogue(tmp_path, document("tool_b"), document("tool_a"))
    assert [tool.contract.name for tool in catalogue] == ["tool_a", "tool_b"]
    assert len(catalogue) == 2
    assert "tool_a" in catalogue


def test_foreign_signatures_make_a_catalogue_that_gives_them_back() -> None:
    foreign = ToolSignature(name="find", description="Find", parameters={"type": "object"}, returns={"type": "object"})
    catalogue = Catalogue.from_signatures([foreign])
    assert catalogue.signatures() == (foreign,)
    assert catalogue.tools["find"].http is None


def _of_documents(*documents: dict[str, object]) -> Catalogue:
    return Catalogue.of(map(read_contract, documents))


def test_fallbacks_come_in_the_order_in_which_they_are_tried() -> None:
    first, second = (document(name, spec__fallback={"tool": after}) for name, after in ("ab", "bc"))
    catalogue = _of_documents(document("c"), second, first)
    assert [[each.name for each in catalogue.fallback_chain(name)] for name in "abc"] == [["b", "c"], ["c"], []]
    with pytest.raises(UnknownTool):
        catalogue.fallback_chain("nope")


def test_a_chain_of_fallbacks_ends_where_it_would_turn_or_break() -> None:
    circle = _of_documents(*(document(name, spec__fallback={"tool": after}) for name, after in ("ab", "bc", "cb")))
    assert [each.name for each in circle.fallback_chain("a")] == ["b", "c"]
    assert [each.name for each in circle.fallback_chain("b")] == ["c"]
    assert _of_documents(document("a", spec__fallback={"tool": "gone"})).fallback_chain("a") == ()


def test_rules_about_people_and_outcomes_are_compiled_with_the_tool() -> None:
    reconcile = {"tool": "b", "took_place": {"===": [{"var": "status_code"}, 200]}}
    catalogue = _of_documents(document("a", spec__approval={}, spec__reconcile=reconcile), document("b"))
    tool = catalogue.compiled("a")
    assert tool.approval is not None
    assert tool.approval.verdict(RuleData({})).verdict is Verdict.PASS
    assert tool.took_place is not None
    assert tool.took_place.verdict(RuleData({"status_code": 404})).verdict is Verdict.FAIL
    assert (catalogue.compiled("b").approval, catalogue.compiled("b").took_place) == (None, None)
