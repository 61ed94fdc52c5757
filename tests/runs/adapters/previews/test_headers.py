"""Headers change on their way through a preview's proxy so that the frame works and nothing leaks."""

import pytest

from runs.adapters.previews.headers import Places, to_application, to_visitor

PLACES = Places(public_host=b"p-abc.site.localhost:8000", port=4321)


def returned(name, value):
    return [
        given
        for given_name, given in to_visitor([(name.encode(), value.encode())], PLACES)
        if given_name == name.lower().encode()
    ]


def forwarded(name, value):
    return [
        given
        for given_name, given in to_application([(name.encode(), value.encode())], PLACES)
        if given_name == name.lower().encode()
    ]


def test_length_beside_a_chunked_body_is_not_passed_on():
    given = [(b"content-length", b"4"), (b"Transfer-Encoding", b"chunked")]

    assert to_application(given, PLACES) == [(b"host", PLACES.inner_host)]
    assert forwarded("Content-Length", "4") == [b"4"]


@pytest.mark.parametrize(
    "name",
    [
        "X-Frame-Options",
        "Clear-Site-Data",
        "Alt-Svc",
        "Strict-Transport-Security",
        "Transfer-Encoding",
        "Connection",
    ],
)
def test_header_that_harms_frame_or_site_is_dropped(name):
    assert returned(name, "anything") == []


@pytest.mark.parametrize(
    ("policy", "left"),
    [
        ("frame-ancestors 'none'", []),
        ("default-src 'self'; frame-ancestors 'self'; img-src *", [b"default-src 'self'; img-src *"]),
        ("Frame-Ancestors x, script-src 'self'", [b"script-src 'self'"]),
        ("script-src 'self' frame-ancestors.example", [b"script-src 'self' frame-ancestors.example"]),
    ],
)
def test_only_frame_ancestors_leaves_the_policy(policy, left):
    assert returned("Content-Security-Policy", policy) == left


@pytest.mark.parametrize(
    ("cookie", "left"),
    [
        ("a=1; Path=/; HttpOnly", b"a=1; Path=/; HttpOnly"),
        ("a=1; Domain=site.localhost; Path=/", b"a=1; Path=/"),
        ("a=1;domain=.localhost", b"a=1"),
        ("domain=shop; Path=/", b"domain=shop; Path=/"),
    ],
)
def test_cookie_stays_on_the_host_of_the_preview(cookie, left):
    assert returned("Set-Cookie", cookie) == [left]


def test_several_cookies_stay_several():
    headers = [(b"Set-Cookie", b"a=1"), (b"Set-Cookie", b"b=2")]

    assert [value for name, value in to_visitor(headers, PLACES) if name == b"set-cookie"] == [b"a=1", b"b=2"]


def test_agent_cluster_is_set_once_whatever_the_application_says():
    assert returned("Origin-Agent-Cluster", "?0") == [b"?1"]


@pytest.mark.parametrize(
    ("location", "left"),
    [
        ("http://127.0.0.1:4321/cart?x=1", b"/cart?x=1"),
        ("http://localhost:4321", b"/"),
        ("http://127.0.0.1:4321//evil.example/", b"/evil.example/"),
        ("http://127.0.0.1:43210/cart", b"http://127.0.0.1:43210/cart"),
        ("/cart", b"/cart"),
        ("https://elsewhere.example/", b"https://elsewhere.example/"),
    ],
)
def test_redirect_to_its_own_address_becomes_a_path(location, left):
    assert returned("Location", location) == [left]


def test_application_sees_its_own_host_and_origin():
    assert forwarded("Host", "p-abc.site.localhost:8000") == [b"127.0.0.1:4321"]
    assert forwarded("Origin", "http://p-abc.site.localhost:8000") == [b"http://127.0.0.1:4321"]
    assert forwarded("Origin", "http://elsewhere.example") == [b"http://elsewhere.example"]
    assert forwarded("Referer", "https://p-abc.site.localhost:8000/a") == [b"http://127.0.0.1:4321/a"]
    assert forwarded("Referer", "http://p-abc.site.localhost:80001/a") == [
        b"http://p-abc.site.localhost:80001/a"
    ]


@pytest.mark.parametrize(
    ("cookies", "left"),
    [
        ("a=1; __Host-sessionid=secret; b=2", [b"a=1; b=2"]),
        ("__host-csrf=secret", []),
        ("a=__Host-x", [b"a=__Host-x"]),
    ],
)
def test_cookies_of_the_site_never_reach_the_application(cookies, left):
    assert forwarded("Cookie", cookies) == left


@pytest.mark.parametrize("name", ["X-Forwarded-For", "X-Forwarded-Host", "Forwarded", "Upgrade", "TE"])
def test_headers_of_other_hops_are_not_forwarded(name):
    assert forwarded(name, "anything") == []


def test_headers_named_by_connection_are_dropped_too():
    headers = [(b"Connection", b"close, X-Secret-Hop"), (b"X-Secret-Hop", b"1"), (b"X-Other", b"2")]

    assert (b"x-secret-hop", b"1") not in to_application(headers, PLACES)
    assert (b"x-other", b"2") in to_application(headers, PLACES)
