"""The application `annotation`."""

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    """Ask people whether the judge was right."""

    name = "annotation"
    verbose_name = "Annotation"
