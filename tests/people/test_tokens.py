"""Tokens of programs: what they open and what not, that they are nowhere in clear, and that they end."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest
from django.conf import settings as site
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from people import tokens
from people.models import ApiToken, AuditEntry
from people.roles import SiteRole
from people.tokens import TokenProblem, TokenScope
from proofroom.api import api
from proofroom.api_access import MANAGING
from runs.models import Run
from tests import campaigns, make
from tests.annotation.walking import Place, operations
from tests.visitors import visitor

pytestmark = pytest.mark.django_db


def made(user: User, *scopes: TokenScope, days: int = 7) -> str:
    """The text of a new token; every scope that the person can give where none is named."""
    wanted = scopes or tokens.scopes_for(user)
    return tokens.make(user, name="a program", scopes=wanted, days=days, now=timezone.now()).text


def program(text: str, **headers: str) -> Client:
    """A program without cookies, that no browser vouches for."""
    given = {"host": site.SITE_HOST, "authorization": f"Bearer {text}"} | headers
    return Client(headers=given, enforce_csrf_checks=True)


def test_a_token_speaks_in_its_persons_name_without_cookie_or_csrf_token():
    lead = campaigns.lead("lead")
    run = make.run()
    client = program(made(lead))

    assert client.get("/api/v1/me").json()["username"] == "lead"
    answer = client.post(f"/api/v1/runs/{run.pk}/cancel")

    assert answer.status_code == 200
    assert Run.objects.get().state == "cancelled"
    assert not answer.cookies


def test_a_token_is_kept_as_a_digest_alone():
    text = made(campaigns.person())

    kept = json.dumps(list(ApiToken.objects.values()) + list(AuditEntry.objects.values()), default=str)
    assert text not in kept
    assert text.removeprefix(tokens.BEGINS) not in kept
    assert re.fullmatch(r"[0-9a-f]{64}", ApiToken.objects.get().digest)


@pytest.mark.parametrize("text", ["", "proofroom_", "proofroom_" + "a" * 43, "x" * 5000, "\u00e4"])
def test_an_unknown_token_is_refused_even_beside_a_session(text):
    client = visitor(campaigns.lead())

    answer = client.get("/api/v1/me", headers={"authorization": f"Bearer {text}"})

    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Bearer"
    assert "not known here" in answer.json()["detail"]


def test_every_operation_asks_for_its_scope():
    lead = campaigns.lead()
    nothing, writer = made(lead, TokenScope.READ), made(lead, TokenScope.ANNOTATE)
    for method, route in operations():
        path = Place(route=re.sub(r"\{(?:\w+:)?(\w+)\}", r"<\1>", route).removeprefix("/"), name="").filled(
            dict.fromkeys(re.findall(r"(\w+)\}", route), 1)
        )
        needs_more = program(writer if method == "GET" else nothing).generic(
            method, path, "{}", content_type="application/json"
        )

        assert needs_more.status_code == 403, f"{method} {route}"
        assert "scope" in needs_more.json()["detail"]


def test_giving_a_set_back_takes_the_scope_of_leading():
    lead = campaigns.lead()

    answer = program(made(lead, TokenScope.ANNOTATE)).post("/api/v1/assignments/1/reopen")

    assert answer.status_code == 403
    assert "'manage'" in answer.json()["detail"]
    leading = program(made(lead, TokenScope.MANAGE))
    assert (
        leading.post("/api/v1/assignments/1/reopen", {}, content_type="application/json").status_code == 404
    )


def test_operations_that_lead_others_exist():
    routes = {route.partition("/api/v1/")[2] for _, route in operations()}

    assert {re.sub(r"<(\w+)>", r"{\1}", operation) for operation in MANAGING} <= routes


def test_a_token_never_grants_more_than_its_person_may():
    run = make.run()
    lead = campaigns.lead("lead")
    text = made(lead)
    lead.groups.set([campaigns.person("other", SiteRole.ANNOTATOR).groups.get()])

    assert program(text).get("/api/v1/runs").status_code == 403
    assert program(text).post(f"/api/v1/runs/{run.pk}/cancel").status_code == 403
    assert Run.objects.get().state == "queued"


def test_what_is_hidden_while_blind_is_hidden_from_a_token():
    lead = campaigns.person("lead", SiteRole.LEAD)
    run = campaigns.run(campaigns.benchmark(tasks=1, criteria=1))
    client = program(made(lead))
    assert client.get(f"/api/v1/runs/{run.pk}").status_code == 200

    campaigns.planned(run, annotators=[lead])

    assert client.get(f"/api/v1/runs/{run.pk}").status_code == 403
    assert campaigns.run(campaigns.benchmark(tasks=1, criteria=1)).pk == run.pk + 1
    assert [row["run"] for row in client.get("/api/v1/runs").json()["items"]] == [run.pk + 1]


@pytest.mark.parametrize("end", ["shut off", "deleted", "revoked", "expired"])
def test_a_token_is_dead_at_once(end):
    lead = campaigns.lead()
    client = program(made(lead))
    assert client.get("/api/v1/me").status_code == 200

    match end:
        case "shut off":
            User.objects.filter(pk=lead.pk).update(is_active=False)
        case "deleted":
            lead.delete()
        case "revoked":
            tokens.revoke(ApiToken.objects.get(), by=lead, now=timezone.now())
        case "expired":
            ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    answer = client.get("/api/v1/me")
    assert answer.status_code == 401
    assert "Make" in answer.json()["detail"]


def test_a_token_opens_no_page_and_no_table():
    text = made(User.objects.create_superuser("admin"))

    for path in ("/runs/", "/account/", "/admin/", "/log/"):
        assert program(text).get(path).status_code == 302


def test_a_page_of_another_origin_cannot_use_a_token():
    run = make.run()
    text = made(campaigns.lead())

    answer = program(text, **{"sec-fetch-site": "cross-site"}).post(f"/api/v1/runs/{run.pk}/cancel")

    assert answer.status_code == 403
    assert Run.objects.get().state == "queued"


def test_the_description_of_the_api_is_for_the_tokens_of_readers():
    assert program(made(campaigns.lead())).get("/api/v1/openapi.json").status_code == 200
    assert program(made(campaigns.person())).get("/api/v1/openapi.json").status_code == 403
    assert program("nothing").get("/api/v1/openapi.json").status_code == 401
    assert "TokenAuth" in json.dumps(api.get_openapi_schema()["components"])


def test_making_first_use_and_revoking_are_written_down_once():
    lead = campaigns.lead("lead")
    client = program(made(lead))
    for _ in range(3):
        client.get("/api/v1/me")
    for _ in range(2):
        visitor(lead).post(f"/account/tokens/{ApiToken.objects.get().pk}/revoke/")

    rows = AuditEntry.objects.filter(act__startswith="token").order_by("pk")
    assert [(row.act, row.username) for row in rows] == [
        ("token_made", "lead"),
        ("token_first_used", "lead"),
        ("token_revoked", "lead"),
    ]


def test_the_last_use_is_kept_to_the_minute():
    client = program(made(campaigns.lead()))
    client.get("/api/v1/me")
    first = ApiToken.objects.get().last_used_at
    client.get("/api/v1/me")
    assert ApiToken.objects.get().last_used_at == first

    ApiToken.objects.update(last_used_at=timezone.now() - timedelta(minutes=2))
    client.get("/api/v1/me")

    last = ApiToken.objects.get().last_used_at
    assert last is not None
    assert timezone.now() - last < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"name": " "}, "Say what the token is for"),
        ({"name": "x" * 81}, "Say what the token is for"),
        ({"scopes": []}, "Choose at least one thing"),
        ({"scopes": [TokenScope.LAUNCH]}, "Only a lead can give"),
        ({"days": 10_000}, "Choose how long"),
    ],
)
def test_a_token_that_cannot_be_made_is_refused_in_a_sentence(changed, sentence):
    wanted = {"name": "a program", "scopes": [TokenScope.READ], "days": 7} | changed

    with pytest.raises(TokenProblem, match=sentence):
        tokens.make(campaigns.person(), now=timezone.now(), **wanted)

    assert not ApiToken.objects.exists()


def test_nobody_has_more_tokens_than_can_be_looked_after():
    person = campaigns.person()
    for _ in range(tokens.MOST_OF_A_PERSON):
        made(person)

    with pytest.raises(TokenProblem, match="revoke one first"):
        made(person)


def test_the_page_shows_a_token_in_one_answer_and_never_again():
    client = visitor(campaigns.person())

    made_now = client.post("/account/", {"name": "my script", "scope": ["read"], "days": "30"})

    text = re.search(r'value="(proofroom_[\w-]+)"', made_now.content.decode())
    assert text is not None
    assert "no-store" in made_now["Cache-Control"]
    assert text[1] not in client.get("/account/").content.decode()
    assert program(text[1]).get("/api/v1/me").status_code == 200


def test_nobody_revokes_the_token_of_somebody_else():
    made(campaigns.person())

    answer = visitor(campaigns.lead()).post(f"/account/tokens/{ApiToken.objects.get().pk}/revoke/")

    assert answer.status_code == 404
    assert ApiToken.objects.get().revoked_at is None


def test_an_administrator_revokes_tokens_and_can_neither_make_nor_widen_one():
    made(campaigns.person())
    token = ApiToken.objects.get()
    client = visitor(User.objects.create_superuser("admin"))

    client.post("/admin/people/apitoken/", {"action": "revoke", "_selected_action": [token.pk]})

    token.refresh_from_db()
    assert token.revoked_at is not None
    assert client.get("/admin/people/apitoken/add/").status_code == 403
    assert token.digest not in client.get(f"/admin/people/apitoken/{token.pk}/change/").content.decode()
    assert client.post(f"/admin/people/apitoken/{token.pk}/change/", {"scopes": "[]"}).status_code == 403
