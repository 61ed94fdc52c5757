"""The set-up form as plain values: every field's sentence, and nothing lost on the way."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from annotation.campaign_checks import BadCampaign, checked
from annotation.campaign_forms import Given, GivenScale
from annotation.vocabulary import MarkSet, SampleMethod
from tests import campaigns

GOOD = Given(name="Study")


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("name", "", "needs a name"),
        ("name", "n" * 201, "at most 200"),
        ("rounds", "1, x", "'x' is not a round"),
        ("rounds", "0", "'0' is not a round"),
        ("method", "some", "'some' is not known here; it takes all, per project or stratified."),
        ("seed", "seven", "takes a whole number"),
        ("seed", "9" * 20, "takes a whole number"),
        ("overlap", "0", "from 1 to 50"),
        ("overlap", "²", "from 1 to 50"),
        ("overlap_share", "0", "above 0"),
        ("overlap_share", "nan", "above 0"),
        ("overlap_unit", "page", "takes trial or outcome"),
        ("distribution", "", "takes queue or planned"),
        ("lease_hours", "1000", "from 1 to 720"),
        ("mark_set", "four", "takes binary, three or scales"),
        ("centre", "radio", "takes live, evidence or files"),
        ("deadline", "tomorrow", "is not a time"),
        ("webhook_url", "ftp://lab.example.org", "is not an address"),
        ("webhook_url", "http://127.0.0.1:9000/marks", "inside a private network"),
        ("webhook_url", "http://[::1]/marks", "inside a private network"),
        ("webhook_url", "http://localhost/marks", "inside a private network"),
        ("webhook_secret", "s" * 65, "at most 64"),
    ],
)
def test_a_bad_value_gets_one_sentence_that_names_it(field, value, words):
    with pytest.raises(BadCampaign) as bad:
        checked(replace(GOOD, **{field: value}))

    assert list(bad.value.problems) == [field]
    assert words in bad.value.problems[field]


def test_every_bad_field_is_named_at_once():
    with pytest.raises(BadCampaign) as bad:
        checked(replace(GOOD, name="", overlap="x", seed="y"))

    assert set(bad.value.problems) == {"name", "overlap", "seed"}


def test_a_size_is_asked_for_only_where_the_method_has_one():
    assert checked(replace(GOOD, sample_size="")).fields["sample_size"] == 0
    with pytest.raises(BadCampaign, match="from 1 to"):
        checked(replace(GOOD, method=SampleMethod.PER_PROJECT, sample_size=""))


def test_a_stratified_sample_needs_a_stratum():
    with pytest.raises(BadCampaign, match="at least one of agent, kind and mark"):
        checked(replace(GOOD, method=SampleMethod.STRATIFIED, strata=()))


def test_scales_get_keys_from_their_titles_and_keep_the_keys_they_have():
    rows = (
        GivenScale(title="API quality", definition="Is it usable?"),
        GivenScale(title="API quality!", definition="Again"),
        GivenScale(title="Look and feel", key="design"),
    )

    scales = checked(replace(GOOD, mark_set=MarkSet.SCALES, scales=rows)).fields["scales"]

    assert [scale["key"] for scale in scales] == ["api_quality", "api_quality_2", "design"]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (GivenScale(definition="Which?"), "needs a title"),
        (GivenScale(title="Design", minimum="100", maximum="0"), "the lower first"),
        (GivenScale(title="Design", minimum="low"), "two numbers"),
    ],
)
def test_a_scale_that_cannot_be_used_is_named(row, words):
    with pytest.raises(BadCampaign, match=words):
        checked(replace(GOOD, mark_set=MarkSet.SCALES, scales=(row,)))


def test_scales_stay_with_a_draft_while_another_mark_set_is_looked_at():
    row = GivenScale(title="Design", definition="How good does it look?")

    fields = checked(replace(GOOD, mark_set=MarkSet.BINARY, scales=(row,))).fields

    assert [scale["title"] for scale in fields["scales"]] == ["Design"]


def test_a_deadline_is_read_in_the_zone_of_the_site(settings):
    settings.TIME_ZONE = "Europe/Lisbon"

    deadline = checked(replace(GOOD, deadline="2027-07-01T18:00")).fields["deadline"]

    assert deadline.astimezone(UTC) == datetime(2027, 7, 1, 17, tzinfo=UTC)


@drawn(st.text(max_size=30))
def test_no_text_in_a_number_field_is_anything_but_a_number_or_a_sentence(text):
    problems: dict[str, str] = {}
    try:
        overlap = checked(replace(GOOD, overlap=text)).fields["overlap"]
    except BadCampaign as bad:
        problems, overlap = bad.problems, None

    assert set(problems) == {"overlap"} if overlap is None else 1 <= overlap <= 50


@pytest.mark.django_db
def test_a_campaign_read_into_a_form_and_checked_is_the_same_campaign():
    campaign = campaigns.campaign(
        annotators=campaigns.people(2),
        tasks=["t1"],
        rounds=[1, 3],
        method=SampleMethod.STRATIFIED,
        sample_size=5,
        strata=["kind", "mark"],
        overlap=2,
        overlap_share=0.25,
        mark_set=MarkSet.SCALES,
        scales=[{"key": "design", "title": "Design", "definition": "x", "minimum": 0.0, "maximum": 10.0}],
        deadline=datetime(2027, 1, 2, 3, 4, tzinfo=UTC),
        webhook_url="https://lab.example.org/marks",
    )

    design = checked(Given.from_campaign(campaign))

    assert {name: getattr(campaign, name) for name in design.fields} == dict(design.fields)
    assert set(design.runs) == set(campaign.runs.values_list("pk", flat=True))
    assert set(design.annotators) == set(campaign.annotators.values_list("pk", flat=True))


def test_a_private_address_is_taken_where_the_site_sends_there(settings):
    settings.WEBHOOKS_TO_PRIVATE = True

    design = checked(Given(name="Study", webhook_url="http://127.0.0.1:9000/marks"))

    assert design.fields["webhook_url"] == "http://127.0.0.1:9000/marks"
