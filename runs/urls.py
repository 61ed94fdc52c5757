"""Addresses of what happened."""

from django.urls import path

from runs.views import evidence, launch, lists, preview, results, run, trial

app_name = "runs"
_TRIAL = "runs/<int:run_id>/trials/<int:trial_id>/"
_PREVIEW = f"{_TRIAL}rounds/<int:number>/preview/"
urlpatterns = [
    path("runs/", lists.runs, name="runs"),
    path("runs/launch/", launch.launch, name="launch"),
    path("runs/<int:run_id>/", run.run, name="run"),
    path("runs/<int:run_id>/cancel/", run.cancel, name="cancel"),
    path("runs/<int:run_id>/retry/", run.retry, name="retry"),
    path(_TRIAL, trial.trial, name="trial"),
    path(f"{_PREVIEW}start/", preview.start, name="preview_start"),
    path(f"{_PREVIEW}<slug:host_key>/stop/", preview.stop, name="preview_stop"),
    path("runs/evidence/<int:evidence_id>/", evidence.evidence, name="evidence"),
    path("runs/logs/<int:deployment_id>/<slug:which>/", evidence.deployment_log, name="deployment_log"),
    path("results/", results.show, name="results"),
]
