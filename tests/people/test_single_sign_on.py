"""Single sign-on: a real site and a real provider, each on a port of its own, and a visitor between them."""

from __future__ import annotations

import os
import re
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from django.contrib.auth.models import User

from people import linking
from people.models import AuditEntry
from people.roles import SiteRole, roles_now
from tests import campaigns
from tests.people.openid_provider import CLIENT, SECRET, Provider, serving

ROOT = Path(__file__).resolve().parents[2]
PREPARE = """
import django
django.setup()
from django.contrib.auth.models import User
from django.core.management import call_command
call_command("migrate", verbosity=0)
for name in ("local", "boss"):
    User.objects.create_user(name, email="ada@example.org", password="a long pass phrase")
User.objects.filter(username="boss").update(is_staff=True, is_superuser=True)
"""
ADA = {
    "sub": "ada-1", "email": "ada@example.org", "email_verified": True, "preferred_username": "ada",
    "given_name": "Ada", "groups": ["students", "chess"],
}  # fmt: skip


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with serving() as running:
        yield running


@pytest.fixture(autouse=True)
def honest(provider: Provider) -> None:
    provider.mischief = ""
    provider.person = dict(ADA)


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    port: int
    database: Path

    @property
    def host(self) -> str:
        return f"proofroom.localhost:{self.port}"

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        connection = sqlite3.connect(self.database)
        try:
            return connection.execute(query).fetchall()
        finally:
            connection.close()


