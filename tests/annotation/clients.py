"""A person's session at the interface of annotation, in the test's own process."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.test import Client

from annotation.models import Assignment

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class Person:
    """Somebody who is signed in and works on one set, or looks at it."""

    def __init__(self, user: User, assignment: Assignment) -> None:
        self.user = user
        self.base = f"/api/v1/assignments/{assignment.pk}"
        self.client = Client(headers={"host": settings.SITE_HOST})
        self.client.force_login(user)

    def get(self, path: str = "", status: int = 200) -> Any:
        answer = self.client.get(self.base + path)
        assert answer.status_code == status, (answer.status_code, answer.content[:500])
        return answer.json() if answer["Content-Type"].startswith("application/json") else answer.content

    def post(self, path: str, body: Any = None, *, status: int = 200) -> Any:
        sent = body if isinstance(body, bytes) else json.dumps({} if body is None else body)
        answer = self.client.post(self.base + path, data=sent, content_type="application/json")
        assert answer.status_code == status, (answer.status_code, answer.content[:500])
        return answer.json() if answer["Content-Type"].startswith("application/json") else answer.content

    def send(self, *operations: Any) -> list[Any]:
        """Save operations and return what became of each."""
        results: list[Any] = self.post("/operations", {"operations": list(operations)})["results"]
        return results

    def statuses(self, *operations: Any) -> list[str]:
        return [result["status"] for result in self.send(*operations)]
