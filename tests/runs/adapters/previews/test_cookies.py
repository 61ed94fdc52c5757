"""Cookies that scripts of previews set for the parent domain are not read, and go with the next answer."""

import pytest

from runs.adapters.previews.cookies import expiry, without_foreign

PARENT = b"proofroom.localhost"


def _values(*cookies: bytes, path: str = "/") -> list[bytes]:
    return [value for _, value in expiry([(b"cookie", b"; ".join(cookies))], path=path, parent=PARENT)]


def test_the_site_reads_its_own_cookies_alone():
    headers = [(b"cookie", b"__Host-session=a; evil=b; __Secure-x=c; bare"), (b"accept", b"*/*")]

    assert without_foreign(headers) == [(b"cookie", b"__Host-session=a"), (b"accept", b"*/*")]
    assert without_foreign([(b"cookie", b"evil=1")]) == []


def test_own_cookies_are_never_expired():
    assert _values(b"__Host-session=a", b"__HOST-csrf=b") == []


def test_foreign_cookies_end_for_the_parent_domain_also_where_they_are_parted():
    assert _values(b"evil=1=2") == [
        b"evil=; Domain=proofroom.localhost; Path=/; Max-Age=0; Secure",
        b"evil=; Domain=proofroom.localhost; Path=/; Max-Age=0; Secure; Partitioned",
    ]


@pytest.mark.parametrize("cookie", [b"bare", b"=value"])
def test_a_cookie_without_a_name_ends_too(cookie):
    assert _values(cookie)[0].startswith(b"x; Domain=")


def test_every_folder_of_the_address_is_thought_of():
    paths = {value.split(b"; ")[2] for value in _values(b"evil=1", path="/annotation/7/")}

    assert paths == {
        b"Path=/",
        b"Path=/annotation",
        b"Path=/annotation/",
        b"Path=/annotation/7",
        b"Path=/annotation/7/",
    }


def test_an_address_writes_no_attribute_of_its_own():
    values = _values(b"evil=1", path="/a;domain=x/b\r\nSet-Cookie: y/c")

    assert {value.split(b"; ")[2] for value in values} == {b"Path=/"}


def test_one_answer_stays_small_and_the_next_ones_take_the_rest():
    many = [b"n%d" % number + b"x" * 3000 + b"=1" for number in range(180)]

    values = _values(*many, path="/a/b/c/d/e/f/g/h")

    assert 0 < sum(map(len, values)) <= 48_000
