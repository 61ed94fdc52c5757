"""Signing in and changing a password: guesses are slowed down, and what happens is written down."""

from __future__ import annotations

import importlib
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from asgiref.sync import async_to_sync
from axes.models import AccessAttempt
from django.apps import apps
from django.conf import settings as site
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import F
from django.test import AsyncClient, Client, RequestFactory

from people.models import AuditEntry
from people.throttling import client_address
from tests import campaigns
from tests.people.hashers import Counting

pytestmark = pytest.mark.django_db

PASSWORD = campaigns.PASSWORD
HERE, ELSEWHERE = "192.0.2.1", "198.51.100.7"


@pytest.fixture(autouse=True)
def three_tries(settings) -> None:
    settings.AXES_FAILURE_LIMIT = 3


@pytest.fixture
def somebody() -> User:
    return campaigns.person("somebody", password=PASSWORD)


def visitor(address: str = HERE) -> Client:
    return Client(headers={"host": site.SITE_HOST}, REMOTE_ADDR=address)


def tried(client: Client, name: str = "somebody", password: str = "wrong", path: str = "/sign-in/"):
    return client.post(path, {"username": name, "password": password})


def acts() -> list[str]:
    return list(AuditEntry.objects.order_by("pk").values_list("act", flat=True))


def test_after_three_wrong_passwords_the_right_one_waits_and_is_told_until_when(somebody):
    for _ in range(2):
        assert tried(visitor()).status_code == 200

    third = tried(visitor())
    right = tried(visitor(), password=PASSWORD)

    for answer in (third, right):
        assert answer.status_code == 429
        assert re.search(r"Too many wrong tries\. Try again after \d\d:\d\d \(UTC\)", answer.content.decode())
        assert 0 < int(answer["Retry-After"]) <= 15 * 60
    assert "__Host-session" not in right.cookies


@pytest.mark.django_db(transaction=True)
def test_the_server_that_is_used_answers_a_locked_door_like_the_one_of_tests(settings, somebody):
    # The library's middleware answers otherwise under ASGI.
    settings.SITE_HOST = "testserver"

    async def answers() -> list[int]:
        client = AsyncClient()
        form = {"username": "somebody", "password": "wrong"}
        return [(await client.post("/sign-in/", form)).status_code for _ in range(4)]

    def asked() -> list[int]:
        try:
            return async_to_sync(answers)()
        finally:
            connection.close()

    # In a thread of its own: a browser's tests before this one leave a loop at work in theirs.
    with ThreadPoolExecutor(1) as alone:
        assert alone.submit(asked).result() == [200, 200, 429, 429]


def test_after_the_wait_the_right_password_signs_in(somebody):
    for _ in range(3):
        tried(visitor())
    AccessAttempt.objects.update(attempt_time=F("attempt_time") - timedelta(minutes=16))

    assert tried(visitor(), password=PASSWORD).status_code == 302


def test_knocking_at_a_closed_door_does_not_keep_it_closed(somebody):
    for _ in range(3):
        tried(visitor())
    closed = AccessAttempt.objects.get().attempt_time

    for _ in range(3):
        tried(visitor())

    assert AccessAttempt.objects.get().attempt_time == closed
    assert acts().count("sign_in_locked") == 1


def test_somebody_elsewhere_does_not_lock_the_owner_out(somebody):
    for _ in range(3):
        tried(visitor(ELSEWHERE))

    assert tried(visitor(HERE), password=PASSWORD).status_code == 302


def test_many_addresses_that_guess_for_one_name_lock_it_everywhere(somebody):
    for number in range(15):
        tried(visitor(f"203.0.113.{number}"))

    assert tried(visitor(HERE), password=PASSWORD).status_code == 429


def test_one_address_that_guesses_for_many_names_is_locked_for_all(somebody):
    for number in range(30):
        tried(visitor(), name=f"name-{number}")

    assert tried(visitor(), password=PASSWORD).status_code == 429
    assert tried(visitor(ELSEWHERE), password=PASSWORD).status_code == 302


def test_nothing_that_was_typed_is_kept_with_a_failure(somebody):
    signed_in = visitor()
    signed_in.force_login(somebody)
    typed = {"old_password": "typed-old", "new_password1": "typed-new", "new_password2": "typed-new"}

    for _ in range(2):
        assert signed_in.post("/account/password/?next=typed-query", typed).status_code == 422
    tried(visitor(), name="typed-name", password="typed-word")

    kept = list(AccessAttempt.objects.values())
    assert len(kept) == 2
    assert "typed" not in str(kept)


def test_failures_that_no_longer_count_go_when_somebody_signs_in(somebody):
    tried(visitor(ELSEWHERE), name="nobody")
    AccessAttempt.objects.update(attempt_time=F("attempt_time") - timedelta(minutes=16))

    assert tried(visitor(), password=PASSWORD).status_code == 302

    assert not AccessAttempt.objects.exists()


def test_an_update_forgets_what_earlier_versions_kept():
    AccessAttempt.objects.create(username="typed", post_data="new_password1=typed", failures_since_start=1)

    importlib.import_module("people.migrations.0005_forget_what_was_typed").forget(apps, None)

    assert not AccessAttempt.objects.exists()


def test_an_account_of_ones_own_does_not_clear_guesses_at_others(somebody):
    campaigns.person("own", password=PASSWORD)
    for _ in range(2):
        tried(visitor())

    assert tried(visitor(), name="own", password=PASSWORD).status_code == 302

    assert tried(visitor()).status_code == 429


