"""A site with a blind campaign at work, in which everything that is to be hidden has an unmistakable name."""

from __future__ import annotations

import io
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.apps import apps
from django.contrib.auth.models import User
from django.db.models import Case, Value, When
from django.utils import timezone
from PIL import Image

from annotation import opening, pictures, submitting
from annotation.exporting import ExportKind
from annotation.models import Adjudication, Annotation, Assignment, Campaign, Comment, Item
from annotation.vocabulary import Centre, PictureSource
from benchmark import blobs
from benchmark.models import Benchmark, Criterion, RecordedWorkspace, Task, TaskFile
from benchmark.rules.vocabulary import Mark
from people import tokens
from people.models import ApiToken
from people.roles import SiteRole
from people.tokens import TokenScope
from runs.models import (
    Deployment,
    Evidence,
    MetricValue,
    Round,
    Run,
    RunEvent,
    TrajectoryEvent,
    Trial,
    Verdict,
)
from runs.ports import DeploymentKind, EventKind
from tests import campaigns
from tests.annotation.walking import Walk

AGENT = "AGENT-XYZZY"
RATIONALE = "RATIONALE-XYZZY"
PEER = "PEER-XYZZY"
HIDDEN = (AGENT, RATIONALE, PEER)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """People and rows of the site."""

    blind: Campaign
    run: Run
    other_run: Run
    annotator: User
    mixed: User
    boss: User
    peer: User
    outside: User

    def own(self, person: User) -> Assignment:
        """The set of a person in the blind campaign."""
        return Assignment.objects.get(campaign=self.blind, annotator=person)


def made(*, centre: Centre = Centre.EVIDENCE) -> World:
    """Four people mark the same run blind, one of them has said something; a fifth leads from outside."""
    outside = campaigns.lead("outside")
    mixed = campaigns.person("mixed", SiteRole.LEAD)
    boss = campaigns.person("boss", SiteRole.ANNOTATOR, is_staff=True, is_superuser=True)
    annotator, peer = campaigns.person("annotator"), campaigns.person("peer")
    people = [annotator, mixed, boss, peer]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "index.html").write_text("<h1>An application</h1>")
        run = campaigns.run(
            campaigns.benchmark(tasks=1, criteria=2),
            agent=AGENT,
            rounds=[campaigns.MIXED],
            workspace=Path(folder),
        )
    other_run = campaigns.run(campaigns.benchmark(tasks=1, criteria=1), agent="AGENT-SHOWN")
    name_everything(run)
    closed = campaigns.planned(
        run, annotators=[peer, outside], overlap=2, name="Earlier study", is_blind=False
    )
    _say(closed, peer)
    opening.close_campaign(closed, by=outside)
    blind = campaigns.planned(run, annotators=people, overlap=4, name="Blind study", centre=centre)
    campaigns.campaign(run, name="A draft")
    _say(blind, peer)
    item = Item.objects.filter(campaign=blind).order_by("pk")[0]
    Adjudication.objects.create(item=item, number=1, by=outside, mark=Mark.PASS, note=f"{PEER} settles it")
    Comment.objects.create(campaign=blind, item=item, author=outside, text=f"{PEER} among leads")
    tokens.make(peer, name=PEER, scopes=[TokenScope.READ], days=7, now=timezone.now())
    tokens.make(annotator, name="my own", scopes=[TokenScope.READ], days=7, now=timezone.now())
    return World(
        blind=blind,
        run=run,
        other_run=other_run,
        annotator=annotator,
        mixed=mixed,
        boss=boss,
        peer=peer,
        outside=outside,
    )


def walk() -> Walk:
    """How to fill every parameter from what is there; hidden and shown things both."""

    def ids(rows: Any, most: int = 6) -> list[int]:
        return list(rows.objects.order_by("pk").values_list("pk", flat=True)[:most])

    return Walk(
        fillers={
            "annotation_id": [
                min(pks) for pks in _grouped(Annotation.objects.values_list("assignment_id", "pk")).values()
            ],
            "assignment_id": ids(Assignment, 8),
            "benchmark_id": ids(Benchmark),
            "campaign_id": ids(Campaign),
            "comment_id": ids(Comment),
            "deployment_id": ids(Deployment),
            "evidence_id": [ids(Evidence)[0], Evidence.objects.latest("pk").pk],
            "file_id": ids(TaskFile, 2),
            "host_key": ["p-nowhere"],
            "identity_id": [1],
            "item_id": [pks[0] for pks in _grouped(Item.objects.values_list("campaign_id", "pk")).values()],
            "key": sorted(set(Task.objects.values_list("key", flat=True)))[:2],
            "kind": [kind.value for kind in ExportKind],
            "file": ["agreement", "forest"],
            "extension": ["json", "svg"],
            "number": [1],
            "picture_id": ids(apps.get_model("annotation", "Picture")),
            "run_id": ids(Run),
            "token_id": ids(ApiToken),
            "trial_id": ids(Trial),
            "which": ["build", "server"],
        },
        admin_rows={
            f"{model._meta.app_label}/{model._meta.model_name}": ids(model, 2) for model in apps.get_models()
        },
        queries=_queries(),
        bodies={
            "runs:launch": [
                {"benchmark": pk, "of": pk, "agent": "replay", "agent.candidate": "nobody", "repeats": 1}
                for pk in Run.objects.values_list("benchmark_id", flat=True)
            ],
            "POST /api/v1/runs": [
                {"benchmark": str(pk), "agent_settings": {"candidate": "nobody"}}
                for pk in Run.objects.values_list("benchmark_id", flat=True)
            ],
            "POST /api/v1/assignments/{assignment_id}/operations": [{"operations": [{}]}],
        },
        never_posted=frozenset(
            {
                # Signing out ends the walk.
                "sign_out",
                # These start processes; what a preview shows is the candidate's own, under another host.
                "runs:preview_start",
                "annotation:preview_start",
                "annotation:preview_reset",
            }
        ),
    )


