"""Addresses of annotation."""

from django.urls import path

from annotation.views import exports

app_name = "annotation"
urlpatterns = [
    path(
        "annotation/<int:assignment_id>/export/<slug:kind>/",
        exports.export_assignment,
        name="export_assignment",
    ),
    path("campaigns/<int:campaign_id>/export/<slug:kind>/", exports.export_campaign, name="export_campaign"),
]
