"""Addresses of what a person sets for the whole site, and of its log."""

from django.urls import path

from people import account_views, audit_views, signing, views

app_name = "people"
urlpatterns = [
    path("account/", account_views.account, name="account"),
    path("account/password/", signing.password, name="password"),
    path("account/tokens/<int:token_id>/revoke/", account_views.revoke_token, name="revoke_token"),
    path(
        "account/identities/<int:identity_id>/unlink/", account_views.unlink_identity, name="unlink_identity"
    ),
    path("keys/", views.keys, name="keys"),
    path("log/", audit_views.log, name="log"),
    path("log/export/", audit_views.export, name="log_export"),
]
