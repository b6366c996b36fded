"""The page of limits has every limit that the settings, the codes and the metrics know, and no other."""

import re
from itertools import chain

from taoloop.cli.deployables import settings_classes
from taoloop.core.faults import FaultCode
from taoloop.core.settings import describe
from taoloop.core.telemetry import names
from tests.packaging import checkout, pages
from tests.packaging.test_reference_pages import quoted, served_fields

PAGE = checkout.ROOT / "docs" / "operations" / "limits.md"
HEADINGS = ("Of one tool", "Of one run", "Of one answer that is checked", "Of one process")

# How a limit is named. Ages, and the connections to our own stores, bound no work.
SETTING = re.compile(r"(?:_|^TAOLOOP_)MAX_(?!CONNECTION|AGE)|(?<!_TOOLS)_POOL_SIZE$|_SLOTS$|_BATCH$")
NO_LIMIT = re.compile(r"MAX_AGE|MAX_CONNECTION")
CODE = re.compile(
    r"TIMEOUT|TOO_LARGE|EXHAUSTED|SHED|BREAKER_OPEN|SWITCHED_OFF|LIMIT|EXPIRED|DEADLINE|LOOP_DETECTED|_FORBIDDEN$"
)
METRIC = re.compile(r"shed|exhausted|refused|reached|stopped|evictions|too_large")
CONTRACT = ("/spec/timeout", "/spec/retry/attempts", "/spec/retry/budget_ratio", "/spec/pool/size")


def column(number: int) -> set[str]:
    """Return what stands in backquotes in one column of all tables."""
    rows = chain.from_iterable(pages.table_rows(PAGE, heading) for heading in HEADINGS)
    return {text for row in rows for text in quoted(row[number])}


def test_every_setting_that_limits_is_named() -> None:
    known = {row.env for settings in settings_classes().values() for row in describe(settings)}
    limits = {name for name in known if SETTING.search(name) and not NO_LIMIT.search(name)}
    named = {text for text in column(1) if text.startswith("TAOLOOP_")}
    assert limits - named == set()
    assert named - known == set()


def test_every_field_of_a_contract_that_is_named_is_served() -> None:
    fields = set(served_fields())
    named = {text for text in column(1) if text.startswith("/")}
    assert set(CONTRACT) <= named
    assert {name for name in named if not any(f"{field}/".startswith(f"{name}/") for field in fields)} == set()


def test_every_code_of_a_limit_is_named() -> None:
    named = column(2)
    assert {code.value for code in FaultCode if CODE.search(code.value)} - named == set()


def test_every_counter_of_a_limit_is_named() -> None:
    known = {spec.name for spec in names.METRICS}
    limits = {spec.name for spec in names.METRICS if METRIC.search(spec.name) or "limit" in spec.labels}
    assert limits - column(3) == set()
    assert column(3) - known == set()