@pytest.fixture(scope="module")
def site(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The site with single sign-on: two domains, roles by the claim `groups`."""
    data = tmp_path_factory.mktemp("site")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PROOFROOM")}
    environment = kept | {
        "DJANGO_SETTINGS_MODULE": "proofroom.settings",
        "PROOFROOM_DATA_DIR": str(data),
        "PROOFROOM_PUBLIC_URL": f"http://proofroom.localhost:{port}",
        "PROOFROOM_OIDC_ISSUER": provider.issuer,
        "PROOFROOM_OIDC_CLIENT_ID": CLIENT,
        "PROOFROOM_OIDC_CLIENT_SECRET": SECRET,
        "PROOFROOM_OIDC_NAME": "The University",
        "PROOFROOM_OIDC_DOMAINS": "example.org, Example.NET",
        "PROOFROOM_OIDC_ROLES": "staff=lead, students=annotator",
    }
    subprocess.run([sys.executable, "-c", PREPARE], env=environment, cwd=ROOT, check=True, timeout=120)
    with (data / "log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "uvicorn", "proofroom.asgi:application", "--port", str(port)],
            env=environment,
            cwd=ROOT,
            stdout=log,
            stderr=log,
        )
    try:
        for _ in range(600):
            with socket.socket() as knock:
                if knock.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert server.poll() is None, (data / "log").read_text()
            time.sleep(0.1)
        yield Site(port=port, database=data / "proofroom.sqlite3")
    finally:
        server.terminate()
        server.wait(20)


@dataclass(slots=True, kw_only=True)
class Browser:
    """Follows from page to page as a browser does; its cookies go to the site alone."""

    site: Site
    cookies: dict[str, str] = field(default_factory=dict)

    def get(self, address: str, **headers: str) -> httpx.Response:
        return self._sent("GET", address, headers=headers)

    def post(self, address: str, form: dict[str, str]) -> httpx.Response:
        page = self.get("/sign-in/" if address == "/sign-in/" else "/account/").text
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
        assert token is not None
        return self._sent("POST", address, data=form | {"csrfmiddlewaretoken": token[1]})

    def follow(self, address: str) -> httpx.Response:
        """Go on until a page comes."""
        for _ in range(10):
            answer = self.get(address)
            if answer.status_code != 302:
                return answer
            address = answer.headers["Location"]
        raise AssertionError("It goes round in circles.")

    def name(self) -> str:
        answer = self.get("/api/v1/me")
        return str(answer.json()["username"]) if answer.status_code == 200 else ""

    def _sent(
        self, method: str, address: str, *, headers: dict[str, str] | None = None, **more: Any
    ) -> httpx.Response:
        parts = urlsplit(address)
        if parts.netloc not in ("", self.site.host):
            return httpx.request(method, address, trust_env=False, timeout=60)
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        given = {
            "host": self.site.host,
            "cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()),
        }
        answer = httpx.request(
            method,
            f"http://127.0.0.1:{self.site.port}{path}",
            headers=given | (headers or {}),
            trust_env=False,
            timeout=60,
            **more,
        )
        for line in answer.headers.get_list("set-cookie"):
            name, _, value = line.partition(";")[0].partition("=")
            assert name.startswith("__Host-")
            self.cookies[name] = value.strip('"')
            if not value.strip('"'):
                del self.cookies[name]
        return answer


@pytest.fixture
def browser(site: Site) -> Browser:
    return Browser(site=site)


def refusal(answer: httpx.Response) -> str:
    assert answer.status_code == 403, answer.status_code
    return re.sub(r"\s+", " ", answer.text)


def test_somebody_new_signs_in_and_returns_to_the_page_that_was_asked_for(site, browser):
    page = browser.get("/sign-in/?next=/keys/").text
    assert "Sign in through The University" in page
    way = re.search(r'href="(/sign-in/oidc/[^"]*)"', page)
    assert way is not None

    answer = browser.follow(way[1].replace("&amp;", "&"))

    assert answer.request.url.path == "/keys/"
    assert browser.name() == "ada"
    assert browser.get("/api/v1/me").json()["roles"] == ["annotator"]
    assert site.rows("SELECT username FROM people_auditentry WHERE act = 'sign_in'") == [("ada",)]


def test_the_same_person_comes_back_to_the_same_account_with_the_roles_of_today(site, provider, browser):
    browser.follow("/sign-in/oidc/")
    first = browser.name()
    provider.person |= {"groups": ["staff"], "email": "new@example.net", "preferred_username": "renamed"}
    again = Browser(site=site)

    again.follow("/sign-in/oidc/")

    assert again.name() == first
    assert again.get("/api/v1/me").json()["roles"] == ["lead"]
    provider.person |= {"groups": ["students"]}
    Browser(site=site).follow("/sign-in/oidc/")


def test_an_e_mail_address_or_a_name_of_an_account_opens_nothing_of_it(site, provider, browser):
    provider.person |= {"sub": "eve-1", "email": "ada@example.org", "preferred_username": "boss"}

    browser.follow("/sign-in/oidc/")

    assert browser.name() not in ("", "boss", "local", "ada")
    assert browser.get("/api/v1/me").json()["roles"] == ["annotator"]
    assert browser.get("/log/").status_code == 403


@pytest.mark.parametrize(
    "mischief",
    [
        *(
            "nonce",
            "no nonce",
            "issuer",
            "audience",
            "several audiences",
            "expired",
            "signature",
            "unknown key",
        ),
        *("unsigned", "shared secret", "information", "no statement"),
    ],
)
def test_a_statement_that_is_not_right_in_every_part_signs_nobody_in(provider, browser, mischief):
    provider.mischief = mischief

    assert "could not be verified. Begin again." in refusal(browser.follow("/sign-in/oidc/"))
    assert browser.name() == ""


def test_a_provider_that_describes_somebody_else_is_not_even_visited(provider, browser):
    provider.mischief = "described issuer"

    answer = browser.get("/sign-in/oidc/")

    assert answer.status_code == 502
    assert "The University cannot be reached" in answer.text


def test_an_answer_that_was_not_asked_for_here_signs_nobody_in(site, browser):
    stolen = Browser(site=site)
    out = stolen.get("/sign-in/oidc/").headers["Location"]
    back = stolen.get(out).headers["Location"]

    assert "Begin again" in refusal(browser.get(back))
    assert browser.name() == ""
    assert stolen.follow(back).status_code == 200
    assert "Begin again" in refusal(stolen.follow(back))


def test_cancelling_there_is_a_sentence_here(provider, browser):
    provider.mischief = "cancelled"

    assert "You did not finish signing in at The University" in refusal(browser.follow("/sign-in/oidc/"))


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"email": "ada@elsewhere.org"}, "confirmed e-mail address of example.org, example.net"),
        ({"email": "ada@notexample.org"}, "confirmed e-mail address"),
        ({"email_verified": False}, "confirmed e-mail address"),
        ({"groups": ["chess"]}, "gives you no role on this site"),
        ({"groups": {"students": 1}}, "gives you no role on this site"),
    ],
)
def test_who_may_not_come_in_is_told_why(provider, browser, changed, sentence):
    provider.person |= changed

    assert sentence in refusal(browser.follow("/sign-in/oidc/"))
    assert browser.name() == ""


def test_each_way_out_has_a_state_a_nonce_and_a_challenge_of_its_own(browser):
    asked = [parse_qs(urlsplit(browser.get("/sign-in/oidc/").headers["Location"]).query) for _ in range(2)]

    for name in ("state", "nonce", "code_challenge"):
        assert len({each[name][0] for each in asked}) == 2
    assert asked[0]["redirect_uri"] == [f"http://{browser.site.host}/sign-in/oidc/callback/"]


@pytest.mark.parametrize(
    "following", ["https://evil.example.org/", "//evil.example.org/", "javascript:alert(1)"]
)
def test_the_way_back_never_leads_off_the_site(browser, following):
    answer = browser.follow(f"/sign-in/oidc/?next={following}")

    assert answer.status_code == 200
    assert answer.request.url.host == "127.0.0.1"


def test_another_sites_page_cannot_begin_a_sign_in(browser):
    answer = browser.get("/sign-in/oidc/", **{"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"})

    assert answer.headers["Location"] == "/sign-in/"


def test_a_person_links_an_identity_from_the_account_page_and_unlinks_it(site, provider, browser):
    provider.person |= {"sub": "local-1", "preferred_username": "x"}
    browser.post("/sign-in/", {"username": "local", "password": "a long pass phrase"})
    link = re.search(r'href="(/sign-in/oidc/\?link=[^"]+)"', browser.get("/account/").text)
    assert link is not None

    page = browser.follow(link[1])
    assert "You can sign in through The University from now on." in page.text

    elsewhere = Browser(site=site)
    elsewhere.follow("/sign-in/oidc/")
    assert elsewhere.name() == "local"
    # A link of the account page is of use to its person alone.
    stranger = Browser(site=site)
    stranger.post("/sign-in/", {"username": "boss", "password": "a long pass phrase"})
    assert stranger.get(link[1]).headers["Location"] == "/account/"
    unlink = re.search(r'action="(/account/identities/\d+/unlink/)"', page.text)
    assert unlink is not None
    assert stranger.post(unlink[1], {}).status_code == 404
    assert browser.post(unlink[1], {}).status_code == 302
    assert site.rows("SELECT act FROM people_auditentry WHERE act LIKE 'identity%'") == [
        ("identity_linked",),
        ("identity_unlinked",),
    ]


def test_an_identity_of_somebody_else_is_not_taken_over_by_linking(site, browser):
    Browser(site=site).follow("/sign-in/oidc/")
    browser.post("/sign-in/", {"username": "boss", "password": "a long pass phrase"})
    link = re.search(r'href="(/sign-in/oidc/\?link=[^"]+)"', browser.get("/account/").text)
    assert link is not None

    assert "belongs to another person here" in browser.follow(link[1]).text


def test_the_only_way_in_is_not_unlinked(browser):
    page = browser.follow("/sign-in/oidc/?next=/account/")
    unlink = re.search(r'action="(/account/identities/\d+/unlink/)"', page.text)
    assert unlink is not None

    browser.post(unlink[1], {})

    assert "only way to sign in" in browser.get("/account/").text


def test_an_account_that_is_shut_off_stays_so(site, provider, browser):
    provider.person |= {"sub": "late-1", "preferred_username": "late"}
    browser.follow("/sign-in/oidc/")
    connection = sqlite3.connect(site.database)
    with connection:
        connection.execute("UPDATE auth_user SET is_active = 0 WHERE username = 'late'")
    connection.close()

    assert "is shut off" in refusal(Browser(site=site).follow("/sign-in/oidc/"))
    assert browser.name() == ""


def test_without_a_provider_the_library_is_not_even_imported():
    script = "import sys, django; django.setup(); import proofroom.urls; print([n for n in sys.modules if 'allauth' in n])"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PROOFROOM_OIDC")}

    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, cwd=ROOT, capture_output=True, text=True
    )

    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr


def test_identities_of_two_issuers_are_never_the_same():
    assert linking.identity_of("https://a.org", "1") != linking.identity_of("https://b.org", "1")
    assert len(linking.identity_of("https://a.org", "x" * 255)) <= 191


@pytest.mark.django_db
def test_roles_of_the_provider_replace_roles_and_never_touch_administrators():
    boss = User.objects.create_superuser("boss")
    person = campaigns.person("somebody", SiteRole.LEAD)

    linking.give_roles(person, [SiteRole.READER])
    linking.give_roles(boss, [SiteRole.READER])

    assert roles_now(person.pk) == {SiteRole.READER}
    assert roles_now(boss.pk) == {SiteRole.ADMIN}
    assert [entry.details["after"] for entry in AuditEntry.objects.filter(act="roles")] == [["reader"]]
