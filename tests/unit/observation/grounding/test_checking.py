"""What supports a value of an answer, and what does not."""

import time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taoloop.core.exact_json import JsonValue, loads
from taoloop.core.pointers import lookup
from taoloop.observation.grounding.checking import check_answer
from taoloop.observation.grounding.model import GroundingLimits
from taoloop.plan.answering import CheckAnswerRequest, CheckAnswerResponse, Claim, ClaimKind, ClaimReason, Evidence


def checked(text: str, exposed: str, locale: str = "en-US", time_zone: str = "") -> CheckAnswerResponse:
    evidence = (Evidence(step_id="1.t1", exposed=loads(exposed)),)
    return check_answer(CheckAnswerRequest(text=text, evidence=evidence, locale=locale, time_zone=time_zone))


def claim_of(text: str, exposed: str, locale: str = "en-US", time_zone: str = "") -> Claim:
    claims = checked(text, exposed, locale, time_zone).claims
    assert len(claims) == 1, claims
    return claims[0]


@pytest.mark.parametrize(
    ("text", "exposed", "locale"),
    [
        ("1,234.50", "1234.5", "en"),
        ("１，２３４．５０", "1234.5", "zh"),
        ("1.234,50", "1234.5", "de"),
        ("1 234,50", "1234.5", "fr"),
        ("12.0", "12", "en"),
        ("12", "12.00", "en"),
        ("12", '"12.0"', "en"),
        ("一千二百", "1200", "zh"),
        ("一万二", "12000", "zh"),
        ("1.5万", "15000", "zh"),
        ("twenty-one", "21", "en"),
        ("1.2 million", "1200000", "en"),
        ("12%", '"12 percent"', "en"),
        ("百分之十二", '"12%"', "zh"),
        ("15%", '{"value": 0.15, "unit": "fraction"}', "en"),
        ("0.15", '"15%"', "en"),
        ("$12", '{"amount": 12, "currency": "USD"}', "en"),
        ("12美元", '{"currency": "USD", "lines": [{"amount": 12.00}]}', "zh"),
        ("12 kg", '{"weight_kg": 12}', "en"),
        ("12公斤", '"12 kg"', "zh"),
        ("2 hours", '"PT2H"', "en"),
        ("123456789012345678901234567890", "123456789012345678901234567890", "en"),
    ],
)
def test_a_number_is_supported_in_any_form(text: str, exposed: str, locale: str) -> None:
    assert claim_of(text, exposed, locale).reason is ClaimReason.SAME_VALUE


@pytest.mark.parametrize(("text", "locale"), [("١٢٫٨٠", "ar"), ("१२.८", "hi"), ("𝟏𝟐.𝟖", "en"), ("十二點八", "zh-TW")])
def test_digits_of_every_script_are_compared(text: str, locale: str) -> None:
    assert claim_of(text, "12.8", locale).supported
    assert not claim_of(text, "12.9", locale).supported


@pytest.mark.parametrize("text", ["⁹⁹", "Ⅷ", "½", "㊿", "廿五"])
def test_a_numeral_that_is_not_reckoned_with_is_supported_by_a_text_that_writes_the_same(text: str) -> None:
    assert not claim_of(f"{text}元", "[5, 8, 25, 50, 99]", "zh").supported
    assert claim_of(f"{text}元", f'"共{text}元"', "zh").supported
    assert not checked("12 m² 与 H₂O", "12", "zh").claims[1:]


@pytest.mark.parametrize(
    ("text", "exposed", "reason"),
    [
        ("1,234.5", "1234.56", ClaimReason.NOT_FOUND),
        ("1235", "1234.56", ClaimReason.NOT_FOUND),
        ("30", "[10, 20]", ClaimReason.NOT_FOUND),
        ("15%", "0.15", ClaimReason.NOT_FOUND),
        ("-5", "5", ClaimReason.NOT_FOUND),
        ("5", "-5", ClaimReason.NOT_FOUND),
        ("$12", '{"amount": 12, "currency": "CNY"}', ClaimReason.OTHER_UNIT),
        ("12 lb", '{"weight_kg": 12}', ClaimReason.OTHER_UNIT),
        ("1.2 kg", '"1200 g"', ClaimReason.NOT_FOUND),
        ("12 days", '"12 hours"', ClaimReason.OTHER_UNIT),
        ("7", '"0007"', ClaimReason.NOT_FOUND),
        ("0007", "7", ClaimReason.NOT_FOUND),
        ("20", '"2026-05-20"', ClaimReason.NOT_FOUND),
        ("123456789012345678901234567891", "123456789012345678901234567890", ClaimReason.NOT_FOUND),
    ],
)
def test_another_value_is_no_support(text: str, exposed: str, reason: ClaimReason) -> None:
    assert claim_of(text, exposed).reason is reason


