"""The Celery application: a doorbell that tells workers which trial to look at."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "proofroom.settings")

app = Celery("proofroom")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["runs"], related_name="jobs")
