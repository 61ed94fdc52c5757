"""Addresses of what a person sets for the whole site."""

from django.urls import path

from people import views

app_name = "people"
urlpatterns = [
    path("keys/", views.keys, name="keys"),
]