def turn_marks_round(world: World) -> None:
    """Let the judge and the peer have said the opposite of everything."""
    opposite = Case(When(mark=Mark.PASS, then=Value(Mark.FAIL)), default=Value(Mark.PASS))
    Verdict.objects.filter(judging__round__trial__run=world.run).update(mark=opposite)
    Annotation.objects.filter(assignment__annotator=world.peer).update(mark=opposite)
    Item.objects.update(
        judge_mark=Case(When(judge_mark=Mark.PASS, then=Value(Mark.FAIL)), default=Value(Mark.PASS))
    )


def name_everything(run: Run) -> None:
    """Write the names into every text of a run that a page could show."""
    Run.objects.filter(pk=run.pk).update(
        name=f"{AGENT} at work",
        code_agent="replay",
        code_agent_label=AGENT,
        code_agent_settings={"candidate": AGENT, "command": f"{AGENT} --yes"},
        judge=f"{RATIONALE}-judge",
    )
    run.refresh_from_db()
    log = blobs.save_bytes(f"{AGENT} built this".encode())
    Verdict.objects.filter(judging__round__trial__run=run).update(
        rationale=RATIONALE, raw=RATIONALE, reason=RATIONALE[:60]
    )
    Evidence.objects.filter(verdict__judging__round__trial__run=run).update(name=f"{AGENT}.png")
    Round.objects.filter(trial__run=run).update(
        request=f"{RATIONALE} is to be mended", feedback=RATIONALE, exit_detail=AGENT
    )
    Trial.objects.filter(run=run).update(trouble=AGENT)
    MetricValue.objects.filter(run=run, value=None).update(reason=RATIONALE)
    for round_ in Round.objects.filter(trial__run=run):
        Deployment.objects.create(
            round=round_,
            kind=DeploymentKind.STATIC,
            is_healthy=False,
            reason=AGENT,
            build_log=log,
            server_log=log,
        )
        TrajectoryEvent.objects.create(
            round=round_, position=0, at=timezone.now(), kind=EventKind.MESSAGE, text=f"{AGENT} says hello"
        )
    RunEvent.objects.create(run=run, kind="run", text=f"{AGENT}: {RATIONALE}")
    task = Task.objects.get(trials__run=run)
    RecordedWorkspace.objects.create(task=task, candidate=AGENT, round_number=1, snapshot="0" * 64)
    TaskFile.objects.create(
        task=task, role="data", path="data/a.txt", digest=blobs.save_bytes(b"plain"), size=5
    )


def _queries() -> dict[str, list[str]]:
    criterion = Criterion.objects.order_by("pk")[0].key
    runs = [str(pk) for pk in Run.objects.order_by("pk").values_list("pk", flat=True)]
    by_runs = [f"?runs={pk}" for pk in runs] + [f"?runs={','.join(runs)}"]
    return {
        "runs:runs": ["?q=XYZZ", "?q=run+1", *(f"?q={pk}" for pk in runs), "?state=finished"],
        "runs:run": ["?part=summary", "?part=events&after=0", "?cell=time"],
        "runs:trial": [
            *(
                f"?view={view}&round=1"
                for view in ("rounds", "compare", "code", "transcript", "graph", "preview")
            ),
            f"?criterion={criterion}&part=panel",
        ],
        "runs:launch": [f"?benchmark={run.benchmark_id}&agent=replay" for run in Run.objects.all()],
        "runs:results": [
            *by_runs,
            *(f"?benchmark={run.benchmark_id}" for run in Run.objects.all()),
            *(f"{query}&format={kind}" for query in by_runs for kind in ("csv", "latex", "json", "html")),
            *(f"?benchmark={run.benchmark_id}&format=csv" for run in Run.objects.all()),
        ],
        "annotation:agreement": ["?partial=three", "?by=project&show=all", "?people=fail&said=pass"],
        "annotation:disagreements": ["?between=judge", "?settled=any", "?between=judge&settled=any"],
        "annotation:new_campaign": [f"?runs={pk}&run={pk}" for pk in runs],
        "api-1:runs": ["?limit=200", "?state=finished"],
    }


def _grouped(pairs: Any) -> dict[int, list[int]]:
    groups: dict[int, list[int]] = {}
    for group, pk in pairs.order_by("pk"):
        groups.setdefault(group, []).append(pk)
    return groups


def _say(campaign: Campaign, peer: User) -> None:
    """One person marks, writes, shows and hands in."""
    own = Assignment.objects.get(campaign=campaign, annotator=peer)
    now = timezone.now()
    for annotation in Annotation.objects.filter(assignment=own).select_related("assignment"):
        pictures.add_picture(
            annotation,
            operation=uuid4(),
            source=PictureSource.UPLOAD,
            content=_picture(),
            by=peer,
            now=now,
        )
        Comment.objects.create(
            campaign=campaign, item=annotation.item, assignment=own, author=peer, text=f"{PEER} asks"
        )
    Annotation.objects.filter(assignment=own).update(mark=Mark.FAIL, note=f"{PEER} saw it", saved_at=now)
    submitting.submit(own, by=peer)


def _picture() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (8, 8), "teal").save(out, "PNG")
    return out.getvalue()
