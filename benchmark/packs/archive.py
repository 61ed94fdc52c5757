"""Unpack a zip that nobody vouches for: nothing leaves the folder, and nothing grows past its limits."""

from __future__ import annotations

import stat
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmark.packs.names import collisions, is_junk, path_problem
from benchmark.packs.problems import Problems

CHUNK = 1 << 16
ENCRYPTED = 0x1
NAME_IS_UTF8 = 0x800


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much a pack may hold. Counted in what really comes out, whatever the zip's headers say."""

    members: int = 50_000
    file_bytes: int = 256 << 20
    total_bytes: int = 1 << 30
    ratio: int = 200
    ratio_from_bytes: int = 4 << 20


@contextmanager
def unpacked(archive: Path, *, limits: Limits) -> Iterator[Path]:
    """Yield a temporary folder with the files of a zip. Raises ImportRefused with all that is wrong."""
    with tempfile.TemporaryDirectory(prefix="proofroom-pack-") as name:
        _Unpacking(archive=archive, folder=Path(name), limits=limits).unpack()
        yield Path(name)


class _Enough(Exception):
    """A limit was passed: nothing more is unpacked."""


@dataclass(slots=True, kw_only=True)
class _Unpacking:
    archive: Path
    folder: Path
    limits: Limits
    total: int = 0
    problems: Problems = field(default_factory=Problems)

    def unpack(self) -> None:
        try:
            zipped = zipfile.ZipFile(self.archive)
        except (zipfile.BadZipFile, UnicodeDecodeError, EOFError, NotImplementedError, ValueError) as error:
            self.problems.add(self.archive.name, f"not a readable zip ({error}); pack the folder anew.")
        else:
            with zipped:
                self._unpack_members(zipped)
        self.problems.refuse_if_any()

    def _unpack_members(self, zipped: zipfile.ZipFile) -> None:
        if len(zipped.infolist()) > self.limits.members:
            text = f"the zip has {len(zipped.infolist())} members; at most {self.limits.members} are read."
            self.problems.add(self.archive.name, text)
            return
        members = {info: name for info in zipped.infolist() if not is_junk(name := _name_of(info))}
        for info, name in members.items():
            if wrong := _member_problem(info, name):
                self.problems.add(name, wrong)
        self._add_clashes(members)
        self.problems.refuse_if_any()
        try:
            for info, name in members.items():
                self._unpack_member(zipped, info, name)
        except _Enough:
            return

    def _add_clashes(self, members: dict[zipfile.ZipInfo, str]) -> None:
        for name, count in Counter(name.rstrip("/") for name in members.values()).items():
            if count > 1:
                self.problems.add(name, f"the zip holds this name {count} times.")
        files = {name for name in members.values() if not name.endswith("/")}
        for name, other in collisions(name.rstrip("/") for name in members.values()):
            self.problems.add(name, f"the name differs from {other} only in case or accents.")
        for name in members.values():
            for parent in Path(name.rstrip("/")).parents:
                if parent.as_posix() in files:
                    self.problems.add(name, f"{parent.as_posix()} is a file and a folder.")

    def _unpack_member(self, zipped: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> None:
        target = self.folder.joinpath(*name.rstrip("/").split("/"))
        if name.endswith("/"):
            target.mkdir(parents=True, exist_ok=True)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with zipped.open(info) as packed, target.open("wb") as out:
                size = 0
                while chunk := packed.read(CHUNK):
                    size += len(chunk)
                    self.total += len(chunk)
                    self._check(name, size, info.compress_size)
                    out.write(chunk)
        except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
            self.problems.add(name, f"cannot be unpacked ({error}); pack the folder anew.")
            return
        if (info.external_attr >> 16) & stat.S_IXUSR:
            target.chmod(0o755)

    def _check(self, name: str, size: int, packed_size: int) -> None:
        """Raise _Enough when more has come out than a pack may hold."""
        limits = self.limits
        packed_in_all = self.archive.stat().st_size
        grows_much = size > limits.ratio_from_bytes and size > limits.ratio * packed_size
        all_grows_much = self.total > limits.ratio_from_bytes and self.total > limits.ratio * packed_in_all
        if size > limits.file_bytes:
            text = f"the file is larger than {limits.file_bytes >> 20} MiB, the most that one may be."
        elif self.total > limits.total_bytes:
            text = (
                f"the zip unpacks to more than {limits.total_bytes >> 20} MiB, the most that a pack may hold."
            )
        elif grows_much or all_grows_much:
            text = f"unpacks to more than {limits.ratio} times its size, as only a zip bomb does."
        else:
            return
        self.problems.add(name, text)
        raise _Enough


def _name_of(info: zipfile.ZipInfo) -> str:
    """Return a member's name; some tools write UTF-8 without saying so."""
    name = info.orig_filename
    if info.flag_bits & NAME_IS_UTF8 or name.isascii():
        return name
    try:
        return name.encode("cp437").decode()
    except UnicodeError:
        return name


def _member_problem(info: zipfile.ZipInfo, name: str) -> str | None:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if info.flag_bits & ENCRYPTED:
        return "is encrypted; pack the folder without a password."
    if kind == stat.S_IFLNK:
        return "is a link; a pack holds only files and folders."
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "is neither a file nor a folder."
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "is packed in a way that is not read here; use the usual one (deflate)."
    return path_problem(name.rstrip("/") or name)
