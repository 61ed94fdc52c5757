"""The application `people`."""

from django.apps import AppConfig


class PeopleConfig(AppConfig):
    """Who may do what."""

    name = "people"
    verbose_name = "People"
