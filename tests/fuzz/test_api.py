"""The programming interface asked everything that its description allows, and much that it does not."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import schemathesis
from django.conf import settings
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, seed
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance

from proofroom.api import api
from tests.fuzz import api_world

pytestmark = pytest.mark.django_db

MINUTES = float(os.environ.get("PROOFROOM_FUZZ_MINUTES", "0"))
EXAMPLES = 300 if MINUTES else 4
CHECKS = [not_a_server_error, response_schema_conformance, content_type_conformance]
SEED = 20


def _document() -> dict[str, Any]:
    document: dict[str, Any] = api.get_openapi_schema(path_prefix="/api/v1/")
    return document


SCHEMA = schemathesis.openapi.from_dict(_document())
SCHEMA.app = get_wsgi_application()
OPERATIONS = {
    operation.label: operation
    for operation in (result.ok() for result in SCHEMA.get_all_operations() if isinstance(result, Ok))
}


@pytest.fixture
def site() -> Iterator[api_world.Site]:
    made = api_world.made()
    # As Django's own client does: the test's transaction must outlive each of its requests.
    for moment in (request_started, request_finished):
        moment.disconnect(close_old_connections)
    yield made
    for moment in (request_started, request_finished):
        moment.connect(close_old_connections)


def cases(label: str, site: api_world.Site) -> st.SearchStrategy[Any]:
    """Requests to one operation: right and wrong ones, most at a place that exists."""
    operation = OPERATIONS[label]
    either = st.one_of(
        operation.as_strategy(GenerationMode.POSITIVE), operation.as_strategy(GenerationMode.NEGATIVE)
    )

    @st.composite
    def placed(draw: Callable[..., Any]) -> Any:
        case = draw(either)
        for name in case.path_parameters or {}:
            if site.places.get(name) and draw(st.integers(0, 4)):
                case.path_parameters[name] = draw(st.sampled_from(site.places[name]))
        return case

    return placed()


@pytest.mark.parametrize("label", sorted(OPERATIONS))
def test_no_request_of_anybody_meets_an_error_of_ours(site, label):
    """Whatever is asked by whomever, the answer is one that the description allows."""

    @seed(SEED)
    @hypothesis_settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases(label, site), role=st.sampled_from(api_world.ROLES))
    def asked(case: Any, role: str) -> None:
        headers = {"Host": settings.SITE_HOST, "Sec-Fetch-Site": "same-origin"}
        if role in site.cookies:
            headers["Cookie"] = f"{settings.SESSION_COOKIE_NAME}={site.cookies[role]}"
        response = case.call(headers=headers)
        case.validate_response(response, checks=CHECKS)

    asked()
