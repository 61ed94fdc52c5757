"""The database of the first release that is kept in the fixtures, and what every later one must still say of it."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

from django.core.management import call_command

from annotation.models import Annotation
from runs.models import Run

FOLDER = Path(__file__).parent / "fixtures" / "first_release"
SITE = FOLDER / "site.tar"


def expected() -> Any:
    """Numbers by run and labels, as they were then."""
    return json.loads((FOLDER / "expected.json").read_text())


def seen() -> Any:
    """The same of the site's database now."""
    out = StringIO()
    runs = [str(run.pk) for run in Run.objects.filter(state="finished").order_by("pk")]
    call_command("report", *runs, "--format", "json", stdout=out)
    documents = json.loads(out.getvalue())["runs"]
    labels = Annotation.objects.order_by("pk").values_list(
        "assignment__annotator__username",
        "item__outcome__criterion__key",
        "item__outcome__index",
        "mark",
        "version",
    )
    then = expected()["metrics"]
    return {
        # Later versions may count more; what was counted then stays as it was.
        "metrics": {
            run: {name: document["metrics"][name].get("value") for name in then[run]}
            for run, document in documents.items()
        },
        "labels": [list(label) for label in labels],
    }
