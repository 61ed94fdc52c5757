"""A site worth asking: runs, a campaign at work with a picture and a comment, and a session per role."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image

from people.roles import SiteRole
from runs.models import Evidence
from tests import campaigns
from tests.visitors import visitor

ROLES = ("nobody", "annotator", "reader", "lead", "admin")


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A cookie per role, and the numbers that a path may name."""

    cookies: dict[str, str]
    places: dict[str, list[Any]]


def made() -> Site:
    """Rows of every kind that an operation names, and people of every role."""
    annotator = campaigns.person("annotator", SiteRole.ANNOTATOR, password=campaigns.PASSWORD)
    people = {
        "annotator": annotator,
        "reader": campaigns.person("reader", SiteRole.READER),
        "lead": campaigns.lead("lead"),
        "admin": campaigns.person("admin", SiteRole.LEAD, is_staff=True, is_superuser=True),
    }
    run = campaigns.run(rounds=[campaigns.MIXED, {}])
    campaign = campaigns.opened(run, annotators=[annotator])
    assignment = campaigns.taken(campaign, by=annotator)
    clients = {role: visitor(user) for role, user in people.items()}
    annotation = assignment.annotations.earliest("pk")
    base = f"/api/v1/assignments/{assignment.pk}"
    picture = clients["annotator"].post(
        f"{base}/pictures",
        {"annotation": annotation.pk, "key": "one", "file": SimpleUploadedFile("a.png", _png(), "image/png")},
    )
    clients["annotator"].post(
        f"{base}/comments",
        json.dumps({"annotation": annotation.pk, "text": "Why?"}),
        content_type="application/json",
    )
    return Site(
        cookies={
            role: client.cookies[settings.SESSION_COOKIE_NAME].value for role, client in clients.items()
        },
        places={
            "benchmark_id": [run.benchmark_id],
            "key": ["t1"],
            "run_id": [run.pk],
            "evidence_id": [Evidence.objects.earliest("pk").pk],
            "campaign_id": [campaign.pk],
            "assignment_id": [assignment.pk],
            "picture_id": [picture.json()["id"]] if picture.status_code < 300 else [],
            "annotation": [annotation.pk],
        },
    )


def _png() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (4, 4), "red").save(out, "PNG")
    return out.getvalue()
