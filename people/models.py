"""Tables of people: what each prefers, their tokens, and the log of what was done."""

from __future__ import annotations

from typing import Any

from django.db import models


class Preferences(models.Model):
    """What one person has set for all of the site."""

    user = models.OneToOneField("auth.User", on_delete=models.CASCADE, related_name="preferences")
    keys = models.JSONField(
        default=dict,
        blank=True,
        help_text="Key by the name of what it does; only what differs from the default.",
    )
    uses_keys = models.BooleanField(default=True, help_text="Whether single keys do anything (WCAG 2.1.4).")

    class Meta:
        verbose_name_plural = "preferences"

    def __str__(self) -> str:
        return f"Preferences of {self.user_id}"


class ApiToken(models.Model):
    """What a program signs in with in a person's name; the token itself is nowhere, only its digest."""

    user = models.ForeignKey("auth.User", on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80, help_text="What the person calls it.")
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the token, in hexadecimal.")
    hint = models.CharField(max_length=12, help_text="How the token begins, to tell it from others.")
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True, help_text="To the minute.")
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name = "API token"

    def __str__(self) -> str:
        return f"{self.name} ({self.hint}…)"


class AuditEntry(models.Model):
    """One act that somebody may have to answer for: it is added, never changed, never removed."""

    at = models.DateTimeField(auto_now_add=True, db_index=True)
    # When the account goes, its number stays: to empty it would change an entry.
    user = models.ForeignKey(
        "auth.User",
        null=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="+",
        help_text="Empty: the site itself, or somebody who was not signed in.",
    )
    username = models.CharField(max_length=150, blank=True, help_text="Stays when the account goes.")
    act = models.CharField(max_length=40, db_index=True)
    subject = models.CharField(
        max_length=80, db_index=True, help_text="What it was done to: campaign:3, run:12."
    )
    details = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return f"{self.act} {self.subject}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Add the entry; raises TypeError for one that exists."""
        if not self._state.adding:
            raise TypeError("An audit entry is never changed.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """Refuse: raises TypeError."""
        raise TypeError("An audit entry is never removed.")
