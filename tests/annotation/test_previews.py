"""The live application of a set: started, watched and ended by its own annotator, on an origin of its own."""

from __future__ import annotations

import time

import pytest
from django.conf import settings

from annotation.models import Assignment
from annotation.vocabulary import AssignmentState
from runs import previews
from runs.models import Round
from tests import campaigns
from tests.annotation import looks

pytestmark = pytest.mark.django_db

PAGE = {"index.html": b"<!doctype html><title>Seeds</title><h1>Seeds</h1>"}
DIES = {
    "server.py": b"""
import http.server, os
print("by heron-2 in " + os.getcwd(), flush=True)
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/die":
            os._exit(3)
        self.send_response(200)
        self.end_headers()
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""
}
BROKEN = {
    "server.py": b"import http.server\nprint('about to fail', flush=True)\nraise SystemExit('no heron-2 here')\n"
}


@pytest.fixture(autouse=True)
def own_previews():
    """Previews of a test end with it, and are unknown to the next."""
    previews.manager.cache_clear()
    yield
    previews.stop_all()
    previews.manager.cache_clear()


def _view(client, assignment, act="", *, status=200):
    base = f"/annotation/{assignment.pk}/preview/"
    answer = client.post(base + act) if act else client.get(base)
    assert answer.status_code == status, answer.content[:300]
    return answer.json() if answer["Content-Type"] == "application/json" else {}


def _until(client, assignment, *states):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        view = _view(client, assignment)
        if view["state"] in states:
            return view
        time.sleep(0.1)
    raise AssertionError(view)


def _started(assignment, *states):
    client = looks.client(assignment.annotator)
    _view(client, assignment, "start/")
    return client, _until(client, assignment, *(states or ("running",)))


def test_nothing_runs_before_it_is_asked_for():
    assignment = looks.a_set(PAGE)

    view = _view(looks.client(assignment.annotator), assignment)

    assert view["state"] == "none"


def test_a_set_starts_on_an_origin_that_names_nothing():
    _client, view = _started(looks.a_set(PAGE))

    scheme, _, host = settings.PUBLIC_URL.partition("://")
    assert view["address"] == f"{scheme}://{view['name']}.{host}/"
    assert view["name"].startswith("p-")
    assert len(view["name"]) == 28
    assert "heron" not in str(view)


def test_starting_again_comes_back_to_the_one_that_lives():
    assignment = looks.a_set(PAGE)
    client, view = _started(assignment)

    assert _view(client, assignment, "start/")["name"] == view["name"]


def test_a_reset_gives_a_new_origin_and_ends_the_old_one():
    assignment = looks.a_set(PAGE)
    client, before = _started(assignment)

    _view(client, assignment, "reset/")
    after = _until(client, assignment, "running")

    assert after["name"] != before["name"]
    old = previews.manager().find(before["name"])
    assert old is not None
    assert old.is_stopping


def test_a_stopped_one_says_so_at_once_and_starts_anew():
    assignment = looks.a_set(PAGE)
    client, before = _started(assignment)

    stopped = _view(client, assignment, "stop/")
    again = _view(client, assignment, "start/")

    assert (stopped["state"], stopped["address"]) == ("stopped", "")
    assert again["name"] != before["name"]


def test_two_sets_of_one_round_share_no_origin():
    one, other = campaigns.people(2)
    run = campaigns.run()
    Round.objects.update(snapshot=looks.snapshot(PAGE))
    of = campaigns.opened(run, annotators=[one, other], overlap=2)
    sets = [campaigns.taken(of, by=person) for person in (one, other)]

    names = {_started(assignment)[1]["name"] for assignment in sets}

    assert len(names) == 2


def test_a_candidate_that_does_not_start_shows_its_log_without_agent_and_folder():
    assignment = looks.a_set(BROKEN)

    client, view = _started(assignment, "failed")
    logs = client.get(f"/annotation/{assignment.pk}/preview/logs/").json()["logs"]

    assert not view["has_run"]
    assert "no ▒▒▒ here" in view["log"]["text"]
    assert [log["title"] for log in logs] == ["Build and server"]
    assert "heron" not in str(logs)
    assert str(settings.DATA_DIR) not in str(logs) + str(view)


def test_a_candidate_that_dies_is_told_from_one_that_never_ran():
    assignment = looks.a_set(DIES)
    client, running = _started(assignment)
    preview = previews.manager().find(running["name"])
    assert preview is not None

    _ask(preview.port, "/die")
    view = _until(client, assignment, "failed")

    assert view["has_run"]
    assert "by ▒▒▒ in /workspace" in view["log"]["text"]
    assert str(settings.DATA_DIR) not in str(view)


def test_logs_are_cut_to_their_end_unless_they_are_wanted_whole():
    chatty = DIES["server.py"].replace(b"print(", b"print('x' * 20000 + ' end'); print(", 1)
    assignment = looks.a_set({"server.py": chatty})
    client, _ = _started(assignment)
    address = f"/annotation/{assignment.pk}/preview/logs/"

    cut, whole = (client.get(address + query).json()["logs"][-1] for query in ("", "?whole=1"))

    assert cut["cut"] > 10_000
    assert whole["cut"] == 0
    assert whole["text"].endswith(cut["text"])


def test_an_unblinded_campaign_shows_logs_as_they_are():
    assignment = looks.a_set(BROKEN, is_blind=False)

    _, view = _started(assignment, "failed")

    assert "no heron-2 here" in view["log"]["text"]


def test_only_the_annotator_has_the_application_and_a_lead_gets_one_apart():
    assignment = looks.a_set(PAGE)
    client, own = _started(assignment)
    lead, stranger = looks.client(campaigns.lead()), looks.client(campaigns.person())

    for act in ("", "start/", "stop/", "reset/"):
        _view(stranger, assignment, act, status=404)
    assert stranger.get(f"/annotation/{assignment.pk}/preview/logs/").status_code == 404
    assert _view(lead, assignment)["state"] == "none"
    leads = _view(lead, assignment, "start/")
    _view(lead, assignment, "stop/")

    assert leads["name"] != own["name"]
    assert _view(client, assignment)["state"] == "running"


@pytest.mark.parametrize("act", ["start/", "stop/", "reset/"])
def test_nothing_is_started_or_ended_by_a_link(act):
    assignment = looks.a_set(PAGE)

    answer = looks.client(assignment.annotator).get(f"/annotation/{assignment.pk}/preview/{act}")

    assert answer.status_code == 405


def test_a_set_without_stored_files_says_that_there_is_nothing_to_start():
    assignment = looks.a_set()

    view = _view(looks.client(assignment.annotator), assignment, "start/", status=409)

    assert "No files of this application are stored" in view["detail"]


def test_a_set_that_was_taken_back_is_not_started_again():
    assignment = looks.a_set(PAGE)
    Assignment.objects.update(state=AssignmentState.EXPIRED)

    view = _view(looks.client(assignment.annotator), assignment, "start/", status=409)

    assert "somebody else" in view["detail"]


def test_a_place_in_the_queue_is_told(settings):
    settings.PREVIEWS_PER_USER = 1
    person = campaigns.person()
    sets = []
    for _ in range(2):
        of = campaigns.opened(campaigns.run(), annotators=[person])
        sets.append(campaigns.taken(of, by=person))
    Round.objects.update(snapshot=looks.snapshot(PAGE))
    client, _ = _started(sets[0])

    waiting = _view(client, sets[1], "start/")
    _view(client, sets[0], "stop/")

    assert (waiting["state"], waiting["position"], waiting["address"]) == ("queued", 1, "")
    assert _until(client, sets[1], "running")["position"] is None


def _ask(port: int, path: str) -> None:
    import http.client

    line = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    line.request("GET", path)
    with pytest.raises((http.client.HTTPException, OSError)):
        line.getresponse()
    line.close()
