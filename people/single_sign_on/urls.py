"""Addresses of single sign-on: the way out to the provider, and the way back."""

from django.urls import path

from people.single_sign_on import views

urlpatterns = [
    path("oidc/", views.start, name="single_sign_on"),
    # The library looks its address up under this name.
    path("<slug:provider_id>/callback/", views.back, name="openid_connect_callback"),
]
