"""Every address, operation and socket stands in one row of the table of docs/security.md, and answers as it says."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.people.test_roles import table
from tests.permission_sweep import ANONYMOUS, BLIND_LEAD, PERSONS, Door, Stage, staged

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

RUNS = "Runs, trials, results and reports"
BYTES = "Evidence and logs"
BENCHMARKS = "Benchmarks, hidden requirements and rubrics"
PREVIEW = "Preview of a trial's round"
DESCRIPTION = "Description of the API"
LAUNCH = "Launch, cancel and retry"
OTHERS = "Sets of others"
WRITING = "Sets of others: write in them"
CAMPAIGNS = "Campaigns: set up, progress, disagreements, agreement, export"
CALCULATORS = "Agreement from a file, planning"
ACCOUNT = "Key settings, own account, password and tokens"
TOKENS = "Tokens and identities of others"
TABLES = "Tables (admin)"
LOG = "Log of the site"

SHOWN: Mapping[str, tuple[str, ...]] = {
    RUNS: ("home", "runs:runs", "runs:results", "GET /api/v1/runs"),
    BENCHMARKS: (
        *("benchmark:benchmarks", "benchmark:benchmark", "benchmark:file", "benchmark:task"),
        *("GET /api/v1/benchmarks", "GET /api/v1/benchmarks/{benchmark_id}"),
        "GET /api/v1/benchmarks/{benchmark_id}/tasks/{key}",
    ),
    DESCRIPTION: ("api-1:openapi-json", "api-1:openapi-view"),
    LAUNCH: ("runs:launch",),
    CAMPAIGNS: (
        *("annotation:campaigns", "annotation:new_campaign", "annotation:campaign", "annotation:edit"),
        *("annotation:calibration", "annotation:open", "annotation:close", "annotation:reopen"),
        *("annotation:duplicate", "annotation:ask_again", "annotation:reassign", "annotation:release"),
        "annotation:reopen_set",
    ),
    CALCULATORS: ("annotation:agreements", "annotation:agreement_check", "annotation:agreement_plan"),
    ACCOUNT: ("people:account", "people:password", "people:keys", "annotation:assignments", "GET /api/v1/me"),
    TOKENS: ("people:revoke_token",),
    TABLES: ("admin",),
    LOG: ("people:log", "people:log_export"),
}
"""What a person who is blind to a campaign meets as anybody with the same roles; it leaves hidden things out."""

HIDDEN: Mapping[str, tuple[str, ...]] = {
    RUNS: (
        *("runs:run", "runs:trial", "GET /api/v1/runs/{run_id}", "GET /api/v1/runs/{run_id}/scores"),
        "GET /api/v1/runs/{run_id}/marks",
    ),
    BYTES: (
        *("runs:evidence", "runs:deployment_log", "GET /api/v1/evidence/{evidence_id}"),
        "GET /api/v1/evidence/{evidence_id}/content",
    ),
    PREVIEW: ("runs:preview_start", "runs:preview_stop"),
    LAUNCH: (
        *("runs:cancel", "runs:retry", "POST /api/v1/runs/{run_id}/cancel"),
        "POST /api/v1/runs/{run_id}/retry",
    ),
    OTHERS: (
        *("annotation:console", "annotation:evidence", "annotation:evidence_piece", "annotation:files"),
        *("annotation:export_assignment", "annotation:file", "annotation:picture", "annotation:reveal"),
        *("annotation:preview", "annotation:preview_logs", "annotation:preview_reset"),
        *("annotation:preview_start", "annotation:preview_stop"),
        "GET /api/v1/assignments/{assignment_id}",
        "GET /api/v1/assignments/{assignment_id}/changes",
        "GET /api/v1/assignments/{assignment_id}/comments",
        "POST /api/v1/assignments/{assignment_id}/reopen",
        "POST /api/v1/assignments/{assignment_id}/reveal",
    ),
    WRITING: (
        "annotation:take_back",
        "POST /api/v1/assignments/{assignment_id}/operations",
        "POST /api/v1/assignments/{assignment_id}/presence",
        "POST /api/v1/assignments/{assignment_id}/submit",
        "DELETE /api/v1/pictures/{picture_id}",
        "POST /api/v1/pictures/{picture_id}/restore",
    ),
    CAMPAIGNS: (
        *("annotation:agreement", "annotation:agreement_appendix", "annotation:agreement_file"),
        *("annotation:threads", "annotation:answer", "annotation:disagreements", "annotation:adjudicate"),
        *("annotation:export_campaign", "annotation:comment", "annotation:log"),
        "GET /api/v1/campaigns/{campaign_id}/agreement",
    ),
}
"""What is of a hidden run or a blind campaign: refused to whoever is blind to it, under every role."""

APART: Mapping[str, str] = {
    "sign_in": "for everybody",
    "sign_out": "for everybody; it would end the walk",
    "admin_sign_in": "leads to the sign-in page",
    "admin_password": "leads to the page of the own password",
    # What these need is checked in tests of their own.
    "annotation:take": "for the annotators of a campaign, whatever their roles: tests/annotation/test_queue.py",
    "POST /api/v1/campaigns/{campaign_id}/take": "the same",
    "POST /api/v1/runs": "checks what is to be launched first: tests/test_api.py",
    "POST /api/v1/assignments/{assignment_id}/pictures": "takes a file: tests/annotation/test_pictures.py",
    "POST /api/v1/assignments/{assignment_id}/comments": "tests/annotation/test_comments.py",
    "people:unlink_identity": "only with single sign-on: tests/people/test_single_sign_on.py",
}

STARTS_PROCESSES = {
    "runs:preview_start",
    "annotation:preview_start",
    "annotation:preview_reset",
}
# A lead may, and is told that there is no such file in a set that shows evidence.
IS_EMPTY = {"annotation:file"}
REFUSED = {0, 401, 403, 404}


def test_every_door_answers_every_person_as_the_table_says_and_every_answer_is_kept_apart():
    words = {thing: dict(zip(PERSONS[1:], words, strict=False)) for thing, words in table()}
    stage = staged()
    wrong, unknown = [], []
    seen: set[str] = set()
    for door in stage.doors():
        if door.name in APART:
            continue
        rows = [row for row, names in [*SHOWN.items(), *HIDDEN.items()] if door.name in names]
        if len(rows) != 1:
            unknown.append(door.name)
            continue
        for person in PERSONS:
            if door.name == "admin" and door.name in seen and person not in (ANONYMOUS, "Lead"):
                # One check keeps all tables; tests/annotation/test_blind_walk.py walks them as an administrator.
                continue
            wrong += _wrong(stage, door, person, may=_may(words[rows[0]], door, person))
        seen.add(door.name)

    assert unknown == []
    assert wrong == []
    assert stage.bare == []
    assert {name for names in [*SHOWN.values(), *HIDDEN.values()] for name in names} - seen == set()


def _may(row: Mapping[str, str], door: Door, person: str) -> bool:
    if person == ANONYMOUS:
        return False
    if person == BLIND_LEAD:
        return row["Lead"] == "yes" and not any(door.name in names for names in HIDDEN.values())
    return row[person] == "yes"


def _wrong(stage: Stage, door: Door, person: str, *, may: bool) -> list[str]:
    if may and door.name in STARTS_PROCESSES:
        return []
    status = stage.asked(person, door)
    is_refused = status in REFUSED and not (may and door.name in IS_EMPTY)
    # The first page leads an annotator to the page of assignments instead of refusing.
    if door.name == "home" and person == "Annotator":
        is_refused = status == 302
    if status >= 500 or is_refused is may:
        return [f"{person}: {door.method} {door.address} ({door.name}) answered {status}"]
    return []
