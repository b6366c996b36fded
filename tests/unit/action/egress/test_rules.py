"""Rules by which URLs and addresses are let through."""

import pytest

from taoloop.action.egress.rules import EgressRules, canonical_host, host_of, judge_url


@pytest.mark.parametrize(
    ("url", "resolves_to", "is_allowed"),
    [
        ("http://[::ffff:169.254.169.254]/latest/", ["::ffff:169.254.169.254"], False),
        ("http://[::169.254.169.254]/", ["::169.254.169.254"], False),
        ("http://2130706433/", ["127.0.0.1"], False),
        ("http://0x7f.0.0.1/", ["127.0.0.1"], False),
        ("http://127.1/", ["127.0.0.1"], False),
        ("http://localhost./", ["127.0.0.1"], False),
        ("http://100.100.100.200/", ["100.100.100.200"], False),
        ("https://api.example.com/v1", ["93.184.216.34"], True),
    ],
    ids=[f"C038-{number}" for number in range(1, 9)],
)
def test_public_cases_of_other_spellings(url: str, resolves_to: list[str], is_allowed: bool) -> None:
    assert judge_url(url, resolves_to=resolves_to).is_allowed is is_allowed


@pytest.mark.parametrize(
    "url",
    [
        "http://017700000001/",
        "http://0177.0.0.1/",
        "http://0/",
        "http://127.0.0.1.../",
        "http://①②⑦.0.0.1/",
        "http://127。0。0。1/",
        "http://LOCALHOST/",
        "http://api.localhost/",
        "http://metadata.google.internal/computeMetadata/v1/",
        "http://[fe80::1]/",
        "http://[::]/",
        "http://user@93.184.216.34/",
        "http://93.184.216.34\\@10.0.0.1/",
        "http://93.184.216.34 /",
        "http://exa\tmple.com/",
        "http://%31%32%37.0.0.1/",
        "http://[fe80::1%25eth0]/",
        "http://[::1",
        "http://example.com:99999/",
        "http:///path",
        "//example.com/",
        "ftp://example.com/",
        "file:///etc/passwd",
        "gopher://example.com/",
    ],
)
def test_a_url_that_is_not_plainly_public_is_refused_before_any_lookup(url: str) -> None:
    verdict = judge_url(url)
    assert not verdict.is_allowed
    assert verdict.reason


def test_one_forbidden_address_among_several_refuses_the_name() -> None:
    assert not judge_url("https://api.example.com/", resolves_to=["93.184.216.34", "10.0.0.1"]).is_allowed


def test_a_resolver_that_returns_no_address_is_not_believed() -> None:
    assert judge_url("https://a.test/", resolves_to=["nonsense"]).reason == (
        "it resolves to something that is no address"
    )


def test_the_operator_opens_networks_for_names_too() -> None:
    rules = EgressRules.of(["10.0.0.0/8", " fd00::/8"])
    assert judge_url("http://orders.internal/", rules, ["10.1.2.3"]).is_allowed
    assert judge_url("http://orders.internal/", rules, ["::ffff:10.1.2.3"]).is_allowed
    assert judge_url("http://orders.internal/", rules, ["fd01::1"]).is_allowed
    assert not judge_url("http://orders.internal/", rules, ["192.168.0.1"]).is_allowed


@pytest.mark.parametrize("address", ["169.254.169.254", "100.100.100.200", "0.0.0.0", "224.0.0.1", "fd00:ec2::254"])
def test_no_network_opens_metadata_or_what_is_no_place_for_a_service(address: str) -> None:
    rules = EgressRules.of(["0.0.0.0/0", "::/0"]).for_host(address)
    assert rules.objection(address) is not None


def test_what_is_no_network_is_refused() -> None:
    with pytest.raises(ValueError, match="does not appear"):
        EgressRules.of(["intranet"])


@pytest.mark.parametrize(
    ("base", "address"),
    [("127.0.0.1", "127.0.0.1"), ("127.1", "127.0.0.1"), ("10.0.0.5", "10.0.0.5"), ("localhost", "::1")],
)
def test_a_base_that_is_written_as_an_address_is_meant(base: str, address: str) -> None:
    rules = EgressRules().for_host(base)
    assert rules.objection(address) is None
    assert rules.objection("10.0.0.6") is not None


def test_a_base_that_is_a_name_opens_nothing() -> None:
    assert EgressRules().for_host("orders.internal") == EgressRules()


@pytest.mark.parametrize(
    ("host", "canonical"),
    [("Example.COM..", "example.com"), ("[::1]", "::1"), ("fe80::1%eth0", "fe80::1"), ("1e100.net", "1e100.net")],
)
def test_a_host_is_read_as_the_resolver_would(host: str, canonical: str) -> None:
    assert canonical_host(host) == canonical


def test_the_host_of_a_url_is_empty_when_there_is_none() -> None:
    assert host_of("https://A.test:8443/x") == "a.test"
    assert host_of("https://user@a.test/") == ""
