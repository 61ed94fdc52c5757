"""Every address of the site."""

from __future__ import annotations

from django.conf import settings
from django.contrib import admin
from django.urls import include, path

from annotation.views.home import home
from people.signing import admin_sign_in, sign_in, sign_out
from proofroom.api import api

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
    path("admin/login/", admin_sign_in, name="admin_sign_in"),
    path("admin/", admin.site.urls),
]
if settings.OIDC_ISSUER:
    urlpatterns.append(path("sign-in/", include("people.single_sign_on.urls")))

handler403 = "runs.views.failures.forbidden"
handler404 = "runs.views.failures.not_found"
handler500 = "runs.views.failures.failed"
