"""Addresses of annotation."""

from django.urls import path

from annotation.views import exports, reveal

app_name = "annotation"
urlpatterns = [
    path(
        "annotation/<int:assignment_id>/export/<slug:kind>/",
        exports.export_assignment,
        name="export_assignment",
    ),
    path("annotation/<int:assignment_id>/reveal/", reveal.reveal, name="reveal"),
    path("campaigns/<int:campaign_id>/export/<slug:kind>/", exports.export_campaign, name="export_campaign"),
]
