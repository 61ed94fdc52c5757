"""The demo's campaign: there after the run, once, with two people for each trial."""

from __future__ import annotations

import pytest

from annotation import demonstration, queue
from annotation.models import Assignment, Campaign
from people.roles import SiteRole, roles_of
from tests import campaigns

pytestmark = pytest.mark.django_db


def test_two_people_can_begin_on_the_demos_run_and_a_repeat_makes_nothing_new():
    run = campaigns.run()
    people = demonstration.annotators(("one", "two"), password="a long pass phrase")

    first = demonstration.campaign_over(run, people=people, by=None)
    sets = set(Assignment.objects.values_list("pk", flat=True))
    again = demonstration.campaign_over(
        run, people=demonstration.annotators(("one", "two"), password="a long pass phrase"), by=None
    )

    assert again.pk == first.pk
    assert set(Assignment.objects.values_list("pk", flat=True)) == sets
    assert Campaign.objects.count() == 1
    assert [roles_of(person) for person in people] == [{SiteRole.ANNOTATOR}] * 2
    assert {queue.take_next(first, person).round_id for person in people} <= set(
        first.items.values_list("round", flat=True)
    )
