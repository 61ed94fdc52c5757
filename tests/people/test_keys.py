"""Keys: one registry, each person's own choice, no key with two meanings on one page."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from people import keymap
from people.keymap import ACTIONS, BadKey, PageGroup
from people.models import Preferences
from people.templatetags.keys import caps

ROOT = Path(settings.BASE_DIR)


@pytest.fixture
def person(db) -> User:
    return User.objects.create_user("somebody")


@pytest.fixture
def client(person) -> Client:
    client = Client(headers={"host": settings.SITE_HOST})
    client.force_login(person)
    return client


def own_keys(user: User) -> dict[str, str]:
    return keymap.keys_of(User.objects.get(pk=user.pk))


def test_no_two_defaults_meet_on_one_page():
    defaults = keymap.merged({})

    for name, action in ACTIONS.items():
        assert not action.key or keymap.conflict(name, action.key, defaults) is None, name


def test_every_default_is_a_key_that_the_settings_would_take():
    for action in ACTIONS.values():
        assert not action.key or keymap.checked_key(action.key) == action.key


def test_every_act_that_a_template_or_script_names_is_in_the_registry():
    named = set()
    for path in itertools.chain((ROOT / "templates").rglob("*.html"), (ROOT / "static/js").glob("*.js")):
        text = path.read_text()
        named |= set(re.findall(r'(?:data-key|data-cycle)="([\w-]+)"', text))
        named |= set(re.findall(r'data-act="([a-z-]+)"', text))
        named |= set(re.findall(r'keyOf\("([\w-]+)"\)', text))
        for given in re.findall(r"{% keycap ([^%]*)%}", text):
            named |= set(re.findall(r'"([\w-]+)"', given))

    assert named
    assert named <= set(ACTIONS)


@pytest.mark.parametrize(
    ("typed", "key"),
    [("p", "p"), ("P", "P"), ("?", "?"), (" g  r ", "g r"), ("space", "Space"), (" ", "Space"), ("ä", "ä")],
)
def test_a_typed_key_is_read_in_one_way(typed, key):
    assert keymap.checked_key(typed) == key


@pytest.mark.parametrize("typed", ["", "enter", "Escape", "g r x", "Ctrl+S", "F5", "\u200b", "ab", "\x07"])
def test_what_is_no_key_is_refused_with_a_sentence(typed):
    with pytest.raises(BadKey, match="is no key"):
        keymap.checked_key(typed)


def test_nobody_and_a_new_person_have_the_defaults(person):
    defaults = {name: action.key for name, action in ACTIONS.items()}

    assert keymap.keys_of(AnonymousUser()) == defaults
    assert keymap.keys_of(person) == defaults


def test_what_is_kept_wrongly_is_passed_over(person):
    Preferences.objects.create(user=person, keys={"pass": "q", "gone": "z", "fail": 7, "note": None})

    keys = keymap.keys_of(person)

    assert keys["pass"] == "q"
    assert keys["fail"] == ACTIONS["fail"].key
    assert keys.keys() == ACTIONS.keys()


def test_the_keys_cost_one_query_a_request(person):
    with CaptureQueriesContext(connection) as queries:
        keymap.keys_of(person)
        keymap.keys_of(person)

    assert len(queries) == 1


@pytest.mark.parametrize(
    ("name", "key", "other"),
    [
        ("pass", "f", "Fail"),
        ("pass", ".", "Light or dark"),
        ("find", "j", "Next row"),
        ("next-round", "x", "Select the row"),
    ],
)
def test_a_key_that_means_something_on_the_same_page_is_refused_by_name(client, person, name, key, other):
    answer = client.post("/keys/", {"do": "set", "action": name, "key": key})

    assert answer.status_code == 422
    assert f"{key} already means" in answer.content.decode()
    assert other in answer.content.decode()
    assert own_keys(person)[name] == ACTIONS[name].key


def test_the_console_takes_one_stroke_for_each_act(client, person):
    answer = client.post("/keys/", {"do": "set", "action": "pass", "key": "m m"})

    assert answer.status_code == 422
    assert "in the annotation console each act is one" in answer.content.decode()
    assert client.post("/keys/", {"do": "set", "action": "next-row", "key": "m m"}).status_code == 302


def test_an_act_without_a_default_gets_a_key_and_loses_it_by_a_reset(client, person):
    client.post("/keys/", {"do": "set", "action": "reset", "key": "R"})
    assert keymap.keys_on(PageGroup.CONSOLE, User.objects.get(pk=person.pk))["reset"] == "R"

    client.post("/keys/", {"do": "reset", "action": "reset"})

    assert "reset" not in keymap.keys_on(PageGroup.CONSOLE, User.objects.get(pk=person.pk))


def test_pages_that_never_meet_may_share_a_key(client, person):
    assert client.post("/keys/", {"do": "set", "action": "pass", "key": "m"}).status_code == 302

    assert own_keys(person)["pass"] == own_keys(person)["cell-marks"] == "m"


def test_one_key_is_set_and_only_the_difference_is_kept(client, person):
    client.post("/keys/", {"do": "set", "action": "pass", "key": "q"})

    assert own_keys(person)["pass"] == "q"
    assert Preferences.objects.get(user=person).keys == {"pass": "q"}


def test_one_key_is_reset_and_the_others_stay(client, person):
    for name, key in (("pass", "q"), ("fail", "w")):
        client.post("/keys/", {"do": "set", "action": name, "key": key})

    client.post("/keys/", {"do": "reset", "action": "pass"})

    assert Preferences.objects.get(user=person).keys == {"fail": "w"}


def test_a_default_that_another_act_has_taken_is_not_given_back_silently(client, person):
    client.post("/keys/", {"do": "set", "action": "pass", "key": "q"})
    client.post("/keys/", {"do": "set", "action": "fail", "key": "p"})

    answer = client.post("/keys/", {"do": "reset", "action": "pass"})

    assert answer.status_code == 422
    assert own_keys(person)["pass"] == "q"


def test_all_keys_are_reset_at_once(client, person):
    client.post("/keys/", {"do": "set", "action": "pass", "key": "q"})

    client.post("/keys/", {"do": "reset-all"})

    assert Preferences.objects.get(user=person).keys == {}


def test_single_keys_are_switched_off_and_on_for_the_account(client, person):
    client.post("/keys/", {"do": "switch"})
    off = client.get("/keys/").content.decode()
    client.post("/keys/", {"do": "switch", "on": "on"})

    assert "Single keys are off for your account" in off
    assert "&quot;on&quot;: false" in off
    assert Preferences.objects.get(user=person).uses_keys


@pytest.mark.parametrize("form", [{"do": "nonsense"}, {"do": "set", "action": "nothing", "key": "p"}, {}])
def test_a_form_that_this_page_never_sends_is_404(client, form):
    assert client.post("/keys/", form).status_code == 404


def test_the_page_lists_every_act_of_every_group(client):
    text = client.get("/keys/").content.decode()

    assert all(f'id="key-{name}"' in text for name in ACTIONS)
    assert all(group.words in text for group in PageGroup)


def test_every_page_brings_the_own_keys_along_and_prints_them(client):
    client.post("/keys/", {"do": "set", "action": "theme", "key": "!"})
    text = client.get("/keys/").content.decode()
    given = re.search(r'<meta name="keymap" content="([^"]*)">', text)

    assert given is not None
    assert json.loads(given[1].replace("&quot;", '"').replace("&#x27;", "'"))["keys"]["theme"] == "!"
    assert "Light or dark <kbd>!</kbd>" in text


def test_the_own_keys_of_one_person_are_nobody_elses(client, person):
    client.post("/keys/", {"do": "set", "action": "pass", "key": "q"})

    assert own_keys(User.objects.create_user("else"))["pass"] == "p"


def test_a_key_is_printed_stroke_by_stroke_and_shift_is_shown():
    assert caps("g r") == "<kbd>g</kbd> <kbd>r</kbd>"
    assert caps("J") == "<kbd>⇧J</kbd>"
    assert caps("Space") == "<kbd>space</kbd>"
    assert caps("<") == "<kbd>&lt;</kbd>"


def test_the_guide_of_annotators_lists_the_keys_of_the_console_as_they_are():
    text = (ROOT / "docs/annotate.md").read_text()
    table = text[text.index("| key | what it does |") :].split("\n\n")[0]
    documented = [tuple(cell.strip() for cell in line.split("|")[1:3]) for line in table.splitlines()[2:]]

    acts = [action for action in ACTIONS.values() if action.group is PageGroup.CONSOLE]
    assert documented == [(f"`{action.key}`" if action.key else "none", action.words) for action in acts]
