"""Addresses of annotation."""

from django.urls import path

from annotation.views import console, reveal

app_name = "annotation"
urlpatterns = [
    path("annotation/<int:assignment_id>/", console.console, name="console"),
    path("annotation/<int:assignment_id>/reveal/", reveal.reveal, name="reveal"),
]
