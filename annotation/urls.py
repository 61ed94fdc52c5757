"""Addresses of annotation."""

from django.urls import path

from annotation.views import console

app_name = "annotation"
urlpatterns = [
    path("annotation/<int:assignment_id>/", console.console, name="console"),
]
