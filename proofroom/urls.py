"""Every address of the site."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from annotation.views.home import home
from proofroom.api import api
from runs.views.signing import sign_in, sign_out

admin.autodiscover()  # here and not at every start: commands show no tables

urlpatterns = [
    path("", home, name="home"),
    path("sign-in/", sign_in, name="sign_in"),
    path("sign-out/", sign_out, name="sign_out"),
    path("benchmarks/", include("benchmark.urls")),
    path("", include("runs.urls")),
    path("", include("annotation.urls")),
    path("", include("people.urls")),
    path("api/v1/", api.urls),
    path("admin/", admin.site.urls),
]

handler403 = "runs.views.failures.forbidden"
handler404 = "runs.views.failures.not_found"
handler500 = "runs.views.failures.failed"
