"""Ask every door of the site as every kind of person, about things that are somebody else's."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client

from annotation.models import Annotation, Comment, Item, Picture
from benchmark.models import TaskFile
from people.models import ApiToken
from people.roles import SiteRole
from runs.models import Deployment, Evidence
from tests import campaigns
from tests.annotation import blind_world
from tests.annotation.blind_world import World
from tests.annotation.walking import Place, Walk, operations, places

ANONYMOUS, BLIND_LEAD = "Nobody", "Blind lead"
BODIES: Mapping[str, Mapping[str, Any]] = {
    "POST /api/v1/assignments/{assignment_id}/operations": {"operations": [{}]},
}
"""What an operation needs to be sent so that it asks who is there before it says what is wrong."""
PERSONS = (ANONYMOUS, "Annotator", "Reader", "Lead", "Administrator", BLIND_LEAD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """An address with the method that it is for, and the name under which the table knows it."""

    name: str
    method: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A site with a blind campaign, and a client for each kind of person."""

    world: World
    clients: Mapping[str, Client]
    walk: Walk
    bare: list[str] = field(default_factory=list)
    """Answers that came without what every answer carries, each with what it lacks."""

    def doors(self) -> Iterator[Door]:
        """Every pattern and every operation, once."""
        for place in places():
            if not place.route.startswith("api/v1/") or place.name in (
                "api-1:openapi-json",
                "api-1:openapi-view",
            ):
                yield Door(name=_name(place), method="", address=self.walk.addresses(place)[0])
        for method, route in operations():
            place = Place(route=re.sub(r"\{(?:\w+:)?(\w+)\}", r"<\1>", route).removeprefix("/"), name=route)
            yield Door(name=f"{method} {route}", method=method, address=self.walk.addresses(place)[0])

    def asked(self, person: str, door: Door) -> int:
        """The status of the answer; 0 where it leads to the sign-in page. Nothing of it stays."""
        client = self.clients[person]
        with transaction.atomic():
            answer = _sent(client, door)
            transaction.set_rollback(True)
        self.bare.extend(f"{door.address} for {person}: {lack}" for lack in _lacks(answer))
        if answer.status_code == 302 and re.match(r"/sign-in/|/admin/login/", answer["Location"]):
            return 0
        return int(answer.status_code)


def staged() -> Stage:
    """Objects of the blind campaign's peer, of which each person but leads and administrators may see none."""
    world = blind_world.made()
    elsewhere = campaigns.person("an annotator of another set")
    campaigns.planned(world.other_run, annotators=[elsewhere], is_blind=False)
    reader = campaigns.person("a reader", SiteRole.READER)
    administrator = User.objects.create_superuser("an administrator")
    # With one the page of the password is there; set before anybody signs in, because it ends sessions.
    User.objects.update(password=make_password(campaigns.PASSWORD))
    people = {
        "Annotator": elsewhere,
        "Reader": reader,
        "Lead": world.outside,
        "Administrator": administrator,
        BLIND_LEAD: world.mixed,
    }
    for person in people.values():
        person.refresh_from_db()
    clients = {ANONYMOUS: _client(None)} | {name: _client(person) for name, person in people.items()}
    return Stage(world=world, clients=clients, walk=_walk(world))


def _walk(world: World) -> Walk:
    theirs = world.own(world.peer)
    annotation = Annotation.objects.filter(assignment=theirs).order_by("pk")[0]
    token = ApiToken.objects.create(
        user=world.peer, name="x", digest="0" * 64, expires_at="2100-01-01T00:00:00Z"
    )
    run, of = world.run, world.run.trials.get()
    evidence = Evidence.objects.filter(verdict__judging__round__trial=of).order_by("pk")[0]
    one: dict[str, Any] = {
        "annotation_id": annotation.pk,
        "assignment_id": theirs.pk,
        "benchmark_id": run.benchmark_id,
        "campaign_id": world.blind.pk,
        "comment_id": Comment.objects.filter(campaign=world.blind, parent=None).order_by("pk")[0].pk,
        "deployment_id": Deployment.objects.get(round__trial=of).pk,
        "evidence_id": evidence.pk,
        "extension": "json",
        "file": "agreement",
        "file_id": TaskFile.objects.get(task=of.task).pk,
        "host_key": "p-nowhere",
        "identity_id": 1,
        "item_id": Item.objects.filter(campaign=world.blind).order_by("pk")[0].pk,
        "key": of.task.key,
        "kind": "csv",
        "number": 1,
        "picture_id": Picture.objects.filter(annotation=annotation).order_by("pk")[0].pk,
        "run_id": run.pk,
        "token_id": token.pk,
        "trial_id": of.pk,
        "which": "build",
    }
    rows = {
        f"{model._meta.app_label}/{model._meta.model_name}": list(
            model._default_manager.values_list("pk", flat=True)[:1]
        )
        for model in apps.get_models()
    }
    return Walk(fillers={name: [value] for name, value in one.items()}, admin_rows=rows)


def _lacks(answer: Any) -> Iterator[str]:
    policy = answer.get("Content-Security-Policy", "")
    if answer.get("Content-Type", "").startswith("text/html"):
        if "default-src 'none'" not in policy or "unsafe" in policy:
            yield f"the policy {policy!r}"
        if "nonce" in answer.getvalue().decode() and "'nonce-" not in policy:
            yield "the nonce"
    for name in (
        "X-Content-Type-Options",
        "Cross-Origin-Resource-Policy",
        "Referrer-Policy",
        "X-Frame-Options",
    ):
        if not answer.has_header(name):
            yield name
    for cookie in answer.cookies.values():
        if not (
            cookie.key.startswith("__Host-")
            and cookie["secure"]
            and cookie["path"] == "/"
            and not cookie["domain"]
        ):
            yield f"the cookie {cookie.key}"


def _client(person: User | None) -> Client:
    client = Client(headers={"host": settings.SITE_HOST})
    if person is not None:
        client.force_login(person)
    return client


def _sent(client: Client, door: Door) -> Any:
    if door.method and door.method != "GET":
        return client.generic(
            door.method, door.address, json.dumps(BODIES.get(door.name, {})), content_type="application/json"
        )
    answer = client.get(door.address)
    return client.post(door.address) if answer.status_code == 405 else answer


def _name(place: Place) -> str:
    own = {"admin/logout/": "sign_out", "admin/password_change/": "admin_password"}
    if place.route in own:
        return own[place.route]
    return "admin" if place.route.startswith("admin/") else place.name or place.route