def test_a_unit_that_the_evidence_does_not_state_is_not_checked_and_said_so() -> None:
    assert claim_of("$12", '{"amount": 12}').reason is ClaimReason.UNIT_NOT_STATED
    assert claim_of("12 kg", '{"amount": 12}').reason is ClaimReason.UNIT_NOT_STATED
    assert claim_of("$12", '"Room 12 is free"').reason is ClaimReason.OTHER_UNIT


def test_a_count_is_supported_by_the_list_that_has_so_many_items() -> None:
    claim = claim_of("You have 3 orders.", '{"orders": [{}, {}, {}]}')
    assert (claim.reason, claim.pointer) == (ClaimReason.ITEM_COUNT, "/orders")
    assert claim_of("您有两个订单", '{"orders": [1, 1]}', "zh").supported
    assert not claim_of("You have 4 orders.", '{"orders": [{}, {}, {}]}').supported
    assert not claim_of("It takes 3 days.", '{"orders": [{}, {}, {}]}').supported


def test_the_number_of_a_list_item_is_no_claim() -> None:
    assert [one.text for one in checked("1. 5\n2) 6\n3、共7\n- 4. 8", "[5, 6, 7, 8]").claims] == ["5", "6", "7", "8"]


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("2026-05-20", "en"),
        ("2026/5/20", "zh"),
        ("5月20日", "zh"),
        ("五月二十日", "zh"),
        ("2026年5月20号", "zh"),
        ("May 20", "en"),
        ("20th of May 2026", "en"),
        ("20/05/2026", "en-GB"),
        ("05/20/2026", "en-US"),
        ("5/20", "zh"),
        ("20.05.2026", "de"),
    ],
)
def test_a_day_is_supported_in_any_form(text: str, locale: str) -> None:
    claim = claim_of(text, '{"ships": "2026-05-20"}', locale)
    assert (claim.reason, claim.pointer) == (ClaimReason.SAME_VALUE, "/ships")


def test_the_locale_decides_the_order_of_a_date() -> None:
    exposed = '{"ships": "2026-06-05"}'
    assert claim_of("05/06/2026", exposed, "en-GB").supported
    assert not claim_of("05/06/2026", exposed, "en-US").supported
    assert claim_of("05/06/2026", exposed, "").reason is ClaimReason.AMBIGUOUS
    assert claim_of("05/06/2026", '{"ships": "05/06/2026"}', "").supported


def test_a_year_that_the_evidence_does_not_have_is_no_support() -> None:
    assert not claim_of("2027年5月20日", '"2026-05-20"', "zh").supported
    assert not claim_of("2026年5月20日", '"5月20日"', "zh").supported


@pytest.mark.parametrize("text", ["2026-02-30", "2月30日", "30/02/2026", "February 30"])
def test_a_day_that_does_not_exist_is_one_claim_without_support(text: str) -> None:
    assert claim_of(text, "[2, 30, 2026]", "en-GB").kind is ClaimKind.DATE
    assert not claim_of(text, "[2, 30, 2026]", "en-GB").supported


def test_a_wider_period_is_supported_by_what_lies_in_it() -> None:
    exposed = '{"at": "2026-05-20T14:30:15"}'
    for text in ("May 20", "in May", "May 2026", "in 2026", "14:30", "May 20 at 14:30"):
        assert claim_of(text, exposed).reason is ClaimReason.WITHIN_PERIOD, text
    for text in ("14:31", "May 21", "June 2026", "in 2027", "14:00"):
        assert not claim_of(text, exposed).supported, text


def test_a_moment_is_that_of_the_users_time_zone() -> None:
    exposed = '{"eta": "2026-05-20T16:00:00Z"}'
    assert claim_of("5月21日0:00", exposed, "zh", "Asia/Shanghai").supported
    assert not claim_of("5月20日16:00", exposed, "zh", "Asia/Shanghai").supported
    assert claim_of("16:00 UTC", exposed, "en", "Asia/Shanghai").supported
    assert claim_of("May 20 at 12:00 pm", exposed, "en", "America/New_York").supported
    assert claim_of("2026-05-20T18:00:00+02:00", exposed, "en", "Asia/Shanghai").supported
    assert claim_of("May 20 at 16:00", exposed, "en", "").supported


