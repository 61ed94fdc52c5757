"""A whole site in one file: its tables and the bytes they refer to, made while it works, put back as it was."""

from runs.backups.archive import BadArchive
from runs.backups.checking import Checked, check
from runs.backups.making import Made, make
from runs.backups.restoring import NotEmpty, Restored, restore

__all__ = ["BadArchive", "Checked", "Made", "NotEmpty", "Restored", "check", "make", "restore"]
