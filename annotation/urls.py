"""Addresses of annotation."""

from django.urls import path

from annotation.views import (
    assignments,
    calibration,
    campaigns,
    console,
    disagreements,
    evidence,
    exports,
    files,
    giving,
    pictures,
    preview,
    progress,
    reveal,
    setup,
    states,
    threads,
)

app_name = "annotation"
_SET = "annotation/<int:assignment_id>/"
_CAMPAIGN = "campaigns/<int:campaign_id>/"
urlpatterns = [
    path("annotation/", assignments.assignments, name="assignments"),
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
    path(f"{_SET}take-back/", assignments.take_back, name="take_back"),
    path("annotation/pictures/<int:picture_id>/", pictures.picture, name="picture"),
    path("annotation/take/<int:campaign_id>/", assignments.take, name="take"),
    path("campaigns/", campaigns.campaigns, name="campaigns"),
    path("campaigns/new/", setup.new, name="new_campaign"),
    path(_CAMPAIGN, progress.campaign, name="campaign"),
    path(f"{_CAMPAIGN}calibration/", calibration.calibration, name="calibration"),
    path(f"{_CAMPAIGN}close/", states.close, name="close"),
    path(f"{_CAMPAIGN}comments/", threads.threads, name="threads"),
    path(f"{_CAMPAIGN}comments/<int:comment_id>/", threads.answer, name="answer"),
    path(f"{_CAMPAIGN}disagreements/", disagreements.disagreements, name="disagreements"),
    path(f"{_CAMPAIGN}duplicate/", states.double, name="duplicate"),
    path(f"{_CAMPAIGN}edit/", setup.edit, name="edit"),
    path(f"{_CAMPAIGN}export/<slug:kind>/", exports.export_campaign, name="export_campaign"),
    path(f"{_CAMPAIGN}items/<int:item_id>/adjudicate/", disagreements.adjudicate, name="adjudicate"),
    path(f"{_CAMPAIGN}items/<int:item_id>/comment/", threads.comment, name="comment"),
    path(f"{_CAMPAIGN}open/", states.open_, name="open"),
    path(f"{_CAMPAIGN}problems/<int:annotation_id>/ask-again/", giving.ask_again, name="ask_again"),
    path(f"{_CAMPAIGN}reopen/", states.reopen, name="reopen"),
    path(f"{_CAMPAIGN}sets/<int:assignment_id>/reassign/", giving.reassign, name="reassign"),
    path(f"{_CAMPAIGN}sets/<int:assignment_id>/release/", giving.release, name="release"),
    path(f"{_CAMPAIGN}sets/<int:assignment_id>/reopen/", giving.reopen, name="reopen_set"),
]