def test_a_day_and_a_time_must_belong_together() -> None:
    together = '{"date": "2026-05-20", "time": "14:30"}'
    assert claim_of("May 20 at 2:30 pm", together).supported
    apart = '[{"at": "2026-05-20T09:00:00"}, {"at": "2026-05-21T14:30:00"}]'
    assert not claim_of("May 20 at 2:30 pm", apart).supported


def test_a_range_is_two_claims() -> None:
    exposed = '{"from": "2026-05-20", "to": "2026-05-22"}'
    assert [one.pointer for one in checked("May 20-22", exposed).claims] == ["/from", "/to"]
    assert [one.pointer for one in checked("5月20日至22日", exposed, "zh").claims] == ["/from", "/to"]
    assert [one.supported for one in checked("20-23 May 2026", exposed).claims] == [True, False]


@pytest.mark.parametrize(
    ("text", "exposed", "kind"),
    [
        ("SF1390012345678", '"SF1390012345678"', ClaimKind.IDENTIFIER),
        ("2026052012345678", "2026052012345678", ClaimKind.IDENTIFIER),
        ("550E8400-E29B-41D4-A716-446655440000", '"550e8400e29b41d4a716446655440000"', ClaimKind.IDENTIFIER),
        ("+86 138-0013-8000", '"+8613800138000"', ClaimKind.PHONE),
        ("138 0013 8000", '"13800138000"', ClaimKind.PHONE),
        ("138****8000", '"138****8000"', ClaimKind.IDENTIFIER),
        ("****8000", '"138****8000"', ClaimKind.IDENTIFIER),
        ("8000", '"138****8000"', ClaimKind.NUMBER),
        ("a.b@Example.com", '"a.b@example.com"', ClaimKind.EMAIL),
        ("https://Example.com/a?b=1", '"See https://example.com/a?b=1."', ClaimKind.URL),
        ("ORD-1", '{"ORD-1": {"total": 3}}', ClaimKind.IDENTIFIER),
    ],
)
def test_a_code_is_supported_by_the_same_code(text: str, exposed: str, kind: ClaimKind) -> None:
    claim = claim_of(text, exposed)
    assert (claim.supported, claim.kind) == (True, kind)


@pytest.mark.parametrize("text", ["128****8000", "138****8001", "1380000****8000", "****800"])
def test_a_mask_hides_no_other_code(text: str) -> None:
    assert not claim_of(text, '"138****8000"').supported


@pytest.mark.parametrize(
    ("text", "exposed", "candidate"),
    [
        ("SF1390012345687", '"SF1390012345678"', "SF1390012345678"),
        ("$1,235", '{"total": 1234.56, "tax": 9}', "1234.56"),
        ("May 21", '["2026-05-20", "2026-07-01"]', "05-20"),
        ("2026-05-21", '["2026-05-20", "2026-07-01"]', "2026-05-20"),
        ('"Ann Smyth"', '"Ann Smith"', "ann smith"),
    ],
)
def test_an_unsupported_value_comes_with_the_nearest(text: str, exposed: str, candidate: str) -> None:
    claim = claim_of(text, exposed)
    assert (claim.supported, claim.candidate, claim.candidate_step_id) == (False, candidate, "1.t1")


def test_names_are_quoted_titled_capitalised_or_known_to_the_evidence() -> None:
    exposed = (
        '{"book": "三体", "author": "刘慈欣", "shop": "Northwind Traders", "note": "Please leave it at the door."}'
    )
    told = checked("《三体》作者刘慈欣，“leave it at the door”", exposed, "zh").claims
    assert [(one.kind, one.pointer) for one in told] == [
        (ClaimKind.QUOTE, "/book"),
        (ClaimKind.NAME, "/author"),
        (ClaimKind.QUOTE, "/note"),
    ]
    assert claim_of("It is sold by Northwind Traders.", exposed).pointer == "/shop"
    assert not claim_of("It is sold by Contoso Traders.", exposed).supported
    assert not claim_of("《流浪地球》", exposed, "zh").supported


def test_a_name_is_no_part_of_a_longer_word() -> None:
    assert not claim_of("It was Ann.", '"An anniversary"').supported


