"""Annotation in Django's admin: everything can be read, nothing that people said can be changed."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.test import Client

from annotation import models
from tests import campaigns
from tests.annotation.clients import Person
from tests.campaigns import marked

pytestmark = pytest.mark.django_db

admin.autodiscover()
TABLES = [model for model in admin.site._registry if model._meta.app_label == "annotation"]


@pytest.fixture
def administrator() -> Client:
    client = Client(headers={"host": settings.SITE_HOST})
    client.force_login(get_user_model().objects.create_superuser("root"))
    return client


def test_every_table_of_annotation_can_be_looked_at(administrator):
    mine = campaigns.taken()
    assert mine.annotator is not None
    Person(mine.annotator, mine).send(marked(mine.annotations.earliest("pk")))

    assert {model.__name__ for model in TABLES} == {name for name in models.__all__ if not name.isupper()}
    for model in TABLES:
        name = model._meta.model_name
        assert administrator.get(f"/admin/annotation/{name}/?q=x").status_code == 200, name
        assert administrator.get(f"/admin/annotation/{name}/").status_code == 200, name


def test_nothing_is_added_changed_or_deleted_by_hand(administrator):
    mine = campaigns.taken(campaigns.opened(webhook_secret="not for eyes"))
    row = mine.annotations.earliest("pk")

    page = administrator.get(f"/admin/annotation/annotation/{row.pk}/change/")
    changed = administrator.post(f"/admin/annotation/annotation/{row.pk}/change/", {"mark": "fail"})
    campaign = administrator.get(f"/admin/annotation/campaign/{mine.campaign_id}/change/")

    assert b'name="_save"' not in page.content
    assert changed.status_code == 403
    assert administrator.get("/admin/annotation/revision/add/").status_code == 403
    assert administrator.post(f"/admin/annotation/annotation/{row.pk}/delete/").status_code == 403
    assert b"not for eyes" not in campaign.content


def test_an_administrator_who_marks_blind_finds_no_row_of_that_campaign(administrator):
    boss = get_user_model().objects.get(username="root")
    campaign = campaigns.opened(annotators=[boss, campaigns.person("peer")], overlap=2)
    campaigns.taken(campaign, by=boss)
    theirs = campaigns.taken(campaign, by=campaign.annotators.get(username="peer"))
    said = theirs.annotations.earliest("pk")
    assert theirs.annotator is not None
    Person(theirs.annotator, theirs).send(marked(said, base=0))
    rows = {"campaign": campaign.pk, "item": said.item_id, "assignment": theirs.pk, "annotation": said.pk}
    rows["revision"] = said.revisions.get().pk

    for name, pk in rows.items():
        page = administrator.get(f"/admin/annotation/{name}/{pk}/change/")
        assert page.status_code == 302, name
        listed = administrator.get(f"/admin/annotation/{name}/")
        assert f"/admin/annotation/{name}/{pk}/change/".encode() not in listed.content, name
    # Somebody who marks nothing sees all of it.
    campaign.annotators.remove(boss)
    campaign.assignments.filter(annotator=boss).update(state="submitted")
    assert administrator.get(f"/admin/annotation/item/{said.item_id}/change/").status_code == 200
