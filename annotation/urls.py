"""Addresses of annotation."""

from django.urls import path

from annotation.views import console, evidence, exports, files, pictures, preview, reveal

app_name = "annotation"
_SET = "annotation/<int:assignment_id>/"
urlpatterns = [
    path(_SET, console.console, name="console"),
    path(f"{_SET}evidence/<int:annotation_id>/", evidence.evidence, name="evidence"),
    path(f"{_SET}evidence/<int:annotation_id>/<int:number>/", evidence.piece, name="evidence_piece"),
    path(f"{_SET}export/<slug:kind>/", exports.export_assignment, name="export_assignment"),
    path(f"{_SET}files/", files.files, name="files"),
    path(f"{_SET}files/<int:number>/", files.file, name="file"),
    path(f"{_SET}preview/", preview.state, name="preview"),
    path(f"{_SET}preview/logs/", preview.logs, name="preview_logs"),
    path(f"{_SET}preview/reset/", preview.reset, name="preview_reset"),
    path(f"{_SET}preview/start/", preview.start, name="preview_start"),
    path(f"{_SET}preview/stop/", preview.stop, name="preview_stop"),
    path(f"{_SET}reveal/", reveal.reveal, name="reveal"),
    path("annotation/pictures/<int:picture_id>/", pictures.picture, name="picture"),
    path("campaigns/<int:campaign_id>/export/<slug:kind>/", exports.export_campaign, name="export_campaign"),
]
