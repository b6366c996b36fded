"""Rules by which an address is judged."""

import pytest

from taoloop.action.egress.addresses import AddressKind, judge_address

PUBLIC, LOOPBACK, PRIVATE, LINK_LOCAL, METADATA, SPECIAL = AddressKind


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("93.184.216.34", PUBLIC),
        ("2606:4700::1111", PUBLIC),
        ("127.0.0.1", LOOPBACK),
        ("127.255.255.254", LOOPBACK),
        ("::1", LOOPBACK),
        ("10.1.2.3", PRIVATE),
        ("172.31.0.1", PRIVATE),
        ("192.168.1.1", PRIVATE),
        ("100.64.0.1", PRIVATE),
        ("198.19.0.1", PRIVATE),
        ("fd12::1", PRIVATE),
        ("fec0::1", PRIVATE),
        ("169.254.1.1", LINK_LOCAL),
        ("fe80::1%eth0", LINK_LOCAL),
        ("169.254.169.254", METADATA),
        ("169.254.170.2", METADATA),
        ("100.100.100.200", METADATA),
        ("168.63.129.16", METADATA),
        ("fd00:ec2::254", METADATA),
        ("0.0.0.0", SPECIAL),
        ("0.1.2.3", SPECIAL),
        ("224.0.0.1", SPECIAL),
        ("239.1.1.1", SPECIAL),
        ("240.0.0.1", SPECIAL),
        ("255.255.255.255", SPECIAL),
        ("192.0.2.1", SPECIAL),
        ("192.88.99.1", SPECIAL),
        ("::", SPECIAL),
        ("ff02::1", SPECIAL),
        ("ff0e::1", SPECIAL),
        ("100::1", SPECIAL),
        ("2001:db8::1", SPECIAL),
        ("3fff::1", SPECIAL),
        ("4000::1", SPECIAL),
    ],
)
def test_an_address_is_known_by_what_stands_behind_it(address: str, kind: AddressKind) -> None:
    assert judge_address(address).kind is kind


@pytest.mark.parametrize(
    ("address", "inner", "kind"),
    [
        ("::ffff:169.254.169.254", "169.254.169.254", METADATA),
        ("::169.254.169.254", "169.254.169.254", METADATA),
        ("::ffff:93.184.216.34", "93.184.216.34", PUBLIC),
        ("64:ff9b::a9fe:a9fe", "169.254.169.254", METADATA),
        ("64:ff9b::7f00:1", "127.0.0.1", LOOPBACK),
        ("64:ff9b::5db8:d822", "93.184.216.34", PUBLIC),
        ("2002:7f00:1::", "127.0.0.1", LOOPBACK),
        ("2002:a9fe:a9fe::1", "169.254.169.254", METADATA),
        ("2001:0:7f00:1::", "255.255.255.255", SPECIAL),  # Teredo: the server and, inverted, the client
        ("2001:0:5db8:d822:0:0:5601:5601", "169.254.169.254", METADATA),
    ],
)
def test_an_ipv4_address_inside_an_ipv6_one_decides(address: str, inner: str, kind: AddressKind) -> None:
    verdict = judge_address(address)
    assert (str(verdict.address), verdict.kind) == (inner, kind)


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("64:ff9b:1::5db8:d822", PRIVATE),
        ("64:ff9b:1::a9fe:a9fe", METADATA),
        ("64:ff9b:1:a9fe:a9:fe00::", METADATA),  # behind a prefix of 48 bits
        ("64:ff9b:1:00a9:fe:a9fe::", METADATA),  # of 56
        ("64:ff9b:1:0:a9:fea9:fe00:0", METADATA),  # of 64
    ],
)
def test_a_local_translation_prefix_is_private_wherever_its_address_stands(address: str, kind: AddressKind) -> None:
    assert judge_address(address).kind is kind


def test_what_is_no_address_is_refused() -> None:
    with pytest.raises(ValueError, match="does not appear"):
        judge_address("tools.test")
