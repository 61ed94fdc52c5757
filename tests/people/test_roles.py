"""Roles: where they come from, what they allow, and that a change of them is written down."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import AnonymousUser, Group, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment
from benchmark import blobs
from people import tokens
from people.models import ApiToken, AuditEntry
from people.roles import RoleMissing, SiteRole, is_lead, may_read_runs, require_lead, require_reader, roles_of
from people.tokens import TokenScope
from runs.models import Deployment, Evidence, Round, Run
from tests import campaigns
from tests.visitors import visitor

pytestmark = pytest.mark.django_db

DOCUMENT = Path(settings.BASE_DIR) / "docs" / "security.md"


def group(name: str) -> Group:
    """The group of a role; a test that empties the database may have run before this one."""
    return Group.objects.get_or_create(name=name)[0]


@pytest.mark.parametrize(
    ("flags", "groups", "roles"),
    [
        ({}, (), {SiteRole.READER}),
        ({}, ("annotator",), {SiteRole.ANNOTATOR}),
        ({}, ("annotator", "lead"), {SiteRole.ANNOTATOR, SiteRole.LEAD}),
        ({}, ("somebody else's group",), {SiteRole.READER}),
        ({"is_staff": True}, (), {SiteRole.LEAD}),
        ({"is_staff": True}, ("annotator",), {SiteRole.ANNOTATOR, SiteRole.LEAD}),
        ({"is_superuser": True}, ("annotator",), {SiteRole.ADMIN}),
        ({"is_superuser": True, "is_active": False}, (), set()),
    ],
)
def test_roles_come_from_groups_staff_and_superusers(flags, groups, roles):
    user = User.objects.create_user("somebody", **flags)
    user.groups.set(group(name) for name in groups)

    assert roles_of(user) == roles


def test_nobody_has_no_role_and_may_nothing():
    assert roles_of(AnonymousUser()) == frozenset()
    assert not is_lead(AnonymousUser())
    assert not may_read_runs(AnonymousUser())


def test_a_missing_role_is_said_in_a_sentence():
    annotator = campaigns.person()

    with pytest.raises(RoleMissing, match="Only a lead may do this"):
        require_lead(annotator)
    with pytest.raises(RoleMissing, match="Your work is on the page of your assignments") as raised:
        require_reader(annotator)
    assert raised.value.way_on == "/annotation/"


def account_form(user: User, **changed: Any) -> dict[str, Any]:
    """What the page of an account posts."""
    joined = user.date_joined
    return {
        "username": user.username,
        "date_joined_0": joined.date().isoformat(),
        "date_joined_1": joined.time().isoformat(timespec="seconds"),
        "is_active": "on",
    } | changed


def test_a_change_of_roles_in_the_admin_is_written_down_with_before_and_after():
    admin = User.objects.create_superuser("admin")
    somebody = campaigns.person("somebody", SiteRole.READER)
    lead = group("lead")

    answer = visitor(admin).post(
        reverse("admin:auth_user_change", args=[somebody.pk]), account_form(somebody, groups=[lead.pk])
    )

    assert answer.status_code == 302
    entry = AuditEntry.objects.get(act="roles")
    assert (entry.username, entry.subject) == ("admin", f"user:{somebody.pk}")
    assert entry.details == {"username": "somebody", "before": ["reader"], "after": ["lead"]}


@pytest.mark.parametrize(("changed", "after"), [({"is_superuser": "on"}, ["admin"]), ({"is_active": ""}, [])])
def test_an_account_that_becomes_administrator_or_is_shut_off_is_a_change_of_roles(changed, after):
    somebody = campaigns.person("somebody", SiteRole.READER)
    form = account_form(somebody, groups=[group("reader").pk], **changed)
    if not form["is_active"]:
        del form["is_active"]

    visitor(User.objects.create_superuser("admin")).post(
        reverse("admin:auth_user_change", args=[somebody.pk]), form
    )

    assert AuditEntry.objects.get(act="roles").details["after"] == after


def test_a_changed_name_is_no_change_of_roles():
    somebody = campaigns.person("somebody", SiteRole.READER)
    form = account_form(somebody, groups=[group("reader").pk], first_name="Some")

    visitor(User.objects.create_superuser("admin")).post(
        reverse("admin:auth_user_change", args=[somebody.pk]), form
    )

    somebody.refresh_from_db()
    assert somebody.first_name == "Some"
    assert not AuditEntry.objects.filter(act="roles").exists()


def test_an_entry_of_the_log_is_neither_changed_nor_removed():
    entry = AuditEntry.objects.create(act="reveal", subject="assignment:1")

    with pytest.raises(TypeError, match="never changed"):
        entry.save()
    with pytest.raises(TypeError, match="never removed"):
        entry.delete()


type Doors = Callable[[Run, Assignment], list[str]]


def _trial(run: Run) -> str:
    return reverse("runs:trial", args=[run.pk, run.trials.get().pk])


def _bytes(run: Run) -> list[str]:
    evidence = Evidence.objects.filter(verdict__judging__round__trial__run=run)[0].pk
    log = blobs.save_bytes(b"built")
    round_ = Round.objects.get(trial__run=run)
    deployment = Deployment.objects.create(round=round_, is_healthy=True, build_log=log).pk
    return [f"/runs/evidence/{evidence}/", f"/api/v1/evidence/{evidence}", f"/runs/logs/{deployment}/build/"]


def _set(own: Assignment) -> list[str]:
    return [own.get_absolute_url(), f"/api/v1/assignments/{own.pk}", f"/annotation/{own.pk}/export/csv/"]


def _token(own: Assignment) -> int:
    assert own.annotator is not None
    found = ApiToken.objects.filter(user=own.annotator).first()
    return (
        found.pk
        if found
        else tokens.make(
            own.annotator, name="x", scopes=[TokenScope.READ], days=7, now=timezone.now()
        ).token.pk
    )


DOORS: dict[str, Doors] = {
    "Runs, trials, results and reports": lambda run, own: [
        *("/runs/", run.get_absolute_url(), _trial(run), f"/results/?runs={run.pk}"),
        *(f"/results/?runs={run.pk}&format=html", "/api/v1/runs", f"/api/v1/runs/{run.pk}/marks"),
    ],
    "Evidence and logs": lambda run, own: _bytes(run),
    "Benchmarks, hidden requirements and rubrics": lambda run, own: [
        *("/benchmarks/", f"/benchmarks/{run.benchmark_id}/", f"/benchmarks/{run.benchmark_id}/tasks/t1/"),
        f"/api/v1/benchmarks/{run.benchmark_id}/tasks/t1",
    ],
    "Preview of a trial's round": lambda run, own: [f"POST {_trial(run)}rounds/1/preview/start/"],
    "Description of the API": lambda run, own: ["/api/v1/openapi.json", "/api/v1/docs"],
    "Launch, cancel and retry": lambda run, own: [
        *("/runs/launch/", f"POST /runs/{run.pk}/cancel/", f"POST /api/v1/runs/{run.pk}/retry"),
    ],
    "Own set: console, marks, export": lambda run, own: _set(own),
    "Sets of others": lambda run, own: _set(own),
    "Campaigns: set up, progress, disagreements, agreement, export": lambda run, own: [
        *("/campaigns/", "/campaigns/new/", f"/campaigns/{own.campaign_id}/"),
        *(f"/campaigns/{own.campaign_id}/disagreements/", f"/campaigns/{own.campaign_id}/export/csv/"),
        *(f"/campaigns/{own.campaign_id}/agreement/", f"/api/v1/campaigns/{own.campaign_id}/agreement"),
    ],
    "Sets of others: write in them": lambda run, own: [
        *(f"POST /api/v1/assignments/{own.pk}/submit", f"POST /annotation/{own.pk}/take-back/"),
    ],
    "Agreement from a file, planning": lambda run, own: [
        "/agreement/",
        "/agreement/check/",
        "/agreement/plan/",
    ],
    "Key settings, own account, password and tokens": lambda run, own: ["/keys/", "/account/"],
    "Tokens and identities of others": lambda run, own: [f"POST /account/tokens/{_token(own)}/revoke/"],
    "Log of the site": lambda run, own: ["/log/", "/log/export/"],
    "Tables (admin)": lambda run, own: ["/admin/", "/admin/runs/run/", "/admin/people/auditentry/"],
}


def table() -> list[tuple[str, list[str]]]:
    """The rows of "Who may what" in docs/security.md: the thing, and a word for each role."""
    text = DOCUMENT.read_text().partition("### Who may what")[2].partition("###")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if "|" in line
    ]
    assert rows[0] == ["What", "Annotator", "Reader", "Lead", "Administrator"]
    return [(thing, words) for thing, *words in rows[2:]]


@pytest.mark.parametrize(("thing", "words"), table(), ids=lambda part: part if isinstance(part, str) else "")
def test_the_table_of_the_security_page_is_what_the_server_does(thing, words):
    run = campaigns.run(campaigns.benchmark(tasks=1, criteria=1))
    people = [
        campaigns.person("an-annotator"),
        campaigns.person("a-reader", SiteRole.READER),
        campaigns.lead("a-lead"),
        User.objects.create_superuser("an-admin"),
    ]
    own = thing.startswith("Own set")
    owners = people if own else [campaigns.person("owner")]
    of = campaigns.planned(run, annotators=owners, overlap=len(owners), is_blind=False)

    for person, word in zip(people, words, strict=True):
        assert word in {"yes", "no", "own"}
        theirs = Assignment.objects.get(campaign=of, annotator=person if own else owners[0])
        for door in DOORS[thing](run, theirs):
            assert opens(visitor(person), door) is (word != "no"), f"{person.username}: {door}"


def opens(client: Client, door: str) -> bool:
    method, _, address = door.rpartition(" ")
    answer = client.post(address) if method else client.get(address)
    assert answer.status_code < 500
    turned_away = answer.status_code == 302 and re.search(r"/sign-in/|/admin/login/", answer["Location"])
    return answer.status_code not in (401, 403, 404) and not turned_away
