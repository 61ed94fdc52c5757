"""What every answer carries, and what is refused before a page is asked."""

from __future__ import annotations

import re

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.test import Client

from runs.models import Run
from tests import campaigns, make

pytestmark = pytest.mark.django_db

HOST = settings.SITE_HOST


@pytest.fixture
def signed_in() -> Client:
    client = Client(headers={"host": HOST})
    client.force_login(campaigns.lead())
    return client


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1:8000", "localhost:8000", "lab.example.org", "proofroom.localhost:8001"),
        *("x.proofroom.localhost:8000", "proofroom.localhost", "[::1]:8000", "", "evil.org, " + HOST),
    ],
)
def test_under_another_host_a_page_says_how_to_reach_the_site_and_shows_no_form(host):
    for path in ("/", "/sign-in/", "/admin/", "/static/css/base.css"):
        answer = Client(headers={"host": host}).get(path)

        page = answer.content.decode()
        assert answer.status_code == 421
        assert settings.PUBLIC_URL in page
        assert "ssh -L" in page
        assert "<form" not in page
        assert not answer.cookies


def test_a_host_is_shown_as_text():
    answer = Client(headers={"host": "<script>alert(1)</script>"}).get("/")

    assert b"<script>alert" not in answer.content


def test_the_site_answers_under_its_host_in_any_case():
    assert Client(headers={"host": HOST.upper()}).get("/sign-in/").status_code == 200


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "[::1]:8000"])
def test_the_api_answers_on_loopback_names_and_still_wants_a_session(host):
    answer = Client(headers={"host": host}).get("/api/v1/runs")

    assert answer.status_code == 401


def test_the_api_under_a_foreign_host_is_refused_as_json(signed_in):
    answer = signed_in.get("/api/v1/runs", headers={"host": "rebound.example.org"})

    assert answer.status_code == 421
    assert settings.PUBLIC_URL in answer.json()["detail"]


@pytest.mark.parametrize("relation", ["cross-site", "same-site", "nonsense"])
def test_a_write_that_another_origins_page_sends_is_refused(signed_in, relation):
    run = make.run()

    answer = signed_in.post(f"/runs/{run.pk}/cancel/", headers={"sec-fetch-site": relation})

    assert answer.status_code == 403
    assert b"Nothing was changed" in answer.content
    run.refresh_from_db()
    assert run.state == "queued"


@pytest.mark.parametrize("relation", ["same-origin", "none"])
def test_a_write_of_the_sites_own_page_is_taken(signed_in, relation):
    run = make.run()

    answer = signed_in.post(f"/runs/{run.pk}/cancel/", headers={"sec-fetch-site": relation})

    assert answer.status_code in {200, 302}
    assert Run.objects.get().state == "cancelled"


def test_a_write_without_the_header_is_held_by_the_csrf_token():
    run = make.run()
    strict = Client(headers={"host": HOST}, enforce_csrf_checks=True)
    strict.force_login(get_user_model().objects.create(username="somebody"))

    answer = strict.post(f"/runs/{run.pk}/cancel/")

    assert answer.status_code == 403
    assert Run.objects.get().state == "queued"


def test_reading_from_another_sites_link_is_allowed(signed_in):
    assert signed_in.get("/runs/", headers={"sec-fetch-site": "cross-site"}).status_code == 200


def test_a_page_without_a_session_leads_to_the_sign_in_form():
    answer = Client(headers={"host": HOST}).get("/runs/?state=running")

    assert answer.status_code == 302
    assert answer["Location"] == "/sign-in/?next=/runs/%3Fstate%3Drunning"


def test_signing_in_gives_cookies_that_no_preview_can_set_or_read():
    get_user_model().objects.create_user("somebody", password="a long pass phrase")
    client = Client(headers={"host": HOST})

    form = client.get("/sign-in/")
    answer = client.post("/sign-in/", {"username": "somebody", "password": "a long pass phrase"})

    assert answer.status_code == 302
    for cookie in (form.cookies["__Host-csrf"], answer.cookies["__Host-session"]):
        assert cookie["secure"]
        assert cookie["httponly"]
        assert cookie["path"] == "/"
        assert cookie["domain"] == ""
        assert cookie["samesite"] == "Lax"
    assert all(name.startswith("__Host-") for name in {**form.cookies, **answer.cookies})


@pytest.mark.parametrize("path", ["/", "/sign-in/", "/runs/", "/nothing-here/", "/admin/"])
def test_every_page_carries_the_headers_that_keep_it_apart(signed_in, path):
    answer = signed_in.get(path, follow=True)

    policy = answer["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "'unsafe-inline'" not in policy
    assert "'unsafe-eval'" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer["Origin-Agent-Cluster"] == "?1"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["Cross-Origin-Opener-Policy"] == "same-origin"
    assert answer["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "camera=()" in answer["Permissions-Policy"]
    assert "display-capture" not in answer["Permissions-Policy"]
    assert answer["Referrer-Policy"] == "same-origin"
    assert re.fullmatch(r"[0-9a-f]{12}", answer["X-Request-Id"])


def test_inline_styles_and_scripts_carry_the_nonce_of_their_answer(signed_in):
    for path in ("/", "/runs/", "/runs/launch/", "/results/", "/benchmarks/"):
        answer = signed_in.get(path)
        nonces = set(re.findall(r'nonce="([^"]+)"', answer.content.decode()))
        bare = re.findall(r"<(?:script|style)(?![^>]*(?:nonce=|src=))[^>]*>", answer.content.decode())

        assert bare == [], path
        assert len(nonces) <= 1
        for nonce in nonces:
            assert f"'nonce-{nonce}'" in answer["Content-Security-Policy"]


def test_an_error_page_names_the_request_of_its_header(signed_in):
    answer = signed_in.get("/nothing-here/")

    assert answer.status_code == 404
    assert answer["X-Request-Id"] in answer.content.decode()


@pytest.mark.parametrize("path", ["/api/v1/me", "/sign-in/", "/static/css/base.css", "/"])
@pytest.mark.parametrize("mode", ["cors", "no-cors", "websocket"])
def test_another_origins_page_gets_nothing_that_it_asks_for_itself(signed_in, path, mode):
    for relation in ("same-site", "cross-site"):
        answer = signed_in.get(path, headers={"Sec-Fetch-Site": relation, "Sec-Fetch-Mode": mode})

        assert answer.status_code == 403
        assert answer.content == b"This request came from another site's page and was refused."


def test_people_still_come_from_other_sites_by_links(signed_in):
    answer = signed_in.get(
        "/sign-in/", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    )

    assert answer.status_code in (200, 302)
