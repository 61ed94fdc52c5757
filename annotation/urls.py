"""Addresses of annotation."""

from django.urls import path

from annotation.views import reveal

app_name = "annotation"
urlpatterns = [
    path("annotation/<int:assignment_id>/reveal/", reveal.reveal, name="reveal"),
]
