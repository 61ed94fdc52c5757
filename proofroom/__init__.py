"""The composition root: settings, addresses, server and commands."""

from proofroom.celery import app as celery_app

__all__ = ["celery_app"]
