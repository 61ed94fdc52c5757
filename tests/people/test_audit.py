"""The log of the site: the database refuses to change it, administrators read it, a spreadsheet runs nothing."""

from __future__ import annotations

import ast
import csv
import importlib
import io
import re
from pathlib import Path

import pytest
from django.conf import settings as site
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, transaction

from people import audit
from people.audit import ACTS
from people.models import AuditEntry
from people.roles import SiteRole
from tests import campaigns, make
from tests.visitors import visitor

pytestmark = pytest.mark.django_db

ROOT = Path(site.BASE_DIR)


@pytest.fixture
def admin() -> User:
    return User.objects.create_superuser("admin")


@pytest.mark.parametrize(
    "statement", ["UPDATE people_auditentry SET act = 'x'", "DELETE FROM people_auditentry"]
)
def test_the_database_itself_refuses_to_change_or_remove_an_entry(statement):
    audit.note(None, "reveal", "assignment:1")
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            # Taken away for tests that commit (tests/conftest.py); this one is rolled back.
            cursor.execute(
                importlib.import_module("people.migrations.0004_log_only_grows").SQLITE[
                    "people_auditentry_no_delete"
                ]
            )
        with pytest.raises(DatabaseError, match=r"never (changed|removed)"), transaction.atomic():
            cursor.execute(statement)

    assert AuditEntry.objects.get().act == "reveal"


def test_the_triggers_are_there_in_a_new_database(tmp_path):
    names = importlib.import_module("people.migrations.0004_log_only_grows").SQLITE
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        there = {row[0] for row in cursor.fetchall()}

    assert there == set(names) - {"people_auditentry_no_delete"}


def test_an_entry_outlives_its_account_unchanged():
    person = campaigns.person("leaver")
    number = person.pk
    audit.note(person, "export", "campaign:1")

    person.delete()

    entry = AuditEntry.objects.get()
    assert (entry.user_id, entry.username) == (number, "leaver")


def test_every_act_that_is_written_down_has_words_on_the_page():
    trees = [
        ast.parse(text)
        for folder in ("people", "proofroom", "runs", "annotation", "benchmark")
        for text in (path.read_text() for path in (ROOT / folder).rglob("*.py"))
        if "audit.note" in text
    ]
    acts = [
        call.args[1]
        for tree in trees
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in ("note", "note_once")
        and len(call.args) > 2
    ]
    used = {str(each.value) for act in acts for each in ast.walk(act) if isinstance(each, ast.Constant)}

    assert {"reveal", "sign_in", "sign_in_locked", "export"} <= used
    assert sorted(used - set(ACTS)) == []


def test_what_happens_again_and_again_is_written_down_once_an_hour():
    person = campaigns.person()

    assert audit.note_once(person, "see", "assignment:1") is not None
    assert audit.note_once(person, "see", "assignment:1") is None
    assert audit.note_once(person, "see", "assignment:2") is not None
    assert audit.note_once(campaigns.person(), "see", "assignment:1") is not None


@pytest.mark.parametrize("path", ["/log/", "/log/export/"])
def test_only_administrators_read_the_log(path, admin):
    for person in (campaigns.person(), campaigns.person("reader", SiteRole.READER), campaigns.lead()):
        assert visitor(person).get(path).status_code == 403
    assert visitor(User.objects.create_user("staff", is_staff=True)).get(path).status_code == 403
    assert visitor(admin).get(path).status_code == 200


def test_reading_and_taking_the_log_is_written_down(admin):
    client = visitor(admin)
    client.get("/log/")
    client.get("/log/")
    client.get("/log/export/")

    assert list(AuditEntry.objects.order_by("pk").values_list("act", "subject")) == [
        ("log_read", "log"),
        ("export", "log"),
    ]


def test_the_log_is_paged_by_key_without_gap_or_overlap(admin):
    for number in range(250):
        audit.note(None, "import", f"run:{number}")
    client = visitor(admin)

    seen: list[str] = []
    address = "?act=import"
    while address:
        page = client.get(f"/log/{address}").content.decode()
        seen += re.findall(r"run:\d+", page.partition("<tbody>")[2])
        older = re.search(r'rel="next" href="([^"]+)"', page)
        address = older[1].replace("&amp;", "&") if older else ""
        audit.note(None, "import", "task:1")

    assert seen == [f"run:{number}" for number in range(249, -1, -1)]


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("person=lead", {"run:1"}),
        ("act=export", {"run:2"}),
        ("subject=run:2", {"run:2"}),
        ("since=2000-01-01", {"run:1", "run:2"}),
        ("since=2100-01-01", set()),
        ("until=2000-01-01", set()),
        ("person=lead&act=export", set()),
        ("before=x", {"run:1", "run:2"}),
        (f"before={'9' * 40}", {"run:1", "run:2"}),
        ("person=%00", {"run:1", "run:2"}),
    ],
)
def test_the_log_is_narrowed(admin, query, shown):
    audit.note(campaigns.lead("lead"), "cancel", "run:1")
    audit.note(None, "export", "run:2")

    page = visitor(admin).get(f"/log/?{query}").content.decode().partition("<tbody>")[2]

    assert set(re.findall(r"run:\d", page)) == shown


