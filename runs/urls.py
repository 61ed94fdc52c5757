"""Addresses of what happened."""

from django.urls import path
from runs.views import home
from runs.views import run

app_name = "runs"
urlpatterns = [
    path("runs/", home.home, name="runs"),
    path("runs/launch/", home.home, name="launch"),
    path("runs/<int:run_id>/", run.run, name="run"),
    path("runs/<int:run_id>/cancel/", run.cancel, name="cancel"),
    path("runs/<int:run_id>/retry/", run.retry, name="retry"),
    path("runs/<int:run_id>/trials/<int:trial_id>/", home.home, name="trial"),
    path("results/", home.home, name="results"),
]