@pytest.mark.parametrize(
    "text", ["Carrier: Maersk", "**Carrier:** Maersk\n", "| Carrier | Maersk |", "It is by Maersk."]
)
def test_one_capitalised_word_is_a_name_where_a_value_stands(text: str) -> None:
    assert claim_of(text, '{"carrier": "FedEx"}').text == "Maersk"


@pytest.mark.parametrize(
    "text", ["Maersk carries it.", "Note: Shipping is free.", "- Perfect!\n- Done.", "Sure. Done."]
)
def test_one_capitalised_word_that_begins_a_sentence_is_none(text: str) -> None:
    assert checked(text, '{"carrier": "FedEx"}').claims == ()


def test_ordinary_words_with_capitals_are_no_claims() -> None:
    text = "Hello! Your Order Status: I will check it on Monday. Thanks."
    assert checked(text, '{"order_status": "shipped"}').claims == ()


@pytest.mark.parametrize(
    "text", ["", "   ", "我们24/7在线", "好一点", "十分感谢", "万一有问题，请随时联系我们", "等三五天", "一个好消息"]
)
def test_texts_without_values_have_no_claims(text: str) -> None:
    response = checked(text, "{}", "zh")
    assert (response.claims, response.grounded) == ((), True)


def test_places_are_code_points_of_the_text_as_given() -> None:
    text = "👍🏽 共 ￥１，２００．００ 元，√"
    claim = claim_of(text, "1200", "zh")
    assert text[claim.start : claim.end] == claim.text
    assert claim.text.startswith("￥１")


def test_the_first_step_that_has_the_value_is_named() -> None:
    evidence = (Evidence(step_id="1.t1", exposed={"a": 1}), Evidence(step_id="1.t2", exposed={"b": [5, 12]}))
    claim = check_answer(CheckAnswerRequest(text="12", evidence=evidence)).claims[0]
    assert (claim.step_id, claim.pointer) == ("1.t2", "/b/1")


def test_an_answer_without_evidence_supports_nothing() -> None:
    response = check_answer(CheckAnswerRequest(text="It costs $12.", evidence=(Evidence(step_id="1.t1"),)))
    assert not response.grounded


_SCALARS = st.none() | st.booleans() | st.integers() | st.decimals(allow_nan=True) | st.text() | st.floats()
_JSON: Any = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=10
)
_HOSTILE = st.text(
    st.sampled_from("0123456789.,-+ :/%$¥年月日点一千万百五《》“”\"'@*#AaZzTé\ud800\u202e\u0000\n"), max_size=60
)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200) | _HOSTILE, _JSON, st.text(max_size=12), st.text(max_size=12))
def test_no_input_raises(text: str, exposed: JsonValue, locale: str, time_zone: str) -> None:
    evidence = (Evidence(step_id="1.t1", exposed=exposed),)
    request = CheckAnswerRequest(text=text, evidence=evidence, locale=locale, time_zone=time_zone)
    response = check_answer(request)
    places = [place for claim in response.claims for place in (claim.start, claim.end)]
    assert places == sorted(places)
    assert all(text[one.start : one.end] == one.text and one.text for one in response.claims)


@settings(max_examples=200, deadline=None)
@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**15), max_value=10**15), _JSON)
def test_what_supports_a_number_is_that_number(number: Decimal, exposed: JsonValue) -> None:
    document: JsonValue = [exposed, number]
    text = f"{number:f}"
    response = check_answer(
        CheckAnswerRequest(text=text, evidence=(Evidence(step_id="1", exposed=document),), locale="en")
    )
    for claim in response.claims:
        if claim.supported and claim.text == text:
            found = lookup(document, claim.pointer)
            assert isinstance(found, str | list) or Decimal(str(found)) == number


@pytest.mark.parametrize(
    "text",
    [
        "1" * 20_000, "1," * 10_000, "1." * 10_000, '"' * 20_000, "“" * 20_000, "A " * 10_000, "1-" * 10_000,
        "a." * 10_000 + "@", "http://" * 3_000, "一" * 20_000, "一千" * 10_000, "May " * 5_000, "+1 " * 6_000,
        "*1" * 10_000, "(" * 20_000, "two hundred and " * 1_500, "\ud800" * 20_000, "0" * 20_000, " " * 20_000,
    ],
    ids=lambda text: text[:4],
)  # fmt: skip
def test_hostile_texts_take_no_longer_than_their_length(text: str) -> None:
    request = CheckAnswerRequest(text=text, evidence=(Evidence(step_id="1.t1", exposed=[text, text]),))
    started = time.process_time()
    check_answer(request, GroundingLimits(max_claims=100_000))
    assert time.process_time() - started < 8.0


