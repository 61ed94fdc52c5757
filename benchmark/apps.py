"""Django's entry to the benchmark package."""

from django.apps import AppConfig


class BenchmarkConfig(AppConfig):
    """What is measured."""

    name = "benchmark"
    default_auto_field = "django.db.models.BigAutoField"