def test_a_day_that_is_none_is_said_and_left_out(admin):
    page = visitor(admin).get("/log/?since=yesterday").content.decode()

    assert "is no day; write it as 2026-01-31" in page


@pytest.mark.parametrize("query", ["until=9999-12-31", "since=0001-01-01"])
def test_a_day_at_an_end_of_the_calendar_is_left_out_too(admin, query):
    assert "is no day; write it as 2026-01-31" in visitor(admin).get(f"/log/?{query}").content.decode()
    assert visitor(admin).get(f"/log/export/?{query}").getvalue().startswith(b"entry,")


def test_no_cell_of_the_export_is_a_formula(admin):
    evil = User.objects.create_user("=HYPERLINK(1)")
    for subject in ("@SUM(1)", "+1", " -1", "\t=1", "run:1"):
        audit.note(evil, "export", subject, reason="=1+1")

    answer = visitor(admin).get("/log/export/?act=export")

    rows = list(csv.reader(io.StringIO(answer.getvalue().decode())))
    assert len(rows) == 1 + 5 + 1
    cells = [cell for row in rows[1:] for cell in row]
    assert [cell for cell in cells if cell.strip(" ")[:1] in ("=", "+", "-", "@", "\t")] == []
    assert "'=HYPERLINK(1)" in cells


def test_texts_of_the_log_are_shown_as_text(admin):
    audit.note(
        User.objects.create_user("<b>x</b>"), "reveal", "assignment:1", reason="<script>alert(1)</script>"
    )

    page = visitor(admin).get("/log/").content.decode()

    assert "<script>alert" not in page
    assert "<b>x</b>" not in page


def test_an_administrator_who_sets_a_password_or_removes_an_account_is_written_down(admin):
    person = campaigns.person("somebody", password=campaigns.PASSWORD)
    client = visitor(admin)
    new = "quite another pass phrase"

    client.post(
        f"/admin/auth/user/{person.pk}/password/",
        {"password1": new, "password2": new, "usable_password": "true"},
    )
    client.post(f"/admin/auth/user/{person.pk}/delete/", {"post": "yes"})

    assert not User.objects.filter(username="somebody").exists()
    assert list(AuditEntry.objects.order_by("pk").values_list("act", "subject", "username")) == [
        ("password_set", f"user:{person.pk}", "admin"),
        ("account_removed", f"user:{person.pk}", "admin"),
    ]


def test_the_tables_change_no_password_and_end_no_session_by_a_way_of_their_own(admin):
    client = visitor(admin)

    assert client.get("/admin/password_change/")["Location"] == "/account/password/"
    client.post("/admin/logout/")

    assert AuditEntry.objects.get().act == "sign_out"


def test_a_lead_who_looks_at_a_set_of_somebody_else_is_written_down_once():
    run = campaigns.run(campaigns.benchmark(tasks=1, criteria=1))
    annotator, lead = campaigns.person(), campaigns.lead("lead")
    campaign = campaigns.planned(run, annotators=[annotator])
    own = campaign.assignments.get()
    for person in (annotator, lead, lead):
        visitor(person).get(own.get_absolute_url())

    assert list(AuditEntry.objects.filter(act="see").values_list("username", "subject")) == [
        ("lead", f"assignment:{own.pk}")
    ]


def test_launching_cancelling_and_downloading_are_written_down():
    lead = campaigns.lead("lead")
    run = campaigns.run(campaigns.benchmark(tasks=1, criteria=1))
    client = visitor(lead)

    client.get(f"/results/?runs={run.pk}&format=csv")
    other = make.run()
    client.post(f"/runs/{other.pk}/cancel/")

    acts = AuditEntry.objects.filter(username="lead").order_by("pk").values_list("act", "subject")
    assert list(acts) == [("export", "runs:results"), ("cancel", f"run:{other.pk}")]