def test_deep_evidence_is_walked_without_recursion() -> None:
    value: JsonValue = 12
    for _ in range(500):
        value = [value]
    assert check_answer(CheckAnswerRequest(text="12", evidence=(Evidence(step_id="1", exposed=value),))).grounded
    for _ in range(10_000):
        value = [value]
    request = CheckAnswerRequest(text="12", evidence=(Evidence(step_id="1", exposed=value),))
    has_support = check_answer(request).grounded
    assert not has_support  # beyond the longest pointer


def test_a_pointer_above_the_bound_supports_nothing() -> None:
    value: JsonValue = {"k" * 5000: 12}
    assert not check_answer(CheckAnswerRequest(text="12", evidence=(Evidence(step_id="1", exposed=value),))).grounded


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (CheckAnswerRequest(text="x" * 101), "ANSWER_TOO_LARGE"),
        (CheckAnswerRequest(text="7 8 9 10 11 12"), "ANSWER_TOO_LARGE"),
        (CheckAnswerRequest(text="7", evidence=(Evidence(exposed="字" * 40),)), "EVIDENCE_TOO_LARGE"),
        (CheckAnswerRequest(text="7", evidence=(Evidence(exposed=[1] * 100),)), "EVIDENCE_TOO_LARGE"),
        (CheckAnswerRequest(text="7", evidence=(Evidence(exposed=["1 2", "3 4"]),)), "EVIDENCE_TOO_LARGE"),
    ],
    ids=["text", "claims", "wide text", "many numbers", "many values in texts"],
)
def test_above_a_limit_the_answer_is_not_grounded(request_: CheckAnswerRequest, code: str) -> None:
    limits = GroundingLimits(max_characters=100, max_claims=5, max_evidence_bytes=100, max_evidence_values=3)
    response = check_answer(request_, limits)
    assert response.fault is not None
    assert (response.fault.code, response.grounded, response.claims) == (code, False, ())


def test_a_text_of_very_many_numbers_is_not_read_to_its_end() -> None:
    evidence = Evidence(step_id="1.t1", exposed={"log": " ".join(str(number) for number in range(80_000))})
    started = time.process_time()

    response = check_answer(CheckAnswerRequest(text="It costs 12 EUR.", evidence=(evidence,)))

    assert time.process_time() - started < 4.0
    assert response.fault is not None
    assert "more than 20000 values in the texts of its evidence" in response.fault.message


def test_as_many_values_as_allowed_are_read() -> None:
    request = CheckAnswerRequest(text="7", evidence=(Evidence(step_id="1", exposed=["5 6", "7"]),))

    assert check_answer(request, GroundingLimits(max_evidence_values=3)).grounded


_FORMS = {
    "en": lambda number: f"{number:,}",
    "de": lambda number: f"{number:,}".translate(str.maketrans(",.", ".,")),
    "fr": lambda number: f"{number:,}".translate(str.maketrans(",.", "\u202f,")),
    "zh": lambda number: f"{number:,}".translate(
        {ord(","): "，", **{48 + digit: 0xFF10 + digit for digit in range(10)}}
    ),
}


@settings(deadline=None)
@given(
    st.decimals(min_value=-(10**12), max_value=10**12, places=2).filter(lambda one: abs(one) >= 1000),
    st.sampled_from(list(_FORMS)),
)
def test_a_number_in_any_grouping_is_that_number_and_no_other(number: Decimal, locale: str) -> None:
    text = f"= {_FORMS[locale](number)}"
    for value, is_supported in ((number, True), (number + 1, False), (-number, False), (number.scaleb(1), False)):
        evidence = (Evidence(step_id="1", exposed={"total": value}),)
        response = check_answer(CheckAnswerRequest(text=text, evidence=evidence, locale=locale))
        assert (response.grounded, len(response.claims)) == (is_supported, 1), (text, value, response.claims)


@given(st.booleans(), st.sampled_from(["12", "13", "none"]))
def test_permission_is_never_widened(is_permitted: bool, text: str) -> None:
    evidence = (Evidence(step_id="1", exposed=12),)
    response = check_answer(CheckAnswerRequest(text=text, evidence=evidence, execution_permitted=is_permitted))
    assert response.execution_permitted == (is_permitted and response.grounded)
