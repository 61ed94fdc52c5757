"""The application `annotation`."""

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    """Ask people whether the judge was right."""

    name = "annotation"
    verbose_name = "Annotation"

    def ready(self) -> None:
        """Tell the layers below which runs an open blind set hides."""
        # Models can be imported from here on only.
        from annotation.blindness import hide_runs_of_blind_campaigns

        hide_runs_of_blind_campaigns()
