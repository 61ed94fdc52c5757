"""The site as others reach it: Django's own deployment check finds nothing, and https is insisted on."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest
from django.test import Client

ROOT = Path(__file__).resolve().parents[1]
HTTPS = "https://proofroom.example.org"


def checked(data: Path, **changed: str) -> subprocess.CompletedProcess[str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PROOFROOM", "DJANGO")) and name not in {"DATABASE_URL", "REDIS_URL"}
    }
    return subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        env=kept | {"PROOFROOM_DATA_DIR": str(data)} | changed,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_deployment_check_finds_nothing_in_a_production_environment(tmp_path):
    done = checked(
        tmp_path,
        PROOFROOM_PUBLIC_URL=HTTPS,
        PROOFROOM_SECRET_KEY=secrets.token_urlsafe(50),
        PROOFROOM_CLIENT_ADDRESS_HEADER="X-Forwarded-For",
        PROOFROOM_OIDC_ISSUER="https://id.example.org",
        PROOFROOM_OIDC_CLIENT_ID="proofroom",
        PROOFROOM_OIDC_CLIENT_SECRET="between the two",
        PROOFROOM_LOCAL_PASSWORDS="False",
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert "no issues (0 silenced)" in done.stdout


def test_the_check_would_find_it_without_https(tmp_path):
    done = checked(tmp_path)

    assert done.returncode == 1
    assert "security.W004" in done.stderr


@pytest.fixture
def behind_https(settings) -> Client:
    settings.PUBLIC_URL, settings.SITE_HOST = HTTPS, "proofroom.example.org"
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_REDIRECT_EXEMPT = ["^api/"]
    settings.SECURE_HSTS_SECONDS = 60
    settings.SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    return Client(headers={"host": "proofroom.example.org"})


def test_plain_http_is_led_to_https_and_https_is_remembered(behind_https):
    plain = behind_https.get("/sign-in/", headers={"x-forwarded-proto": "http"})
    safe = behind_https.get("/sign-in/", headers={"x-forwarded-proto": "https"})

    assert (plain.status_code, plain["Location"]) == (301, f"{HTTPS}/sign-in/")
    assert (safe.status_code, safe["Strict-Transport-Security"]) == (200, "max-age=60; includeSubDomains")


def test_a_program_that_came_in_clear_is_told_so_and_not_redirected(behind_https):
    answer = behind_https.get(
        "/api/v1/me", headers={"authorization": "Bearer x", "x-forwarded-proto": "http"}
    )

    assert answer.status_code == 403
    assert "revoke a token sent so" in answer.json()["detail"]


def test_a_program_on_the_same_machine_needs_no_https(behind_https):
    answer = behind_https.get("/api/v1/me", headers={"host": "127.0.0.1:8000"})

    assert answer.status_code == 401


def test_without_an_https_address_the_header_of_a_proxy_is_not_believed():
    answer = Client(headers={"host": "proofroom.localhost:8000", "x-forwarded-proto": "https"}).get(
        "/sign-in/"
    )

    assert not answer.wsgi_request.is_secure()
    assert "Strict-Transport-Security" not in answer
