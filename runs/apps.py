"""Django's entry to the runs package."""

from django.apps import AppConfig


class RunsConfig(AppConfig):
    """What happened."""

    name = "runs"
    default_auto_field = "django.db.models.BigAutoField"
