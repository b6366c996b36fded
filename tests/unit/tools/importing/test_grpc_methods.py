"""Rules of contracts made of gRPC methods."""

from __future__ import annotations

from taoloop.tools.importing.checking import check_draft
from taoloop.tools.importing.grpc_methods import GrpcMethod, GrpcPlace, draft_grpc
from taoloop.tools.signature import Effect

METHOD = GrpcMethod(
    path="shop.v1.Orders/GetOrder",
    request={"$ref": "#/$defs/Q", "$defs": {"Q": {"type": "object", "properties": {"id": {"type": "integer"}}}}},
    reply={"$ref": "#/$defs/R", "$defs": {"R": {"type": "object", "properties": {"next": {"$ref": "#/$defs/R"}}}}},
    exact_fields=("Q.id",),
)


def test_a_method_becomes_a_contract_that_loads() -> None:
    made = draft_grpc([METHOD], GrpcPlace(base="orders", url="http://o"), ["Get*"], max_tools=5)
    (draft,) = made.drafts
    assert draft.name == "get_order"
    assert draft.document["spec"]["transport"] == {"grpc": {"base": "orders", "method": "shop.v1.Orders/GetOrder"}}
    assert draft.document["spec"]["parameters"]["properties"]["id"]["type"] == "integer"
    assert [each.code for each in draft.findings] == ["DESCRIPTION", "INT64", "SCHEMA_RECURSION"]
    assert [each.code for each in check_draft(draft, made.bases).blocks if each.code != "NOT_YET_SUPPORTED"] == []


def test_a_method_that_says_nothing_of_its_effect_is_a_write() -> None:
    place = GrpcPlace(base="orders", url="http://o", descriptor_set="orders.pb")
    (draft,) = draft_grpc([METHOD], place, ["*"], max_tools=5).drafts
    assert draft.document["spec"]["effect"] == Effect.WRITE
    assert draft.document["spec"]["transport"]["grpc"]["descriptor_set"] == "orders.pb"