def test_a_name_that_nobody_has_is_answered_and_locked_like_any_other(somebody):
    known = [tried(visitor(HERE)) for _ in range(4)]
    unknown = [tried(visitor(ELSEWHERE), name="nobody") for _ in range(4)]

    assert [answer.status_code for answer in known] == [answer.status_code for answer in unknown]

    def sentence(answer) -> list[str]:
        return re.findall(r'role="alert">(.*?)</p>', answer.content.decode())

    assert sentence(known[0]) == sentence(unknown[0]) != []


@pytest.mark.parametrize("name", ["nobody", "without-password", "shut-off", "somebody"])
def test_a_wrong_try_costs_the_same_whoever_it_is_for(settings, somebody, name):
    settings.PASSWORD_HASHERS = ["tests.people.hashers.Counting"]
    User.objects.create_user("without-password")
    User.objects.create_user("shut-off", password=PASSWORD, is_active=False)
    somebody.set_password(PASSWORD)
    somebody.save()
    Counting.works = 0

    tried(visitor(), name=name)

    assert Counting.works == 1


def test_the_tables_have_no_sign_in_of_their_own(somebody):
    answer = visitor().get("/admin/", follow=True)

    assert answer.redirect_chain[-1][0] == "/sign-in/?next=%2Fadmin%2F"
    assert tried(visitor(), path="/admin/login/").status_code == 302


def test_somebody_who_may_not_see_the_tables_is_told_so_and_not_sent_round(somebody):
    client = visitor()
    client.force_login(somebody)

    answer = client.get("/admin/", follow=True)

    assert answer.status_code == 403
    assert "for administrators" in answer.content.decode()


def test_the_api_takes_no_password(somebody):
    answer = visitor().get(
        "/api/v1/me", headers={"authorization": "Basic c29tZWJvZHk6YSBsb25nIHBhc3MgcGhyYXNl"}
    )

    assert answer.status_code == 401


@pytest.mark.parametrize(
    ("header", "sent", "address"),
    [
        ("", "203.0.113.9", HERE),
        ("HTTP_X_FORWARDED_FOR", "203.0.113.9", "203.0.113.9"),
        ("HTTP_X_FORWARDED_FOR", "10.0.0.1, 203.0.113.9", "203.0.113.9"),
        ("HTTP_X_FORWARDED_FOR", "unknown", HERE),
        ("HTTP_X_FORWARDED_FOR", "", HERE),
        ("HTTP_X_FORWARDED_FOR", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("HTTP_X_FORWARDED_FOR", "::ffff:203.0.113.9", "203.0.113.9"),
    ],
)
def test_an_address_is_read_from_a_header_only_where_one_is_trusted(settings, header, sent, address):
    settings.CLIENT_ADDRESS_HEADER = header
    request = RequestFactory().get("/", headers={"x-forwarded-for": sent}, REMOTE_ADDR=HERE)

    assert client_address(request) == address


def test_coming_failing_and_going_are_written_down(somebody):
    client = visitor()
    tried(client)
    tried(client, name="a pass phrase in the wrong field")
    tried(client, password=PASSWORD)
    client.post("/sign-out/")

    rows = list(AuditEntry.objects.order_by("pk").values_list("act", "username", "subject"))
    own = f"user:{somebody.pk}"
    assert rows == [
        ("sign_in_failed", "", own),
        ("sign_in_failed", "", "user:unknown"),
        ("sign_in", "somebody", own),
        ("sign_out", "somebody", own),
    ]
    assert AuditEntry.objects.filter(details__address=HERE).count() == 3
    assert "pass phrase" not in str(list(AuditEntry.objects.values()))


def change(client: Client, old: str, new: str):
    return client.post(
        "/account/password/", {"old_password": old, "new_password1": new, "new_password2": new}
    )


def test_a_changed_password_ends_every_other_session_of_that_person(somebody):
    here, there = visitor(), visitor(ELSEWHERE)
    for client in (here, there):
        tried(client, password=PASSWORD)

    answer = change(here, PASSWORD, "quite another pass phrase")

    assert answer.status_code == 302
    assert here.get("/account/").status_code == 200
    assert there.get("/account/").status_code == 302
    assert tried(visitor(), password=PASSWORD).status_code == 200
    assert "password" in acts()


@pytest.mark.parametrize("new", ["short", "12345678901", "password1", "somebody1"])
def test_a_password_that_is_easy_to_guess_is_refused(somebody, new):
    client = visitor()
    tried(client, password=PASSWORD)

    answer = change(client, PASSWORD, new)

    assert answer.status_code == 422
    assert "Nothing was changed" in answer.content.decode()
    assert User.objects.get(pk=somebody.pk).check_password(PASSWORD)


def test_the_password_so_far_cannot_be_guessed_with_a_session_that_was_left_open(somebody):
    client = visitor()
    tried(client, password=PASSWORD)

    answers = [change(client, "wrong", "quite another pass phrase").status_code for _ in range(3)]

    assert answers == [422, 422, 429]
    assert change(client, PASSWORD, "quite another pass phrase").status_code == 429


def test_with_local_passwords_turned_off_the_form_is_gone_and_takes_nothing(settings, somebody):
    settings.LOCAL_PASSWORDS = False
    settings.AUTHENTICATION_BACKENDS = [
        "axes.backends.AxesStandaloneBackend",
        "people.backends.WithoutPasswords",
    ]

    assert "<form" not in visitor().get("/sign-in/").content.decode()
    assert tried(visitor(), password=PASSWORD).status_code == 404


def test_nothing_of_single_sign_on_shows_where_none_is_configured(somebody):
    client = visitor()

    assert "single sign-on" not in client.get("/sign-in/").content.decode().lower()
    assert client.get("/sign-in/oidc/").status_code in (302, 404)
    tried(client, password=PASSWORD)
    assert (
        "ink"
        not in re.findall(r'id="ways".*?</section>', client.get("/account/").content.decode(), re.DOTALL)[0]
    )
