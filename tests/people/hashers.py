"""A hasher that counts how often it works."""

from __future__ import annotations

from django.contrib.auth.hashers import MD5PasswordHasher


class Counting(MD5PasswordHasher):
    """Django's quick one, with a count."""

    algorithm = "counting"
    works = 0

    def encode(self, password: str, salt: str) -> str:
        Counting.works += 1
        return super().encode(password, salt)
