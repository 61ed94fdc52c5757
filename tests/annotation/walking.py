"""Walk the whole site as one person: every address that exists, every operation of the API."""

from __future__ import annotations

import io
import itertools
import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from proofroom.api import api

MOST_OF_ONE = 400
"""Addresses tried of one pattern; more would mean that a filler holds more values than it needs."""

_PARAMETER = re.compile(r"<(?:(?P<kind>\w+):)?(?P<name>\w+)>")
_PASSING = re.compile(
    r"""nonce(?:-|=")[\w+/=-]+|"csrf(?:middlewaretoken|-token)" (?:value|content)="\w+"|data-csrf-token="\w+"|X-Request-Id:.*|Expires:.*"""
    r"""|Set-Cookie:.*|<code>[0-9a-f]{12}</code>|\d\d:\d\d(?::\d\d(?:\.\d+)?)?|\d+(?:\.\d+)? (?:s|min|seconds?|minutes?)\b"""
)
_GROUP = re.compile(r"\(\?P<(\w+)>((?:[^()]|\([^()]*\))*)\)")


class CannotFill(LookupError):
    """Raised for an address whose parameters this walk knows no value for: name some in its fillers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """One answer, with everything in it that a person could read."""

    method: str
    address: str
    status: int
    text: str

    def __str__(self) -> str:
        return f"{self.method} {self.address} ({self.status})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One pattern of the site's addresses."""

    route: str
    name: str

    @property
    def parameters(self) -> list[str]:
        found = [match["name"] for match in _PARAMETER.finditer(self.route)]
        return found + [match[1] for match in _GROUP.finditer(self.route)]

    def filled(self, values: Mapping[str, Any]) -> str:
        path = _PARAMETER.sub(lambda match: str(values[match["name"]]), self.route)
        path = _GROUP.sub(lambda match: str(values[match[1]]), path)
        return "/" + re.sub(r"[\^$]|\\Z|\\", "", path)


@dataclass(slots=True, kw_only=True)
class Walk:
    """The fillers (parameter → values), what is asked besides, and what must not be done."""

    fillers: Mapping[str, Sequence[Any]]
    admin_rows: Mapping[str, Sequence[Any]]
    queries: Mapping[str, Sequence[str]] = field(default_factory=dict)
    bodies: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    never_posted: frozenset[str] = frozenset()

    def reads(self, user: User) -> list[Heard]:
        """Everything that this person reads outside the admin; without what differs from one time to the next."""
        client = Client(headers={"host": settings.SITE_HOST}, raise_request_exception=False)
        client.force_login(user)
        heard = []
        for place in places():
            if not place.route.startswith("admin/"):
                for address in self.addresses(place):
                    heard += [
                        _asked(client, "GET", address + query)
                        for query in ("", *self.queries.get(place.name, ()))
                    ]
        return [replace(answer, text=_PASSING.sub("", answer.text)) for answer in heard]

    def as_person(self, user: User, *, below: tuple[str, ...] = ("",)) -> list[Heard]:
        """Everything that this person is answered, at addresses that begin as one of `below` does."""
        client = Client(headers={"host": settings.SITE_HOST}, raise_request_exception=False)
        client.force_login(user)
        heard = []
        for place in places():
            if not place.route.startswith(below):
                continue
            addresses = self.addresses(place)
            for address in addresses:
                heard.append(_asked(client, "GET", address))
                heard += [
                    _asked(client, "GET", address + query) for query in self.queries.get(place.name, ())
                ]
            if place.name not in self.never_posted and not place.route.startswith("api/"):
                bodies = [{}, *self.bodies.get(place.name, ())]
                heard += [
                    _asked(client, "POST", address, form=body) for address in addresses for body in bodies
                ]
        for method, route in operations():
            name = f"{method} {route}"
            if method != "GET" and name not in self.never_posted:
                for address in self.addresses(Place(route=_as_route(route), name=name)):
                    bodies = [{}, *self.bodies.get(name, ())]
                    heard += [_asked(client, method, address, data=body) for body in bodies]
        return heard

    def addresses(self, place: Place) -> list[str]:
        """Every address of a pattern with the values known; raises CannotFill."""
        values = [self._values(place, parameter) for parameter in place.parameters]
        combined = list(itertools.islice(itertools.product(*values), MOST_OF_ONE + 1))
        if len(combined) > MOST_OF_ONE:
            raise CannotFill(f"{place.route} has more than {MOST_OF_ONE} addresses; give it fewer values.")
        return [place.filled(dict(zip(place.parameters, one, strict=True))) for one in combined]

    def _values(self, place: Place, parameter: str) -> Sequence[Any]:
        if place.route.startswith("admin/"):
            app_and_model = "/".join(place.route.split("/")[1:3])
            if parameter in ("object_id", "id"):
                return self.admin_rows.get(app_and_model, ()) or [0]
            if parameter == "url":
                return ["nowhere/"]
            if parameter == "app_label":
                return re.findall(r"\w+", _GROUP.search(place.route)[2])  # type: ignore[index]
            if parameter == "content_type_id":
                return [1]
        if parameter not in self.fillers or not self.fillers[parameter]:
            raise CannotFill(f"Nothing fills {parameter!r} of {place.route!r} ({place.name}); add values.")
        return self.fillers[parameter]


def places() -> Iterator[Place]:
    """Every pattern of the site, once an address."""
    yield from {place.route: place for place in _below(get_resolver(), "", ())}.values()


def operations() -> Iterator[tuple[str, str]]:
    """Every operation of the API by its description: method and path."""
    for route, methods in api.get_openapi_schema()["paths"].items():
        for method in methods:
            yield method.upper(), route


def _below(resolver: URLResolver, before: str, spaces: tuple[str, ...]) -> Iterator[Place]:
    for found in resolver.url_patterns:
        route = before + str(found.pattern)
        if isinstance(found, URLResolver):
            yield from _below(found, route, (*spaces, *([found.namespace] if found.namespace else [])))
        else:
            assert isinstance(found, URLPattern)
            yield Place(route=route, name=":".join([*spaces, found.name or ""]))


def _as_route(path: str) -> str:
    return re.sub(r"\{(?:\w+:)?(\w+)\}", r"<\1>", path).removeprefix("/")


def _asked(
    client: Client, method: str, address: str, *, data: Any = None, form: Mapping[str, Any] | None = None
) -> Heard:
    # Whatever a request changes is taken back, so that the next one meets the same site.
    with transaction.atomic():
        if form is not None:
            answer = client.post(address, form)
        elif data is not None:
            answer = client.generic(method, address, json.dumps(data), content_type="application/json")
        else:
            answer = client.get(address)
        heads = [f"{name}: {value}" for name, value in answer.items()] + [answer.cookies.output()]
        text = "\n".join([*heads, _body(answer)])
        transaction.set_rollback(True)
    return Heard(method=method, address=address, status=answer.status_code, text=text)


def _body(answer: Any) -> str:
    content = answer.getvalue()
    if not content.startswith(b"PK"):
        return str(content.decode(errors="replace"))
    parts = []
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        for name in packed.namelist():
            parts += [name, packed.read(name).decode(errors="replace")]
    return "\n".join(parts)
